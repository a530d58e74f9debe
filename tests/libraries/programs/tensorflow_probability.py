"""TensorFlow Probability: variational inference, Hamiltonian Monte Carlo, a normalizing flow, a Bayesian layer."""

from collections.abc import Generator
from typing import Any

import tensorflow as tf
import tensorflow_probability as tfp

from tests.libraries.training import Training, compiled, fitted, random

tfd, tfb = tfp.distributions, tfp.bijectors


def variational_inference() -> Training:
    x = random(64, 4)
    y = x @ random(4, 1, seed=1)[:, 0] + 0.1 * random(64, seed=2)

    @tfd.JointDistributionCoroutineAutoBatched
    def model() -> Generator[Any, Any, None]:
        weights = yield tfd.Sample(tfd.Normal(0.0, 1.0), 4, name="weights")
        scale = yield tfd.HalfNormal(1.0, name="scale")
        yield tfd.Independent(tfd.Normal(tf.linalg.matvec(x, weights), scale + 0.1), 1, name="y")

    target = model.experimental_pin(y=y)
    posterior = tfp.experimental.vi.build_factored_surrogate_posterior(
        event_shape=target.event_shape, bijector=target.experimental_default_event_space_bijector(), seed=(3, 4)
    )

    def loss() -> tf.Tensor:
        return tfp.vi.monte_carlo_variational_loss(
            target.unnormalized_log_prob, posterior, sample_size=8, seed=tf.constant([5, 6])
        )

    return fitted(posterior, loss, tf.keras.optimizers.Adam(0.05))


def hamiltonian_monte_carlo() -> Training:
    x = random(64, 4)
    y = tf.constant(x @ random(4, 1, seed=1)[:, 0] > 0, tf.float32)
    state, moves = tf.Variable(tf.zeros([8, 4])), tf.Variable(0)

    def log_probability(weights: tf.Tensor) -> tf.Tensor:
        logits = tf.linalg.matmul(weights, x, transpose_b=True)
        likelihood = tf.reduce_sum(tfd.Bernoulli(logits=logits).log_prob(y), -1)
        return likelihood + tf.reduce_sum(tfd.Normal(0.0, 1.0).log_prob(weights), -1)

    kernel = tfp.mcmc.HamiltonianMonteCarlo(log_probability, step_size=0.05, num_leapfrog_steps=5)

    @tf.function
    def train_step() -> tf.Tensor:
        results = kernel.bootstrap_results(state)
        moved, results = kernel.one_step(state, results, seed=tf.stack([7, moves]))
        state.assign(moved)
        moves.assign_add(1)
        return tf.reduce_mean(results.accepted_results.target_log_prob)

    return Training(train_step, lambda: [state], tolerance=1e-3)


def normalizing_flow() -> Training:
    network = tfb.AutoregressiveNetwork(params=2, hidden_units=[16, 16], activation="tanh")
    flow = tfd.TransformedDistribution(tfd.Sample(tfd.Normal(0.0, 1.0), 2), tfb.MaskedAutoregressiveFlow(network))
    x = random(64, 2) * 0.5 + 1.0
    flow.log_prob(x)
    return fitted(flow, lambda: -tf.reduce_mean(flow.log_prob(x)), tf.keras.optimizers.Adam(0.01))


def bayesian_layers() -> Training:
    model = tf.keras.Sequential(
        [tfp.layers.DenseFlipout(16, activation="relu", seed=1), tfp.layers.DenseFlipout(1, seed=2)]
    )
    model.compile("sgd", "mse")
    return compiled(model, random(32, 8), random(32, 1, seed=1))


PROGRAMS = {
    "variational inference": variational_inference,
    "Hamiltonian Monte Carlo": hamiltonian_monte_carlo,
    "normalizing flow": normalizing_flow,
    "Bayesian layers": bayesian_layers,
}
