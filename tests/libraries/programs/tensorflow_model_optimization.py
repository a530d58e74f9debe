"""TensorFlow Model Optimization: training with pruning, with quantization, and with clustered weights."""

import tensorflow as tf
import tensorflow_model_optimization as tfmot

from tests.libraries.training import Training, compiled, labels, random


def network() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [layers.Input([8, 8, 3]), layers.Conv2D(8, 3, activation="relu"), layers.Flatten(), layers.Dense(3)]
    )


def training(model: tf.keras.Model, tolerance: float = 1e-4) -> Training:
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return compiled(model, random(16, 8, 8, 3), labels(16, 3), tolerance)


def pruning() -> Training:
    schedule = tfmot.sparsity.keras.PolynomialDecay(0.1, 0.5, begin_step=0, end_step=20, frequency=2)
    model = tfmot.sparsity.keras.prune_low_magnitude(network(), schedule)
    trained = training(model)
    updates = tfmot.sparsity.keras.UpdatePruningStep()
    updates.set_model(model)
    updates.on_train_begin()

    def step() -> float:
        updates.on_train_batch_begin(0)
        return float(trained.step())

    return Training(step, trained.weights)


def quantization() -> Training:
    # A rounded value next to a border may become another step of the quantizer.
    return training(tfmot.quantization.keras.quantize_model(network()), tolerance=1e-3)


def clustering() -> Training:
    options = {"number_of_clusters": 4, "cluster_centroids_init": tfmot.clustering.keras.CentroidInitialization.LINEAR}
    return training(tfmot.clustering.keras.cluster_weights(network(), **options))


PROGRAMS = {"pruning": pruning, "quantization": quantization, "weight clustering": clustering}
