"""A device server in this process: its modules are for other processes (`hpu serve`, docs/remote.md)."""

from __future__ import annotations

import ctypes

from habana_frameworks.tensorflow import _c_api, errors, library_loader


class _Options(ctypes.Structure):
    """hpu_serve_options."""

    _fields_ = [
        ("address", ctypes.c_char_p),
        ("backend", ctypes.c_char_p),
        ("allow_faults", ctypes.c_int32),
        ("recipe_key", ctypes.c_char_p),
        ("recipe_key_size", ctypes.c_size_t),
    ]


def start(address: str, backend: str = "emulator", allow_faults: bool = False, *, recipe_key: bytes = b"") -> str:
    """Serves the modules of `backend` at `address` and returns the value of HPU_BACKEND that reaches them.

    address: "unix:/path" (only this user may connect), or "host:port" on the loopback interface; port 0: a free one.
    allow_faults: clients may ask for errors with HPU_EMULATOR_FAULTS.
    recipe_key: at least 32 secret bytes. The server loads from its clients only recipes that a server with this key
    made. Without a key it takes a random one, and no later server accepts what clients have kept.

    Raises errors.DeviceError if the server cannot start. A process has one server at most.
    """
    message = _c_api.Buffer()
    plugin = library_loader.plugin()
    call = _c_api.function(plugin, "hpu_serve_start")
    call.restype = ctypes.c_int32
    options = _Options(address.encode(), backend.encode(), allow_faults, recipe_key, len(recipe_key))
    code = call(ctypes.byref(options), ctypes.byref(message))
    text = _c_api.take(plugin, message).decode(errors="replace")
    if code != 0:
        raise errors.DeviceError(code, text)
    return text


def stop() -> None:
    """Ends all sessions and the server; waits until their modules are free. Does nothing if there is no server."""
    call = _c_api.function(library_loader.plugin(), "hpu_serve_stop")
    call.restype = None
    call()
