"""Registers the HPU with TensorFlow: load_habana_module(), load_op_library() and the op wrappers `habana_ops`."""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import pathlib
import sys
import threading
import types
from typing import Any

from habana_frameworks import _hpu_import_hook
from habana_frameworks.tensorflow import (
    errors,
    grads,
    hw_profiler_helpers,
    lib_utils,
    multinode_helpers,
    statistics,
    util,
)
from habana_frameworks.tensorflow._internal import load_notice, settings_check
from habana_frameworks.tensorflow._internal.native import c_api, interrupts, op_wrappers, plugin_library
from habana_frameworks.tensorflow._internal.native.op_wrappers import habana_ops
from habana_frameworks.tensorflow._internal.patches import (
    branch_gradients,
    compiler_ir,
    failed_reads,
    graph_optimizers,
    jit_compile,
    keras_import,
    keyboard_interrupts,
    loop_gradients,
    loss_scaling,
    memory_settings,
    saved_model_import,
    session_jit_level,
    strategies,
    verbosity,
)
from habana_frameworks.tensorflow._internal.rendezvous import horovod_start
from habana_frameworks.tensorflow.ops import keras_symbols

__all__ = ["habana_ops", "load_habana_module", "load_op_library"]

_logger = logging.getLogger(__name__)
_lock = threading.RLock()


def load_habana_module(allow_op_override: bool = True) -> list[Any]:
    """Registers the device /device:HPU:0 with TensorFlow and returns TensorFlow's list of HPUs.

    Thread safe; may be called more than once, before or after `hvd.init()`. The first call must come before
    TensorFlow's first eager op, which fixes the device list. The device itself is acquired at its first use.

    allow_op_override: allow replacing TensorFlow symbols by versions for the HPU: the symbols of ops.keras_symbols,
    loss scaling for TF_ENABLE_AUTO_MIXED_PRECISION, Keras's check of jit_compile=True, and Keras's verbosity in jobs of
    `hpu run`. Only the first call counts.

    Raises a subclass of errors.HabanaModuleError; TensorFlow then stays usable without an HPU. Raises errors.JobError
    if an earlier `hvd.init()` did not find the launcher's other processes.
    """
    with _lock:
        if not plugin_library.is_loaded():
            multinode_helpers._setup_env_for_multinode()
            _load()
            _join_horovod()
            hw_profiler_helpers.install()
            if allow_op_override:
                _override_symbols()
        import tensorflow as tf

        return list(tf.config.list_physical_devices("HPU"))


plugin_library.load_by(load_habana_module)


def load_op_library(path: str | os.PathLike[str]) -> types.ModuleType:
    """Loads a library of custom ops and returns the module with their wrappers. Loads the HPU module first."""
    load_habana_module()
    import tensorflow as tf

    name = os.fspath(path)
    if not pathlib.Path(name).is_file():
        raise FileNotFoundError(f"custom op library not found: {name}; build it, or correct the path")
    return tf.load_op_library(name)  # type: ignore[no-any-return]


def _load() -> None:
    """Loads the plugin into TensorFlow and registers its device. The caller holds _lock."""
    settings_check.report_unknown_settings()
    settings_check.report_misspelt_card()
    _warn_of_other_keras()
    settings_check.translate_vlog_level()
    tf = plugin_library.import_tensorflow()
    (path,) = lib_utils.mandatory_libraries(tf.__version__)
    context = _uninitialized_context()
    try:
        module = tf.load_op_library(str(path))
    except (tf.errors.OpError, OSError, RuntimeError) as error:
        raise plugin_library.load_error(path, error) from error
    plugin = c_api.open_plugin(path)
    info = _check_backend(plugin)
    # An earlier device list lacks the HPU.
    context.reinitialize_physical_devices()
    _allow_short_device_names()
    graph_optimizers.leave_rewrites_to_the_compiler(tf, context)
    session_jit_level.install()
    memory_settings.install()
    saved_model_import.install(plugin)
    strategies.install()
    op_wrappers.provide(module)
    grads.register()
    branch_gradients.install()
    loop_gradients.install()
    failed_reads.install(plugin)
    compiler_ir.install(plugin)
    _set_transfer_command(plugin)
    interrupts.install(plugin)
    keyboard_interrupts.install()
    plugin_library.set_loaded(path)
    atexit.register(plugin_library.finish_compiling)
    atexit.register(plugin_library.log_unlisted_ops)
    statistics.log_at_exit()
    _logger.debug("loaded %s", path)
    load_notice.log(info)


def _override_symbols() -> None:
    loss_scaling.scale_v1_optimizers(plugin_library.import_tensorflow())
    for function in (
        loss_scaling.scale_keras_optimizers,
        keras_symbols.replace_symbols,
        jit_compile.install,
        verbosity.install,
    ):
        keras_import.call_after_import(function)


def _join_horovod() -> None:
    """Makes hvd.init() form the launcher's job. If a job is already formed, checks its size."""
    _hpu_import_hook.install()
    horovod_start.register_kernel()
    horovod_start.check_if_started()


def _set_transfer_command(plugin: ctypes.CDLL) -> None:
    """Sets the command by which the plugin starts the transfer process for HPU_RECIPE_CACHE_REMOTE."""
    program = pathlib.Path(__file__).with_name("recipe_store") / "remote" / "transfer_process.py"
    if sys.executable and c_api.has(plugin, "hpu_recipe_cache_set_transfer_command"):
        words = [os.fsencode(word) for word in (sys.executable, "-I", program)]
        plugin.hpu_recipe_cache_set_transfer_command((ctypes.c_char_p * (len(words) + 1))(*words, None))


def _uninitialized_context() -> Any:
    """Returns TensorFlow's eager context. Raises AlreadyInitializedError if its device list is already fixed."""
    from tensorflow.python.eager import context

    if context.context()._initialized:
        raise errors.AlreadyInitializedError(
            "TensorFlow was initialised before the Habana module was loaded, so its device list can no longer change: "
            "call load_habana_module() before the first operation (right after the imports). In a notebook, restart "
            "the kernel first."
        )
    return context.context()


def _allow_short_device_names() -> None:
    """Makes tf.device("HPU:0") legal: TensorFlow accepts short names only for the device types in its own list."""
    from tensorflow.python.framework import device_spec

    device_spec._VALID_DEVICE_TYPES |= {"HPU"}


def _check_backend(plugin: ctypes.CDLL) -> Any:
    """Returns the DeviceInfo of the device, which is not acquired.

    Raises BackendError if this build lacks the backend of HPU_BACKEND, or if the backend rejects its settings.
    """
    info = c_api.read_message(plugin, "hpu_device_info", "DeviceInfo")
    # TensorFlow has already loaded the plugin, and would place ops on an HPU that the plugin offers.
    plugin.hpu_offer_device(0 if info.error else 1)
    if info.error:
        raise errors.BackendError(f"{info.error} (docs/user/settings.md explains the settings)")
    return info


def _warn_of_other_keras() -> None:
    version = util.other_keras()
    if version is not None:
        release = lib_utils.release()
        _logger.warning(
            "Keras %s is installed instead of TensorFlow %s's tf.keras, and is not tested on the HPU "
            "(docs/user/keras.md). Install %s and import tensorflow.keras",
            version,
            release.short_version,
            release.keras_requirement,
        )
