"""Ctrl-C during a wait in the plugin: for a compile, or for a device server's work, which may never end.

Python runs signal handlers only after the main thread's C call returns, which takes as long as the wait. The plugin's
signal handler, which also calls Python's, wakes the thread of this module. The thread ends the wait, the C call fails
with CANCELLED, and Python then runs its handler.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time

from habana_frameworks.tensorflow._internal.native import c_api

# Time after which a C call counts as stuck. Longer for the device's work, because ending its wait loses the device.
_COMPILE_PATIENCE_SECONDS = 0.25
_DEVICE_PATIENCE_SECONDS = 1.0
_POLL_SECONDS = 0.05


def install(plugin: ctypes.CDLL) -> None:
    """Starts a thread that, on SIGINT, ends the plugin's waits while the main thread is stuck in a C call.

    A wait for a compile ends only if Python's own handler, which raises KeyboardInterrupt, is installed. Another
    handler may let the program continue, for example to save a checkpoint, so the compile is not lost.
    """
    if not c_api.has(plugin, "hpu_sigint_descriptor"):
        return
    descriptor = plugin.hpu_sigint_descriptor()
    if descriptor >= 0:
        threading.Thread(target=_watch, args=(plugin, descriptor), name="hpu_interrupts", daemon=True).start()


def _watch(plugin: ctypes.CDLL, descriptor: int) -> None:
    main_thread = _MainThread(plugin)
    while os.read(descriptor, 8):
        main_thread.expect_return()
        begin = time.monotonic()
        # Repeated, because the C call may compile again, or may begin to wait only now.
        while not main_thread.returns_within(_COMPILE_PATIENCE_SECONDS):
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                plugin.hpu_interrupt_compiles()
            if time.monotonic() - begin >= _DEVICE_PATIENCE_SECONDS:
                plugin.hpu_interrupt()


class _MainThread:
    """Notices when the main thread runs Python code again, by a pending call of the interpreter.

    Pending calls run after signal handlers. The call is a C function, because Python code in it could swallow the
    KeyboardInterrupt of another signal.
    """

    def __init__(self, plugin: ctypes.CDLL) -> None:
        self._call = ctypes.cast(plugin.hpu_count_pending_call, ctypes.c_void_p)
        self._calls = ctypes.c_int32(0)
        self._expected = 0

    def expect_return(self) -> None:
        """Registers a pending call, unless the previous call is pending or the interpreter has no room."""
        if self._calls.value < self._expected:
            return
        if ctypes.pythonapi.Py_AddPendingCall(self._call, ctypes.byref(self._calls)) == 0:
            self._expected += 1

    def returns_within(self, seconds: float) -> bool:
        """Waits up to `seconds` for the pending call. Returns whether it has run."""
        end = time.monotonic() + seconds
        while self._calls.value < self._expected:
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_SECONDS)
        return True
