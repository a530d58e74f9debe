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


def _attention(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    return tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.25 + mask), v)


def _selected(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    scores = tf.where(mask > 0, tf.matmul(q, k, transpose_b=True) / 4, -1e9)
    return tf.matmul(tf.nn.softmax(scores), v)


def _by_einsum(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    weights = tf.nn.softmax(tf.einsum("bsd,btd->bts", k, q))
    return tf.einsum("bsd,bts->btd", v, weights) * mask[:, :, :1]


def _in_bfloat16(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    q, k, v = (tf.cast(x, tf.bfloat16) for x in (q, k, v))
    weights = tf.nn.softmax(tf.cast(tf.matmul(q, k, transpose_b=True), tf.float32) + mask)
    return tf.cast(tf.matmul(tf.cast(weights, tf.bfloat16), v), tf.float32)


def _in_a_loop(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, _attention(x, k, v, mask)), [0, q])[1]


def _with_weights(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) + mask)
    return tf.matmul(weights, v) + tf.reduce_sum(weights)


def _gradient_of_attention(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(q)
        y = tf.reduce_sum(_attention(q, k, v, mask) ** 2)
    return tape.gradient(y, q)


def _softmax_of_columns(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    return tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) + mask, axis=1), v)


# Number of marked calls that a program must have.
ATTENTION = {
    _attention: 1,
    _selected: 1,
    _by_einsum: 1,
    _in_bfloat16: 1,
    _in_a_loop: 1,
    lambda *x: _attention(_attention(*x), *x[1:]): 2,
    lambda q, k, v, mask: _attention(q, k, v, mask[0]): 1,
    _with_weights: 0,
    _gradient_of_attention: 0,
    _softmax_of_columns: 0,
}


def compute_attention() -> None:
    """Prints marked calls and the largest error against the CPU of each program in ATTENTION."""
    load_habana_module()
    q, k, v = (tf.random.stateless_normal([2, 8, 8], [1, seed]) for seed in range(3))
    mask = tf.random.stateless_normal([2, 8, 8], [2, 2])
    for function in ATTENTION:
        with tf.device("/device:CPU:0"):
            expected = function(q, k, v, mask)
        with tf.device("/device:HPU:0"):
            step = tf.function(function, jit_compile=True)
            error = tf.reduce_max(tf.abs(step(q, k, v, mask) - expected))
        text = step.experimental_get_compiler_ir(q, k, v, mask)(stage="hlo")
        print(json.dumps({"calls": text.count('hpu_operation="attention"'), "error": float(error)}))
