"""Ctrl-C while the program waits for a device server's work, which may never end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

# Python handles a signal when the main thread comes back to it from the call that it is in.
_PATIENCE_SECONDS = 1.0


def install() -> None:
    """Lets SIGINT end the waiting of a main thread that is in a call of the device and does not come back.

    Does nothing outside of the main thread, where the program watches its signals itself (signal.set_wakeup_fd, as
    asyncio does), or where SIGINT is ignored. Starts a thread.
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
            call = c_api.function(plugin_library.handle(), "hpu_interrupt")
            call.restype = None
            call()


def _main_thread_is_stuck() -> bool:
    """Whether the main thread stays at one instruction for a while, though a signal waits for it."""
    before = _place_of_main_thread()
    time.sleep(_PATIENCE_SECONDS)
    return before is not None and before == _place_of_main_thread()


def _place_of_main_thread() -> tuple[int, int] | None:
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    return None if frame is None else (id(frame), frame.f_lasti)
