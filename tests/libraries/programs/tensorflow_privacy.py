"""TensorFlow Privacy: differentially private gradients, whose noise is drawn in the step."""

import tensorflow as tf
import tensorflow_privacy as privacy

from tests.libraries.training import Training, compiled, labels, random

LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def optimizer() -> Training:
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(3)])
    made = privacy.DPKerasAdamOptimizer(l2_norm_clip=1.0, noise_multiplier=0.5, num_microbatches=8, learning_rate=1e-2)
    model.compile(made, LOSS)
    return compiled(model, random(32, 16), labels(32, 3))


def model() -> Training:
    layers = tf.keras.layers
    inputs = layers.Input(16)
    outputs = layers.Dense(3)(layers.Dense(16, "relu")(inputs))
    # With XLA, the CPU draws other noise, XLA's, than without. The HPU always draws the noise of the CPU's kernels.
    made = privacy.DPModel(l2_norm_clip=1.0, noise_multiplier=0.5, use_xla=False, inputs=inputs, outputs=outputs)
    made.compile("sgd", LOSS)
    return compiled(made, random(32, 16), labels(32, 3))


PROGRAMS = {"DPKerasAdamOptimizer": optimizer, "DPModel": model}
