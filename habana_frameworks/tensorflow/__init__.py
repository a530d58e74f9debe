"""An HPU for stock TensorFlow, with the interface of Gaudi's `habana_frameworks.tensorflow`.

Importing this package does not import TensorFlow, print, open a device or start a thread.
`load_habana_module()` adds the device `/device:HPU:0` to TensorFlow. Each public module is an attribute of the package,
imported at its first use: `htf.distribute.HPUStrategy()` needs no import of `distribute`.
"""

import importlib
from typing import Any

from habana_frameworks.tensorflow import lib_utils, library_loader, multinode_helpers, sysconfig
from habana_frameworks.tensorflow._internal import warning_handler
from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.card_check import check
from habana_frameworks.tensorflow.explanation import explain
from habana_frameworks.tensorflow.library_loader import habana_ops, load_habana_module, load_op_library

__all__ = [
    "HabanaEstimator",
    "__version__",
    "check",
    "explain",
    "habana_ops",
    "lib_utils",
    "library_loader",
    "load_habana_module",
    "load_op_library",
    "multinode_helpers",
    "sysconfig",
]


warning_handler.install()

# Public modules that are imported at their first use, because they or their dependencies are slow to import.
_LAZY_MODULES = frozenset(
    {
        "card_check",
        "device_server",
        "device_trace",
        "distribute",
        "errors",
        "explanation",
        "flags",
        "grads",
        "habana_device",
        "habana_estimator",
        "hccl",
        "horovod_helpers",
        "hw_profiler_helpers",
        "media",
        "modules",
        "monitor",
        "ops",
        "optimizers",
        "py_synapse_logger",
        "recipe_store",
        "statistics",
        "synapse_logger_helpers",
        "tb_utils",
        "util",
        "version_getter",
    }
)


def __getattr__(name: str) -> Any:
    """Imports the public module `name`, or HabanaEstimator, at first use."""
    if name in _LAZY_MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "HabanaEstimator":
        from habana_frameworks.tensorflow.habana_estimator import HabanaEstimator

        return HabanaEstimator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, "HabanaEstimator"})
