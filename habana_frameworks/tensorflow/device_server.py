"""A device server in this process: its modules are for other processes (`hpu serve`, docs/remote.md)."""

from __future__ import annotations

import ctypes

from habana_frameworks.tensorflow import _c_api, errors, library_loader


def start(address: str, backend: str = "emulator", allow_faults: bool = False) -> str:
    """Serves the modules of `backend` at `address` and returns the value of HPU_BACKEND that reaches them.

    address: "unix:/path" (only this user may connect), or "host:port" on the loopback interface; port 0: a free one.
    allow_faults: clients may ask for errors with HPU_EMULATOR_FAULTS.

    Raises errors.DeviceError if the server cannot start. A process has one server at most.
    """
    message = _c_api.Buffer()
    plugin = library_loader.plugin()
    call = _c_api.function(plugin, "hpu_serve_start")
    call.restype = ctypes.c_int32
    code = call(address.encode(), backend.encode(), ctypes.c_int32(allow_faults), ctypes.byref(message))
    text = _c_api.take(plugin, message).decode(errors="replace")
    if code != 0:
        raise errors.DeviceError(code, text)
    return text


def stop() -> None:
    """Ends all sessions and the server; waits until their modules are free. Does nothing if there is no server."""
    call = _c_api.function(library_loader.plugin(), "hpu_serve_stop")
    call.restype = None
    call()
