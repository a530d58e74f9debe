"""TensorFlow Lattice: a calibrated lattice with constraints on its shape."""

import numpy as np
import tensorflow as tf
import tensorflow_lattice as tfl

from tests.libraries.training import Training, compiled, random


def calibrated() -> Training:
    inputs = [tf.keras.layers.Input([1]) for _ in range(3)]
    calibrated = [
        tfl.layers.PWLCalibration(np.linspace(-2, 2, 6), output_min=0.0, output_max=1.0, monotonicity="increasing")(x)
        for x in inputs
    ]
    lattice = tfl.layers.Lattice([2, 2, 2], monotonicities=["increasing"] * 3, output_min=0.0, output_max=1.0)
    model = tf.keras.Model(inputs, lattice(calibrated))
    model.compile(tf.keras.optimizers.Adagrad(0.1), "mse")
    x = random(32, 3)
    y = (x.sum(1, keepdims=True) > 0).astype(np.float32)
    # Projections onto the constraints amplify rounding: on the CPU, weights that begin 1e-7 apart end 1e-4 apart.
    return compiled(model, [x[:, :1], x[:, 1:2], x[:, 2:]], y, tolerance=1e-3)


PROGRAMS = {"calibrated lattice": calibrated}
