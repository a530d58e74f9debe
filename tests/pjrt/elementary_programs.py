"""Program for test_elementary.py."""

from __future__ import annotations

import json
import sys

from habana_frameworks.tensorflow import load_habana_module

NAMES = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh"),
    *("digamma", "erf", "erfc", "exp", "expm1", "lgamma", "log", "log1p", "rsqrt", "sigmoid", "softplus", "sqrt"),
)


def print_errors() -> None:
    """Prints the largest error by function over 1,000 values on the HPU, relative to the CPU's values or to 1."""
    load_habana_module()
    import numpy as np
    import tensorflow as tf

    values = np.random.default_rng(0).uniform(0.01, 0.99, 1000)
    errors = {}
    for dtype in (np.float32, np.float64):
        for name in NAMES:
            x = tf.constant((values + (1 if name == "acosh" else 0)).astype(dtype))
            function = getattr(tf.math, name)
            expected = function(x).numpy()
            with tf.device("/device:HPU:0"):
                got = tf.function(function, jit_compile=True)(x).numpy()
            error = np.abs(got - expected) / np.maximum(np.abs(expected), 1)
            errors[f"{name} {dtype.__name__}"] = float(error.max())
    json.dump(errors, sys.stdout)
