"""Trains with Keras's augmentation layers, which draw random numbers from 64-bit keys. A card computes the keys on
the CPU.
"""

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
layers = tf.keras.layers
model = tf.keras.Sequential(
    [
        *(layers.Input((16, 16, 3)), layers.RandomFlip(), layers.RandomRotation(0.1), layers.RandomContrast(0.1)),
        *(layers.Conv2D(4, 3), layers.GlobalAveragePooling2D(), layers.Dropout(0.2), layers.Dense(10)),
    ]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
rng = np.random.default_rng(0)
model.fit(rng.random((64, 16, 16, 3), np.float32), rng.integers(0, 10, 64), batch_size=32, verbose=2)
