"""Small training: the program train.py of the pages' shell blocks."""

from __future__ import annotations

import argparse

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=32)
    arguments = parser.parse_args()
    load_habana_module()
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.SGD(0.1), loss)
    images, labels = np.random.default_rng(0).random((256, 64), np.float32), np.arange(256) % 10
    model.fit(images, labels, arguments.batch_size, arguments.epochs, verbose=2)
