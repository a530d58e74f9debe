"""KerasTuner: a search over two models, each of which trains as Keras does."""

import tempfile

import keras_tuner
import tensorflow as tf

from tests.libraries.training import Training, labels, random


def search() -> Training:
    def build(choices: keras_tuner.HyperParameters) -> tf.keras.Model:
        layers = tf.keras.layers
        units = choices.Choice("units", [16, 32])
        model = tf.keras.Sequential([layers.Input([8]), layers.Dense(units, "relu"), layers.Dense(3)])
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    with tempfile.TemporaryDirectory() as directory:
        tuner = keras_tuner.GridSearch(build, "val_loss", directory=directory, seed=1)
        x, y = random(32, 8), labels(32, 3)
        tuner.search(x, y, batch_size=32, epochs=2, validation_data=(x, y), verbose=0)
        model = build(tuner.get_best_hyperparameters()[0])
    return Training(lambda: model.train_on_batch(x, y, return_dict=True)["loss"], lambda: model.trainable_weights)


PROGRAMS = {"grid search": search}
