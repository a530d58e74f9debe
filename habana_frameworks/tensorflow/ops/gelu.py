"""habana_gelu: tf.nn.gelu as one fused op."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow._internal.native.op_wrappers import habana_ops

__all__ = ["habana_gelu"]


def habana_gelu(features: Any, approximate: bool = False, name: str | None = None) -> tf.Tensor:
    """Gaussian error linear unit of a floating-point tensor. Call load_habana_module() first.

    approximate: use the tanh approximation.
    """
    return habana_ops.habana_gelu(tf.convert_to_tensor(features), approximate=bool(approximate), name=name)
