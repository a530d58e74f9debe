"""One model of each family of tf.keras.applications: results, gradients, saved weights. Slow (`make keras`)."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU

pytestmark = [pytest.mark.usefixtures("hpu"), pytest.mark.slow]

# Smallest model of each family, and its minimum image size (InceptionV3 and similar models: 75).
FAMILIES = {
    "ConvNeXtTiny": 32, "DenseNet121": 32, "EfficientNetB0": 32, "EfficientNetV2B0": 32, "InceptionResNetV2": 75,
    "InceptionV3": 75, "MobileNet": 32, "MobileNetV2": 32, "MobileNetV3Small": 32, "NASNetMobile": 32,
    "RegNetX002": 32, "ResNet50": 32, "ResNet50V2": 32, "ResNetRS50": 32, "VGG16": 32, "Xception": 71,
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
def test_family(name: str, tmp_path: pathlib.Path) -> None:
    size = FAMILIES[name]
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(1)
    x = np.random.default_rng(0).uniform(0, 255, (2, size, size, 3)).astype(np.float32)
    results = {}
    statistics.reset()
    for device in (CPU, HPU):
        with tf.device(device):
            model = getattr(tf.keras.applications, name)(
                weights=None, include_top=False, pooling="avg", input_shape=(size, size, 3)
            )
            if device == CPU:
                model.save_weights(tmp_path / "weights.h5")
            model.load_weights(tmp_path / "weights.h5")

            @tf.function
            def step(x: tf.Tensor, model: tf.keras.Model = model) -> tuple[tf.Tensor, list[tf.Tensor]]:
                with tf.GradientTape() as tape:
                    y = model(x, training=False)
                    # For normalised outputs (ConvNeXt), the gradient of a sum of squares would vanish.
                    loss = tf.reduce_mean(y * tf.cos(tf.range(y.shape[-1], dtype=tf.float32)))
                weights = model.trainable_weights
                return y, tape.gradient(loss, [weights[0], weights[-1]])

            results[device] = tf.nest.map_structure(lambda tensor: tensor.numpy(), step(tf.constant(x)))
    for actual, expected in zip(tf.nest.flatten(results[HPU]), tf.nest.flatten(results[CPU])):
        scale = float(np.abs(expected).max()) + 1e-12
        assert float(np.abs(actual - expected).max()) <= 2e-3 * scale
    counts = statistics.get()
    assert counts.launched_clusters and counts.fallbacks == 0
