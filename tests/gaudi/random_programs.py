"""Programs for test_card_random.py."""

from __future__ import annotations

import json
import os

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def _step() -> dict[str, tf.Tensor]:
    with tf.device("/device:HPU:0"):
        return {
            "uniform": tf.random.uniform([50, 40]),
            "normal": tf.random.normal([7, 11, 13]),
            "bfloat16": tf.cast(tf.random.uniform([50, 40], dtype=tf.bfloat16), tf.float32),
            "stateless": tf.random.stateless_uniform([5], [1, 2]),
        }


def draw(settings: list[dict[str, str]]) -> None:
    """Prints the numbers of two calls of a compiled function, for each of the settings."""
    load_habana_module()
    results = []
    for setting in settings:
        os.environ.update(setting)
        tf.random.set_seed(7)
        step = tf.function(_step, autograph=False)
        results.append([{name: x.numpy().ravel().tolist() for name, x in step().items()} for _ in range(2)])
    print(json.dumps(results))
