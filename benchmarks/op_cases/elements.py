"""Element-wise functions, and random numbers."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from benchmarks.op_cases.case import OpCase, Shape, gradient

# Functions whose gradients are also measured.
DIFFERENTIATED = (
    "hyperbolic tangent",
    "sigmoid",
    "softplus",
    "elu",
    "swish",
    "leaky relu",
    "error function",
    "logarithm of gamma",
    "reciprocal root",
    "sine",
    "power of 2.5",
    "mish",
    "clip by value",
)


def elementary(shape: Shape) -> list[OpCase]:
    """Element-wise functions."""
    functions: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
        "sine": tf.sin,
        "cosine": tf.cos,
        "tangent": tf.tan,
        "arcsine": tf.asin,
        "arccosine": tf.acos,
        "arctangent": tf.atan,
        "hyperbolic sine": tf.sinh,
        "inverse hyperbolic sine": tf.asinh,
        "inverse hyperbolic cosine": lambda x: tf.acosh(1 + tf.abs(x)),
        "inverse hyperbolic tangent": tf.atanh,
        "power of 2.5": lambda x: tf.pow(tf.abs(x), 2.5),
        "error function": tf.math.erf,
        "inverse error function": tf.math.erfinv,
        "exponential": tf.exp,
        "exponential less one": tf.math.expm1,
        "logarithm": lambda x: tf.math.log(tf.abs(x)),
        "logarithm of one and": lambda x: tf.math.log1p(tf.abs(x)),
        "logarithm of gamma": tf.math.lgamma,
        "digamma": tf.math.digamma,
        "reciprocal root": lambda x: tf.math.rsqrt(tf.abs(x)),
        "floor modulo": lambda x: tf.math.floormod(x, 0.7),
        "rounding": tf.round,
        "sigmoid": tf.sigmoid,
        "softplus": tf.nn.softplus,
        "elu": tf.nn.elu,
        "selu": tf.nn.selu,
        "swish": tf.nn.silu,
        "hyperbolic tangent": tf.tanh,
        "square root": lambda x: tf.sqrt(tf.abs(x)),
        "reciprocal": tf.math.reciprocal,
        "sign": tf.sign,
        "floor": tf.floor,
        "relu6": tf.nn.relu6,
        "leaky relu": tf.nn.leaky_relu,
        "softsign": tf.nn.softsign,
        "logarithm of sigmoid": tf.math.log_sigmoid,
        "mish": lambda x: x * tf.tanh(tf.nn.softplus(x)),
        "approximate gelu": lambda x: tf.nn.gelu(x, approximate=True),
        "complement of error function": tf.math.erfc,
        "clip by value": lambda x: tf.clip_by_value(x, -1.0, 1.0),
        "polynomial": lambda x: tf.math.polyval([1.0, 2.0, 3.0, 4.0], x),
        "to whole numbers": lambda x: tf.cast(x, tf.int32),
        "to bfloat16": lambda x: tf.cast(x, tf.bfloat16),
        "to doubles and back": lambda x: tf.cast(tf.cast(x, tf.float64) * 3, tf.float32),
        "whole numbers modulo": lambda x: tf.cast(1000 * x, tf.int32) % 7,
        "whole numbers divided": lambda x: tf.cast(1000 * x, tf.int32) // 7,
        "bits": lambda x: tf.bitwise.bitwise_xor(tf.bitcast(x, tf.int32), 77),
        "not a number to zero": lambda x: tf.where(tf.math.is_nan(x), tf.zeros_like(x), x),
    }
    special: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
        "Bessel i0": tf.math.bessel_i0,
        "Bessel i0e": tf.math.bessel_i0e,
        "Bessel i1": tf.math.bessel_i1,
        "Bessel i1e": tf.math.bessel_i1e,
        "Bessel j0": tf.math.special.bessel_j0,
        "Bessel k0": tf.math.special.bessel_k0,
        "Dawson": tf.math.special.dawsn,
        "exponential integral": tf.math.special.expint,
        "Fresnel sine": tf.math.special.fresnel_sin,
        "Spence": tf.math.special.spence,
        "normal quantiles": tf.math.ndtri,
    }
    of_two: dict[str, Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = {
        "divide": tf.divide,
        "divide without NaN": tf.math.divide_no_nan,
        "floor division": tf.math.floordiv,
        "modulo": tf.math.floormod,
        "squared difference": tf.math.squared_difference,
        "greatest": tf.maximum,
        "comparison": tf.greater,
        "both comparisons": lambda x, y: tf.logical_and(x > 0, y > 0),
        "x log of 1 and y": lambda x, y: tf.math.xlog1py(x, tf.abs(y)),
        "next number": tf.math.nextafter,
        "complex product": lambda x, y: tf.math.real(tf.complex(x, y) * tf.complex(y, x)),
        "complex magnitude": lambda x, y: tf.abs(tf.complex(x, y)),
        "complex angle": lambda x, y: tf.math.angle(tf.complex(x, y)),
        "complex exponential": lambda x, y: tf.math.imag(tf.exp(tf.complex(x, y))),
    }
    small = (256, 256)
    return [
        *(OpCase(name, function, (shape,)) for name, function in functions.items()),
        OpCase("sine", tf.sin, (shape,), tf.bfloat16),
        OpCase("angle", tf.atan2, (shape, shape)),
        OpCase("power", lambda x, y: tf.pow(tf.abs(x), y), (shape, shape)),
        *(OpCase(f"{name} gradient", gradient(functions[name]), (shape, shape)) for name in DIFFERENTIATED),
        *(OpCase(name, function, (shape,), uniform=True) for name, function in special.items()),
        *(OpCase(name, function, (shape, shape)) for name, function in of_two.items()),
        *(
            OpCase(name, functions[name], (shape,), tf.bfloat16)
            for name in ("exponential", "error function", "sigmoid")
        ),
        OpCase("exponential", tf.exp, (shape,), tf.float64),
        OpCase("gelu", tf.nn.gelu, (shape,), tf.bfloat16),
        OpCase("gelu gradient", gradient(tf.nn.gelu), (shape, shape), tf.bfloat16),
        OpCase("add and relu", lambda x, y: tf.nn.relu(x + y), (shape, shape), tf.bfloat16),
        OpCase("incomplete beta", tf.math.betainc, (small,) * 3, uniform=True),
        OpCase("incomplete gamma", tf.math.igamma, (small,) * 2, uniform=True),
        OpCase("incomplete gamma complement", tf.math.igammac, (small,) * 2, uniform=True),
        OpCase("incomplete gamma gradients", gradient(tf.math.igamma), (small,) * 3, uniform=True),
        OpCase("zeta", lambda x, y: tf.math.zeta(1.5 + x, 0.5 + y), (small,) * 2, uniform=True),
        OpCase("polygamma", lambda x: tf.math.polygamma(tf.ones_like(x), 0.5 + x), (small,), uniform=True),
        OpCase("logarithm of beta", lambda x: tf.math.lbeta(0.5 + x), (shape,), uniform=True),
        OpCase("x log y", lambda x, y: tf.math.xlogy(x, tf.abs(y)), (shape, shape)),
    ]


def _dropout(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.dropout(x, 0.3)


def _stateless(shape: Shape) -> list[OpCase]:
    """Stateless random ops. The seed is an argument, because TensorFlow folds an op with a constant seed."""
    functions: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
        "uniform numbers": lambda seed: tf.random.stateless_uniform(shape, seed),
        "normal numbers": lambda seed: tf.random.stateless_normal(shape, seed),
        "truncated normal numbers": lambda seed: tf.random.stateless_truncated_normal(shape, seed),
        "whole numbers": lambda seed: tf.random.stateless_uniform(shape, seed, maxval=1000, dtype=tf.int32),
        "gamma numbers": lambda seed: tf.random.stateless_gamma([256, 256], seed, alpha=1.5),
    }
    return [
        *(OpCase(f"{name} of a seed", function, ((2,),), indices_below=1000) for name, function in functions.items()),
        OpCase(
            "categories of a seed",
            lambda x, seed: tf.random.stateless_categorical(x, 4, seed),
            (shape, (2,)),
            indices_below=1000,
        ),
        OpCase(
            "dropout of a seed",
            lambda x, seed: tf.nn.experimental.stateless_dropout(x, 0.3, seed),
            (shape, (2,)),
            indices_below=1000,
        ),
    ]


def random_numbers(shape: Shape) -> list[OpCase]:
    """Random ops. Most use only the shape of the given tensor; dropout and similar ops use its values."""
    functions: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
        "uniform numbers": lambda x: tf.random.uniform(shape),
        "normal numbers": lambda x: tf.random.normal(shape),
        "truncated normal numbers": lambda x: tf.random.truncated_normal(shape),
        "random whole numbers": lambda x: tf.random.uniform(shape, maxval=1000, dtype=tf.int32),
        "categories": lambda x: tf.random.categorical(x, 4),
        "shuffle": tf.random.shuffle,
        "dropout": _dropout,
        "noise added": lambda x: x + tf.random.normal(shape, stddev=0.1),
    }
    return [
        *_stateless(shape),
        *(OpCase(name, function, (shape,)) for name, function in functions.items()),
        OpCase("dropout and gradient", gradient(_dropout), (shape, shape)),
        OpCase("dropout", _dropout, (shape,), tf.bfloat16),
    ]
