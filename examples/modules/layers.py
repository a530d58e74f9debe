"""Trains a small network of layers with fused ops, with a cyclical learning rate."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module
from habana_frameworks.tensorflow.ops.gelu import habana_gelu
from habana_frameworks.tensorflow.ops.instance_norm import HabanaInstanceNormalization
from habana_frameworks.tensorflow.ops.layer_norm import HabanaLayerNormalization
from habana_frameworks.tensorflow.optimizers.cyclical_learning_rate import CyclicalLearningRate


def main() -> None:
    load_habana_module()
    generator = np.random.default_rng(0)
    images = generator.standard_normal((128, 8, 8, 1), dtype=np.float32)
    labels = (images[:, :4].sum((1, 2, 3)) > images[:, 4:].sum((1, 2, 3))).astype(np.int32)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(8, 3, input_shape=(8, 8, 1)),
            HabanaInstanceNormalization(),
            layers.Activation(habana_gelu),
            layers.Flatten(),
            layers.Dense(16),
            HabanaLayerNormalization(),
            layers.Dense(2),
        ]
    )
    rate = CyclicalLearningRate(1e-3, 1e-2, step_size=8, scale_fn=lambda cycle: 1 / 2.0 ** (cycle - 1))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(rate), loss, metrics=["accuracy"])
    losses = model.fit(images, labels, batch_size=32, epochs=12, verbose=0).history["loss"]
    print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
