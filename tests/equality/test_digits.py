"""The example CNN reaches the same accuracy on the HPU as on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU
from tests.support.digits import load_digits

SEEDS = range(5)
EPOCHS = 4


def cnn() -> tf.keras.Model:
    """CNN without dropout, so that a run depends only on weights and batches."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(16, 3, padding="same", use_bias=False, input_shape=(8, 8, 1)),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )


def accuracies(digits: Any, seed: int) -> dict[str, float]:
    """Returns test accuracies after training from equal weights on the CPU and on the HPU."""
    tf.keras.utils.set_random_seed(seed)
    order = np.random.default_rng(seed).permutation(len(digits.train_images))
    found, weights = {}, None
    for device in (CPU, HPU):
        with tf.device(device):
            model = cnn()
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(tf.keras.optimizers.Adam(2e-3), loss, metrics=["accuracy"])
            weights = weights or model.get_weights()
            model.set_weights(weights)
            train = digits.train_images[order], digits.train_labels[order]
            model.fit(*train, batch_size=64, epochs=EPOCHS, shuffle=False, verbose=0)
            found[device] = model.evaluate(digits.test_images, digits.test_labels, batch_size=120, verbose=0)[1]
    return found


@pytest.mark.slow
def test_accuracy_over_five_seeds() -> None:
    digits = load_digits()
    runs = [accuracies(digits, seed) for seed in SEEDS]
    on_cpu, on_hpu = (float(np.mean([run[device] for run in runs])) for device in (CPU, HPU))
    assert on_cpu > 0.95
    assert abs(on_hpu - on_cpu) <= 0.015, (on_hpu, on_cpu)
    counts = statistics.get()
    assert counts.fallbacks == 0
    assert sum(cluster.launches for cluster in counts.launched_clusters if "train" in cluster.name) >= 5 * EPOCHS * 22
