"""The part of the plugin's C interface that tools use: it needs no device."""

from __future__ import annotations

import ctypes
from typing import Any

from habana_frameworks.tensorflow import _c_api, library_loader


class StoreError(RuntimeError):
    """A directory of recipes, or an entry, cannot be used; the message says which and why."""


def call(name: str, *arguments: Any) -> bytes:
    """Calls `int32_t name(arguments…, hpu_buffer* out)`; what it gave, or StoreError with its message."""
    out = _c_api.Buffer()
    function = _c_api.function(library_loader.plugin(), name)
    function.restype = ctypes.c_int32
    code = function(*arguments, ctypes.byref(out))
    data = _c_api.take(library_loader.plugin(), out)
    if code != 0:
        raise StoreError(data.decode(errors="replace"))
    return data


def version() -> str:
    """Release, source revision, hash of the sources and TensorFlow version of the plugin, as entries hold them."""
    function = _c_api.function(library_loader.plugin(), "hpu_version")
    function.restype = ctypes.c_char_p
    return str(function().decode())
