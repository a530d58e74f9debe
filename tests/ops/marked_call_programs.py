"""Programs of test_marked_calls.py."""

from __future__ import annotations

import json
from collections.abc import Callable

import tensorflow as tf

from habana_frameworks.tensorflow import habana_ops, load_habana_module, statistics
from habana_frameworks.tensorflow.ops.gelu import habana_gelu
from habana_frameworks.tensorflow.ops.layer_norm import layer_norm


def _gradient(function: Callable[[tf.Tensor], tf.Tensor], x: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(function(x) * tf.range(7.0))
    return tape.gradient(y, x)


def _layer_norm_gradients(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor) -> list[tf.Tensor]:
    with tf.GradientTape() as tape:
        tape.watch([x, beta, gamma])
        y = tf.reduce_sum(layer_norm(x, beta, gamma, axes=[-1], epsilon=1e-3) * tf.range(7.0))
    return tape.gradient(y, [x, beta, gamma])


def _model(x: tf.Tensor, labels: tf.Tensor) -> dict[str, tf.Tensor]:
    loss, gradient = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=labels)
    beta, gamma = tf.range(7.0), tf.range(7.0) / 4 - 1
    dx, dbeta, dgamma = _layer_norm_gradients(x, beta, gamma)
    images = tf.reshape(x, [2, 3, 1, 7])
    return {
        "erf": tf.math.erf(x),
        "erfc": tf.math.erfc(x),
        "erfinv": tf.math.erfinv(x / 4),
        "lgamma": tf.math.lgamma(x + 3),
        "sinh": tf.math.sinh(x),
        "softmax": tf.nn.softmax(images),
        "log_softmax": tf.nn.log_softmax(x),
        "softmax_gradient": habana_ops.habana_softmax_grad(dy=x, y=tf.nn.softmax(x)),
        "gelu": habana_gelu(x),
        "gelu_gradient": _gradient(habana_gelu, x),
        "gelu_tanh_gradient": _gradient(lambda x: habana_gelu(x, approximate=True), x),
        "loss": loss,
        "gradient": gradient,
        "layer_norm": layer_norm(images, beta, gamma, axes=[-1], epsilon=1e-3),
        "layer_norm_dx": dx,
        "layer_norm_dbeta": dbeta,
        "layer_norm_dgamma": dgamma,
        "norm_of_two_axes": layer_norm(images, beta, gamma, axes=[1, 3], epsilon=1e-3),
        "norm_of_one_vector": layer_norm(x[0], beta, gamma, axes=[0], epsilon=1e-3),
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
