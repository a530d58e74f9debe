"""The part of the plugin's C interface that tools use: it needs no device."""

from __future__ import annotations

import ctypes
from typing import Any

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library


class StoreError(RuntimeError):
    """A directory of recipes, or an entry, cannot be used; the message says which and why."""


def call(name: str, *arguments: Any) -> bytes:
    """Calls `int32_t name(arguments…, hpu_buffer* out)`; what it gave, or StoreError with its message."""
    out = c_api.Buffer()
    function = c_api.function(plugin_library.handle(), name)
    function.restype = ctypes.c_int32
    code = function(*arguments, ctypes.byref(out))
    data = c_api.take(plugin_library.handle(), out)
    if code != 0:
        raise StoreError(data.decode(errors="replace"))
    return data


def version() -> str:
    """Release, source revision, hash of the sources and TensorFlow version of the plugin, as entries hold them."""
    function = c_api.function(plugin_library.handle(), "hpu_version")
    function.restype = ctypes.c_char_p
    return str(function().decode())
