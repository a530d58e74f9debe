"""Programs for test_refused_ops.py."""

from __future__ import annotations

import json

import tensorflow as tf

import habana_frameworks.tensorflow as htf


def explain_ops_without_nodes() -> None:
    """Runs a function with ops that no Gaudi computes; prints its results on HPU and CPU, and the explanation."""
    htf.load_habana_module()

    def model(x: tf.Tensor) -> tf.Tensor:
        hidden = tf.tanh(tf.matmul(x, x), name="hidden")
        spectrum = tf.abs(tf.signal.fft(tf.complex(hidden, x)))
        exact = tf.cast(tf.sin(tf.cast(spectrum, tf.float64), name="exact"), tf.float32)
        return tf.reduce_sum(tf.exp(-tf.square(exact)) + tf.cos(hidden))

    x = tf.reshape(tf.linspace(-1.0, 1.0, 64), [8, 8])
    with tf.device("/device:CPU:0"):
        expected = model(x)
    with tf.device("/device:HPU:0"):
        result = tf.function(model)(x)
    graph = htf.explain(model, x).graph("model")
    ops = [
        {"type": op.type, "cluster": op.cluster, "rule": op.rule, "reason": op.reason, "cpu_runs": op.cpu_runs}
        for op in graph.ops
    ]
    print(json.dumps({"result": float(result), "expected": float(expected), "ops": ops}))
