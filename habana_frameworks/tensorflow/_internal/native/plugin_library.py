"""State of the plugin's shared library in this process: loading it, and its ctypes handle.

library_loader loads the library with TensorFlow and calls set_loaded(). From then on handle() returns it.
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

# TensorFlow libraries that the plugin needs, in load order.
_TENSORFLOW_LIBRARIES = ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2")

_loader: Callable[[], object] | None = None
_plugin: pathlib.Path | None = None
_alone: ctypes.CDLL | None = None


def load_by(loader: Callable[[], object]) -> None:
    """Registers load_habana_module() as the function that load() calls."""
    global _loader
    _loader = loader


def set_loaded(path: pathlib.Path) -> None:
    """Records that TensorFlow has loaded the plugin from `path`."""
    global _plugin
    _plugin = path


def is_loaded() -> bool:
    """Whether TensorFlow has loaded the plugin in this process."""
    return _plugin is not None


def load() -> None:
    """Calls load_habana_module(), without a circular import in the modules that library_loader imports."""
    assert _loader is not None, "no loader is registered: import library_loader first"
    _loader()


def handle() -> ctypes.CDLL:
    """Returns the plugin's C interface. Calls load_habana_module() first unless the plugin is already loaded."""
    if _alone is not None:
        return _alone
    if _plugin is None:
        load()
    assert _plugin is not None
    return c_api.open_plugin(_plugin)


def load_alone() -> None:
    """Loads the plugin without importing TensorFlow's Python package, ten times as fast as load().

    Only for commands that do not use TensorFlow: TensorFlow can no longer be imported in this process. Does nothing if
    TensorFlow is already imported. Raises a subclass of errors.HabanaModuleError.
    """
    global _alone
    if _alone is not None or "tensorflow" in sys.modules:
        return
    versions = lib_utils.installed_tensorflow()
    if not versions:
        import_tensorflow()  # raises if TensorFlow is missing; otherwise handle() loads the plugin
        return
    settings_check.translate_vlog_level()
    libraries = tensorflow_libraries()
    (path,) = lib_utils.mandatory_libraries(next(iter(versions.values())))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # keeps TensorFlow's log out of the command's output
    try:
        for library in libraries:
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        _alone = c_api.open_plugin(path)
    except OSError as error:
        raise load_error(path, error) from error


def load_error(path: pathlib.Path, error: Exception) -> errors.PluginLoadError:
    """Returns the exception to raise if loading the plugin from `path` has failed with `error`."""
    return errors.PluginLoadError(
        f"Cannot find Habana modules: {path} cannot be loaded: {error}. Build or reinstall it "
        f"(`{lib_utils.rebuild_command()}`) for the installed TensorFlow; run `hpu doctor` to check the setup."
    )


def tensorflow_libraries() -> list[pathlib.Path]:
    """Returns the paths of the TensorFlow libraries that the plugin needs, in load order."""
    found = importlib.util.find_spec("tensorflow")
    origin = (found and found.origin) or import_tensorflow().__file__
    return [pathlib.Path(origin).with_name(name) for name in _TENSORFLOW_LIBRARIES]


def import_tensorflow() -> Any:
    """Imports TensorFlow. Raises TensorFlowError if the import fails or TensorFlow does not support this Python."""
    problem = lib_utils.python_problem()
    if problem is not None:
        raise errors.TensorFlowError(": ".join(problem))
    try:
        import tensorflow as tf
    except ImportError as error:
        installed = lib_utils.installed_tensorflow()
        remedy = "run `hpu doctor` to check it" if installed else f"install it: {lib_utils.tensorflow_command()}"
        raise errors.TensorFlowError(f"TensorFlow cannot be imported ({error}); {remedy}") from error
    return tf


def log_unlisted_ops() -> None:
    """Logs ops outside HPU_OP_LIST that the warnings of graphs have not named, such as eager ops."""
    if c_api.has(handle(), "hpu_log_unlisted_ops"):
        handle().hpu_log_unlisted_ops()


def finish_compiling() -> None:
    """Stops background compilation and waits until pending recipes are on disk and uploaded.

    Waits for uploads for at most HPU_RECIPE_CACHE_REMOTE_TIMEOUT_S.
    """
    for name in ("hpu_stop_compiling", "hpu_recipe_cache_flush"):
        c_api.function(handle(), name)()
