"""Gives TensorFlow the HPU: load_habana_module(), load_op_library() and the op wrappers `habana_ops`."""

from __future__ import annotations

import atexit
import ctypes
import importlib
import importlib.util
import logging
import os
import pathlib
import sys
import threading
import types
from typing import Any

from habana_frameworks import _hpu_import_hook
from habana_frameworks.tensorflow import (
    _c_api,
    _compiler_ir,
    _failed_reads,
    _flag_values,
    _loss_scaling,
    _op_override,
    errors,
    flags,
    grads,
    lib_utils,
    multinode_helpers,
    util,
)

_logger = logging.getLogger(__name__)
_lock = threading.RLock()
_plugin: pathlib.Path | None = None
_alone: ctypes.CDLL | None = None
# Of TensorFlow's, those that the plugin needs.
_TENSORFLOW_LIBRARIES = ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2")


# Ops that the plugin has no kernel for: functions of other ops, and the modules that have them.
_COMPOSED = dict.fromkeys(
    ("pyramid_roi_align", "pyramid_roi_align_grad_images"), "habana_frameworks.tensorflow.ops.roi_align"
)


class _LazyOps:
    """`habana_ops`: the Python wrappers of the plugin's ops, there once the module is loaded."""

    def __init__(self) -> None:
        self._module: types.ModuleType | None = None

    @property
    def ops(self) -> types.ModuleType:
        """The module of wrappers itself."""
        return self._loaded("ops")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = self._loaded(name)
        if name in _COMPOSED:
            return getattr(importlib.import_module(_COMPOSED[name]), name)
        try:
            return getattr(module, name)
        except AttributeError:
            raise AttributeError(f"habana_ops has no {name}; dir(habana_ops) lists what it has") from None

    def _loaded(self, wanted: str) -> types.ModuleType:
        assert self._module is not None, (
            f"looking for {wanted}, but habana module seems not to be loaded yet: call load_habana_module() before"
        )
        return self._module

    def __dir__(self) -> list[str]:
        return ["ops", *((*dir(self._module), *_COMPOSED) if self._module else ())]


habana_ops = _LazyOps()


def load_habana_module(allow_op_override: bool = True) -> list[Any]:
    """Gives TensorFlow the device /device:HPU:0 and returns the list of HPUs that it then has.

    May be called more than once, from several threads, and before or after `hvd.init()`, but not after TensorFlow has
    fixed its devices, which the first eager op does. The device itself is acquired at its first use.

    allow_op_override: whether TensorFlow symbols may be replaced by versions for the HPU: those of _op_override, and
    what TF_ENABLE_AUTO_MIXED_PRECISION needs (_loss_scaling). The first call decides.

    Raises a subclass of errors.HabanaModuleError; TensorFlow stays usable without an HPU. Raises errors.JobError if
    `hvd.init()` came before and did not find the launcher's other processes.
    """
    with _lock:
        if _plugin is None:
            multinode_helpers._setup_env_for_multinode()
            _load()
            _join_horovod()
            _profile_on_request()
            _let_interrupts_through()
            if allow_op_override:
                _loss_scaling.scale_on_request(import_tensorflow())
                _op_override.replace_symbols(import_tensorflow())
        import tensorflow as tf

        return list(tf.config.list_physical_devices("HPU"))


def _join_horovod() -> None:
    """Lets hvd.init() form the launcher's job; if it was called already, checks that it did."""
    from habana_frameworks.tensorflow import horovod_start  # which asks this module for more

    _hpu_import_hook.install()
    horovod_start.register_kernel()
    horovod_start.check_if_started()


def _profile_on_request() -> None:
    """Traces what HABANA_PROFILE and its kin ask for."""
    from habana_frameworks.tensorflow import hw_profiler_helpers  # which asks this module for the plugin

    hw_profiler_helpers.install()


def _let_interrupts_through() -> None:
    """Lets Ctrl-C end the waiting for a device server."""
    from habana_frameworks.tensorflow import device_channel, interrupts  # which ask this module for the plugin

    if device_channel.is_address(flags.backend()):
        interrupts.install()


def load_op_library(path: str | os.PathLike[str]) -> types.ModuleType:
    """Loads a library of custom ops and returns the module of their wrappers. The HPU's own ops are loaded first."""
    load_habana_module()
    import tensorflow as tf

    name = os.fspath(path)
    if not pathlib.Path(name).is_file():
        raise FileNotFoundError(f"no library of custom ops at {name}")
    return tf.load_op_library(name)  # type: ignore[no-any-return]


def is_loaded() -> bool:
    """Whether load_habana_module() has succeeded in this process."""
    return _plugin is not None


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
    _translate_vlog_level()
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


def plugin() -> ctypes.CDLL:
    """The loaded plugin's C interface; loads the module if neither that nor load_alone() was done."""
    if _alone is not None:
        return _alone
    if _plugin is None:
        load_habana_module()
    assert _plugin is not None
    return _c_api.open_plugin(_plugin)


def import_tensorflow() -> Any:
    """TensorFlow, or an error that says how to install it."""
    try:
        import tensorflow as tf
    except ImportError as error:
        raise errors.TensorFlowError(
            f"TensorFlow cannot be imported ({error}); install it: pip install 'hpu-tensorflow[cpu]'"
        ) from error
    return tf


def _load() -> None:
    """Loads the plugin into TensorFlow and makes its device known. Holds _lock."""
    from habana_frameworks.tensorflow import statistics  # which asks this module for the plugin

    global _plugin
    report_unknown_settings()
    _warn_of_other_keras()
    _translate_vlog_level()
    tf = import_tensorflow()
    (path,) = lib_utils.mandatory_libraries(tf.__version__)
    context = _uninitialized_context()
    try:
        module = tf.load_op_library(str(path))
    except (tf.errors.OpError, OSError, RuntimeError) as error:
        raise errors.PluginLoadError(
            f"Cannot find Habana modules: {path} cannot be loaded: {error}. Build it again (`make build`) with the "
            "TensorFlow that is installed; `hpu doctor` checks the set-up."
        ) from error
    _check_backend(_c_api.open_plugin(path))
    # Whatever listed devices before did so without the HPU.
    context.reinitialize_physical_devices()
    _allow_short_device_names()
    _leave_rewrites_to_the_compiler(tf, context)
    habana_ops._module = module
    grads.register()
    _failed_reads.install(_c_api.open_plugin(path))
    _compiler_ir.install(_c_api.open_plugin(path))
    _plugin = path
    _set_transfer_command(_c_api.open_plugin(path))
    atexit.register(_finish_compiling)
    statistics.log_at_exit()
    _logger.debug("loaded %s", path)


def _set_transfer_command(handle: ctypes.CDLL) -> None:
    """Tells the plugin how to start the process that transfers recipes from and to HPU_RECIPE_CACHE_REMOTE."""
    program = pathlib.Path(__file__).with_name("recipe_store") / "remote" / "transfer_process.py"
    if sys.executable and _c_api.has(handle, "hpu_recipe_cache_set_transfer_command"):
        words = [os.fsencode(word) for word in (sys.executable, "-I", program)]
        handle.hpu_recipe_cache_set_transfer_command((ctypes.c_char_p * (len(words) + 1))(*words, None))


def _finish_compiling() -> None:
    """Ends compiling in the background, and waits for the recipes that are being written to the disk cache."""
    for name in ("hpu_stop_compiling", "hpu_recipe_cache_flush"):
        call = _c_api.function(plugin(), name)
        call.restype = None
        call()


def _uninitialized_context() -> Any:
    """TensorFlow's eager context, or an error if it has its devices already."""
    from tensorflow.python.eager import context

    if context.context()._initialized:
        raise errors.AlreadyInitializedError(
            "TensorFlow was initialised before the Habana module was loaded, and its list of devices is fixed from "
            "then on: call load_habana_module() before the first operation (right after the imports), or restart the "
            "notebook's kernel."
        )
    return context.context()


def _allow_short_device_names() -> None:
    """Makes tf.device("HPU:0") legal: TensorFlow knows the types whose name may stand alone by a list of its own."""
    from tensorflow.python.framework import device_spec

    device_spec._VALID_DEVICE_TYPES |= {"HPU"}


# Rewrites of TensorFlow's that are the compiler's job on the HPU. The arithmetic optimizer reorders products so that
# XLA's fusion repeats work: a transformer's step took 1.5 times as long with it. The remapper makes ops that the CPU
# has no kernel for, should a cluster have to fall back.
_LEFT_TO_THE_COMPILER = ("arithmetic_optimization", "remapping")


def _leave_rewrites_to_the_compiler(tf: Any, context: Any) -> None:
    """Turns those of TensorFlow's graph optimizers off that the program has no opinion on."""
    left = list(_LEFT_TO_THE_COMPILER)
    # Two only ever change what runs on a GPU, and look long at each new graph to find that out.
    if not tf.config.list_physical_devices("GPU"):
        left.append("layout_optimizer")
        _disable_memory_optimizer(context)
    chosen = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({name: False for name in left if name not in chosen})


def _disable_memory_optimizer(context: Any) -> None:
    """tf.config.optimizer has no option for it, and the context keeps what it started from to itself."""
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

    if context._config is None:
        context._config = config_pb2.ConfigProto()
    rewriter, kinds = context._config.graph_options.rewrite_options, rewriter_config_pb2.RewriterConfig
    if rewriter.memory_optimization == kinds.DEFAULT_MEM_OPT:
        rewriter.memory_optimization = kinds.NO_MEM_OPT


def _check_backend(handle: ctypes.CDLL) -> None:
    """Refuses a HPU_BACKEND that this build has no backend for, and settings that the backend cannot take."""
    error = _c_api.read_json(handle, "hpu_device_info").get("error")
    if error:
        raise errors.BackendError(f"{error} (docs/user/settings.md explains the settings)")


def _warn_of_other_keras() -> None:
    version = util.other_keras()
    if version is not None:
        _logger.warning(
            "Keras %s is in use, which is not tf.keras of TensorFlow 2.15: models made with it were not tested on "
            "the HPU (docs/user/keras.md). Install keras==2.15.* and import tensorflow.keras",
            version,
        )


# TensorFlow has the second one since 1.15; Gaudi's guide writes the first.
_OLD_VLOG, _VLOG = "TF_CPP_MIN_VLOG_LEVEL", "TF_CPP_MAX_VLOG_LEVEL"


def _translate_vlog_level() -> None:
    """Gives TensorFlow the level of its verbose log under the name that it reads, and says so."""
    level = flags.tf_cpp_min_vlog_level()
    if level == 0 or _VLOG in os.environ:
        return
    # TensorFlow's own libraries read it once, while they are imported; the plugin reads it at its first message.
    reach = "the HPU plugin's messages, for TensorFlow was imported before" if "tensorflow" in sys.modules else "all"
    _logger.warning("TensorFlow reads %s, not %s: set to %d, which reaches %s", _VLOG, _OLD_VLOG, level, reach)
    os.environ[_VLOG] = str(level)


def report_unknown_settings() -> None:
    """Warns of variables that look like settings and are none; HPU_STRICT_FLAGS makes HPU_ ones an error."""
    found = _flag_values.unknown(flags.ALL, os.environ)
    ours = [variable for variable in found if variable.name.startswith("HPU_")]
    if ours and flags.strict_flags():
        listed = "; ".join(map(str, ours))
        raise errors.SettingError(
            f"{listed} (an error because HPU_STRICT_FLAGS is set; the settings are in docs/user/settings.md)"
        )
    for variable in found:
        _logger.warning("%s", variable)
