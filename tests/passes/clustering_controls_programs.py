"""Program for test_clustering_controls.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics


def three_clusters() -> None:
    load_habana_module()
    for n in range(3):
        tf.function(lambda x: tf.tanh(x) * 2.0)(tf.ones([n + 1]))
    print("LAUNCHES", sum(cluster.launches for cluster in statistics.get().clusters))
