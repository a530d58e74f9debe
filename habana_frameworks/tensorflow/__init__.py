"""An HPU for stock TensorFlow, with the interface of Gaudi's `habana_frameworks.tensorflow`.

Importing this package imports no TensorFlow, prints nothing, touches no device and starts no thread.
`load_habana_module()` adds the device `/device:HPU:0` to TensorFlow.
"""

from typing import Any

from habana_frameworks.tensorflow import lib_utils, library_loader, multinode_helpers, sysconfig
from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.explanation import explain
from habana_frameworks.tensorflow.library_loader import habana_ops, load_habana_module, load_op_library

__all__ = [
    "HabanaEstimator",
    "__version__",
    "explain",
    "habana_ops",
    "lib_utils",
    "library_loader",
    "load_habana_module",
    "load_op_library",
    "multinode_helpers",
    "sysconfig",
]


def __getattr__(name: str) -> Any:
    """Imports HabanaEstimator at first use, because its module imports TensorFlow."""
    if name == "HabanaEstimator":
        from habana_frameworks.tensorflow.habana_estimator import HabanaEstimator

        return HabanaEstimator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
