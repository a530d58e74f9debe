"""Programs of test_composites.py."""

from __future__ import annotations

import json
from collections.abc import Callable

import tensorflow as tf

from habana_frameworks.tensorflow import habana_ops, load_habana_module, statistics
from habana_frameworks.tensorflow.ops.gelu import habana_gelu


def _gradient(function: Callable[[tf.Tensor], tf.Tensor], x: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(function(x) * tf.range(7.0))
    return tape.gradient(y, x)


def _model(x: tf.Tensor, labels: tf.Tensor) -> dict[str, tf.Tensor]:
    loss, gradient = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=labels)
    return {
        "erf": tf.math.erf(x),
        "erfc": tf.math.erfc(x),
        "erfinv": tf.math.erfinv(x / 4),
        "lgamma": tf.math.lgamma(x + 3),
        "sinh": tf.math.sinh(x),
        "softmax": tf.nn.softmax(tf.reshape(x, [2, 3, 1, 7])),
        "log_softmax": tf.nn.log_softmax(x),
        "softmax_gradient": habana_ops.habana_softmax_grad(dy=x, y=tf.nn.softmax(x)),
        "gelu": habana_gelu(x),
        "gelu_gradient": _gradient(habana_gelu, x),
        "gelu_tanh_gradient": _gradient(lambda x: habana_gelu(x, approximate=True), x),
        "loss": loss,
        "gradient": gradient,
        "empty": tf.nn.softmax(x[:0]),
        "scalar": tf.math.erf(x[0, 0]),
    }


def compute() -> None:
    """Prints results of a compiled function and of the CPU, the marks of its HLO, and the number of fallbacks."""
    load_habana_module()
    x = tf.reshape(tf.linspace(-2.0, 2.0, 42), [6, 7])
    labels = tf.constant([0, 6, 3, 2, 0, 5], tf.int64)
    with tf.device("/device:CPU:0"):
        expected = _model(x, labels)
    with tf.device("/device:HPU:0"):
        step = tf.function(_model, jit_compile=True)
        results = step(x, labels)
        text = step.experimental_get_compiler_ir(x, labels)(stage="hlo")
    operations = sorted({part.split('"')[0] for part in text.split('hpu_operation="')[1:]})
    values = [
        {name: value.numpy().ravel().tolist() for name, value in outputs.items()} for outputs in (results, expected)
    ]
    print(
        json.dumps(
            {"got": values[0], "expected": values[1], "operations": operations, "fallbacks": statistics.get().fallbacks}
        )
    )
