"""HabanaEstimator with batches that tf.data prefetches to the HPU."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import HabanaEstimator, load_habana_module

tf1 = tf.compat.v1
X = np.random.default_rng(0).standard_normal((64, 4), dtype=np.float32)
Y = X.sum(1, keepdims=True)


def input_fn() -> tf.data.Dataset:
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16).repeat(25)
    return dataset.apply(tf.data.experimental.prefetch_to_device("/device:HPU:0"))


def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> Any:
    with tf1.variable_scope("model", use_resource=True):
        weights = tf1.get_variable("weights", [4, 1], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean((features @ weights - labels) ** 2)
    train = tf1.train.AdamOptimizer(0.05).minimize(loss, tf1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def main() -> None:
    load_habana_module()
    with tempfile.TemporaryDirectory() as directory:
        estimator = HabanaEstimator(model_fn, model_dir=directory)
        estimator.train(input_fn)
        loss = estimator.evaluate(input_fn, steps=4)["loss"]
        print(f"loss {loss:.4f} with weights {estimator.get_variable_value('model/weights').ravel()}")


if __name__ == "__main__":
    main()
