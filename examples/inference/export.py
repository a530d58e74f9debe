"""Trains a small classifier on handwritten digits and exports it as a SavedModel: export.py models/digits/1"""

from __future__ import annotations

import argparse

import numpy as np
import sklearn.datasets
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="the new folder of this version of the model")
    parser.add_argument("--epochs", type=int, default=40)
    arguments = parser.parse_args()
    load_habana_module()
    tf.keras.utils.set_random_seed(1)
    images, labels = sklearn.datasets.load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 8, 8, 1)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(input_shape=(8, 8, 1)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.SparseCategoricalCrossentropy(), metrics=["accuracy"])
    # 3 equal batches, so that training needs one recipe for its step.
    model.fit(images, labels, batch_size=599, epochs=arguments.epochs, verbose=0)
    # The first dimension is unknown, so that a request may contain any number of images.
    predict = tf.function(
        lambda image: {"scores": model(image, training=False)},
        input_signature=[tf.TensorSpec([None, 8, 8, 1], tf.float32, name="image")],
    )
    tf.saved_model.save(model, arguments.folder, signatures=predict)


if __name__ == "__main__":
    main()
