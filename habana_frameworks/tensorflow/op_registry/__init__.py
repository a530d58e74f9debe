"""Support of TensorFlow's ops by the HPU, as `hpu ops` shows it: docs/user/op_support.md."""

from habana_frameworks.tensorflow.op_registry.model import (
    GaudiSupport,
    Place,
    Refusal,
    RegisteredOp,
)
from habana_frameworks.tensorflow.op_registry.registry import ops

__all__ = ["GaudiSupport", "Place", "Refusal", "RegisteredOp", "ops"]
