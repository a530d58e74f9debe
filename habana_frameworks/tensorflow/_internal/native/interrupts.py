"""Ctrl-C during a wait for a device server's work, which may never end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

# Time after which a C call counts as stuck. Python runs signal handlers only after the main thread's C call returns.
_PATIENCE_SECONDS = 1.0


def install() -> None:
    """Starts a thread that, on SIGINT, interrupts the wait for the device if the main thread is stuck in a C call.

    Does nothing outside the main thread, if SIGINT is ignored, or if the program handles wake-ups itself
    (signal.set_wakeup_fd, as asyncio does).
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    other = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    if other != -1:
        signal.set_wakeup_fd(other)
        os.close(read_end)
        os.close(write_end)
        return
    threading.Thread(target=_watch, args=(read_end,), name="hpu_interrupts", daemon=True).start()


def _watch(read_end: int) -> None:
    while True:
        signals = os.read(read_end, 64)
        if not signals:
            return
        if signal.SIGINT in signals and _main_thread_is_stuck():
            c_api.function(plugin_library.handle(), "hpu_interrupt")()


def _main_thread_is_stuck() -> bool:
    """Whether the main thread stays at one bytecode instruction for _PATIENCE_SECONDS despite a pending signal."""
    before = _place_of_main_thread()
    time.sleep(_PATIENCE_SECONDS)
    return before is not None and before == _place_of_main_thread()


def _place_of_main_thread() -> tuple[int, int] | None:
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    return None if frame is None else (id(frame), frame.f_lasti)
