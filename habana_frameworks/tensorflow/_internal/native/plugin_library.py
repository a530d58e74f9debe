"""The plugin's shared library in this process: whether it is there, and how it gets there.

library_loader loads it with TensorFlow and says so here. Whoever calls the plugin asks here for its handle.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from habana_frameworks.tensorflow import errors, lib_utils
from habana_frameworks.tensorflow._internal import settings_check
from habana_frameworks.tensorflow._internal.native import c_api

# Of TensorFlow's, those that the plugin needs, in the order of loading.
_TENSORFLOW_LIBRARIES = ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2")

_loader: Callable[[], object] | None = None
_plugin: pathlib.Path | None = None
_alone: ctypes.CDLL | None = None


def load_by(loader: Callable[[], object]) -> None:
    """Names the function that loads the plugin and calls set_loaded(): load_habana_module()."""
    global _loader
    _loader = loader


def set_loaded(path: pathlib.Path) -> None:
    """Says that TensorFlow has loaded the plugin from that file."""
    global _plugin
    _plugin = path


def is_loaded() -> bool:
    """Whether load_habana_module() has succeeded in this process."""
    return _plugin is not None


def load() -> None:
    """load_habana_module(), for modules that it uses itself."""
    assert _loader is not None, "library_loader names its loader when it is imported"
    _loader()


def handle() -> ctypes.CDLL:
    """The loaded plugin's C interface; loads the module if neither that nor load_alone() was done."""
    if _alone is not None:
        return _alone
    if _plugin is None:
        load()
    assert _plugin is not None
    return c_api.open_plugin(_plugin)


def load_alone() -> None:
    """Loads the plugin without TensorFlow's Python part, ten times as fast.

    Only for commands that end without TensorFlow: it cannot be imported in this process any more. Does nothing where
    it is imported already. Raises a subclass of errors.HabanaModuleError.
    """
    global _alone
    if _alone is not None or "tensorflow" in sys.modules:
        return
    versions = lib_utils.installed_tensorflow()
    if not versions:
        import_tensorflow()  # says what to do
        return
    settings_check.translate_vlog_level()
    libraries = tensorflow_libraries()
    (path,) = lib_utils.mandatory_libraries(next(iter(versions.values())))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # what TensorFlow says of itself is no part of the answer
    try:
        for library in libraries:
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        _alone = ctypes.CDLL(str(path))
    except OSError as error:
        raise errors.PluginLoadError(f"Cannot find Habana modules: {path} cannot be loaded: {error}") from error


def tensorflow_libraries() -> list[pathlib.Path]:
    """TensorFlow's libraries, without which the plugin cannot be loaded, in the order of loading."""
    found = importlib.util.find_spec("tensorflow")
    origin = (found and found.origin) or import_tensorflow().__file__
    return [pathlib.Path(origin).with_name(name) for name in _TENSORFLOW_LIBRARIES]


def import_tensorflow() -> Any:
    """TensorFlow, or an error that says how to install it."""
    try:
        import tensorflow as tf
    except ImportError as error:
        raise errors.TensorFlowError(
            f"TensorFlow cannot be imported ({error}); install it: pip install 'hpu-tensorflow[cpu]'"
        ) from error
    return tf


def finish_compiling() -> None:
    """Ends compiling in the background, and waits for the recipes that are being written to the disk cache."""
    for name in ("hpu_stop_compiling", "hpu_recipe_cache_flush"):
        call = c_api.function(handle(), name)
        call.restype = None
        call()
