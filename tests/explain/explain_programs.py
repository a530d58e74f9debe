"""Program for test_explain.py."""

from __future__ import annotations

import tensorflow as tf

import habana_frameworks.tensorflow as htf


def explain() -> None:
    """Explains a function, and prints the rule and the CPU fallbacks of its cluster."""
    htf.load_habana_module()

    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x) * 2.0 + 1.0

    explained = htf.explain(f, tf.ones([4]))
    (cluster,) = explained.graphs[0].clusters
    print(cluster.rule, cluster.fallbacks, cluster.fallback_bytes, explained.graphs[0].op("Tanh").rule)
