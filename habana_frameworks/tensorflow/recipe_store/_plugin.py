"""The part of the plugin's C interface that tools use: it needs no device."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
import sys
from typing import Any

from habana_frameworks.tensorflow import _c_api, errors, lib_utils, library_loader

_NEEDED = ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2")
_alone: ctypes.CDLL | None = None


class StoreError(RuntimeError):
    """A directory of recipes, or an entry, cannot be used; the message says which and why."""


def load_alone() -> None:
    """Loads the plugin without TensorFlow's Python part, ten times as fast.

    Only for commands that end without TensorFlow: it cannot be imported in this process any more. Does nothing where
    it is imported already. Raises a subclass of errors.HabanaModuleError.
    """
    global _alone
    if _alone is not None or "tensorflow" in sys.modules:
        return
    found = importlib.util.find_spec("tensorflow")
    versions = lib_utils.installed_tensorflow()
    if found is None or found.origin is None or not versions:
        library_loader.import_tensorflow()  # says what to do
        return
    (path,) = lib_utils.mandatory_libraries(next(iter(versions.values())))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # what TensorFlow says of itself is no part of the answer
    try:
        for name in _NEEDED:
            ctypes.CDLL(str(pathlib.Path(found.origin).with_name(name)), mode=ctypes.RTLD_GLOBAL)
        _alone = ctypes.CDLL(str(path))
    except OSError as error:
        raise errors.PluginLoadError(f"Cannot find Habana modules: {path} cannot be loaded: {error}") from error


def plugin() -> ctypes.CDLL:
    """The plugin, loaded by load_alone() or into TensorFlow."""
    return _alone if _alone is not None else library_loader.plugin()


def call(name: str, *arguments: Any) -> bytes:
    """Calls `int32_t name(arguments…, hpu_buffer* out)`; what it gave, or StoreError with its message."""
    out = _c_api.Buffer()
    function = _c_api.function(plugin(), name)
    function.restype = ctypes.c_int32
    code = function(*arguments, ctypes.byref(out))
    data = _c_api.take(plugin(), out)
    if code != 0:
        raise StoreError(data.decode(errors="replace"))
    return data


def version() -> str:
    """Release, source revision, hash of the sources and TensorFlow version of the plugin, as entries hold them."""
    function = _c_api.function(plugin(), "hpu_version")
    function.restype = ctypes.c_char_p
    return str(function().decode())
