"""GPflow: a regression, and a sparse variational process with natural gradients."""

import gpflow
import numpy as np
import tensorflow as tf

from tests.libraries.training import Training, random

X = random(48, 1).astype(np.float64)
Y = np.sin(3 * X) + 0.1 * random(48, 1, seed=1)


def regression() -> Training:
    model = gpflow.models.GPR((X, Y), gpflow.kernels.Matern52())
    optimizer = tf.keras.optimizers.Adam(0.05)

    @tf.function
    def train_step() -> tf.Tensor:
        optimizer.minimize(model.training_loss, model.trainable_variables)
        return model.training_loss()

    return Training(train_step, lambda: model.trainable_variables)


def natural_gradients() -> Training:
    model = gpflow.models.SVGP(gpflow.kernels.RBF(), gpflow.likelihoods.StudentT(), X[:8].copy(), num_data=48)
    gpflow.set_trainable(model.q_mu, False)
    gpflow.set_trainable(model.q_sqrt, False)
    loss = model.training_loss_closure((X, Y), compile=False)
    natural, adam = gpflow.optimizers.NaturalGradient(0.1), tf.keras.optimizers.Adam(0.01)

    @tf.function
    def train_step() -> tf.Tensor:
        natural.minimize(loss, [(model.q_mu, model.q_sqrt)])
        adam.minimize(loss, model.trainable_variables)
        return loss()

    return Training(train_step, lambda: [model.q_mu.unconstrained_variable, *model.trainable_variables])


PROGRAMS = {"GPR": regression, "SVGP, natural gradients": natural_gradients}
