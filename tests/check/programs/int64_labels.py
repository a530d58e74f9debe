"""Labels of a type that the card does not have."""

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
images, labels = np.ones([32, 5], np.float32), np.zeros(32, np.int64)
model.fit(images, labels, verbose=0)  # fails on the card
