"""Sonnet: a little GAN, and a recurrent network."""

import sonnet as snt
import tensorflow as tf

from tests.libraries.training import Training, random


def gan() -> Training:
    generator, discriminator = snt.nets.MLP([32, 32, 8]), snt.nets.MLP([32, 32, 1])
    optimizers = snt.optimizers.Adam(1e-3, beta1=0.0), snt.optimizers.Adam(1e-3, beta1=0.0)
    real, noise = tf.constant(random(64, 8)), tf.constant(random(64, 4, seed=1))
    cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits

    @tf.function
    def train_step() -> tf.Tensor:
        with tf.GradientTape(persistent=True) as tape:
            fakes = discriminator(generator(noise))
            reals = discriminator(real)
            generator_loss = tf.reduce_mean(cross_entropy(tf.ones_like(fakes), fakes))
            discriminator_loss = tf.reduce_mean(
                cross_entropy(tf.zeros_like(fakes), fakes) + cross_entropy(tf.ones_like(reals), reals)
            )
        losses = generator_loss, discriminator_loss
        for loss, module, optimizer in zip(losses, (generator, discriminator), optimizers):
            variables = module.trainable_variables
            optimizer.apply(tape.gradient(loss, variables), variables)
        return generator_loss + discriminator_loss

    # Adam without beta1 divides gradients by their own size, so that rounding decides about the smallest of them.
    return Training(train_step, lambda: generator.trainable_variables + discriminator.trainable_variables, 1e-3)


def recurrent() -> Training:
    core, head = snt.LSTM(16), snt.Linear(1)
    optimizer = snt.optimizers.Momentum(1e-2, 0.9)
    x, y = tf.constant(random(10, 16, 8)), tf.constant(random(16, 1, seed=1))

    @tf.function
    def train_step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            outputs, _ = snt.dynamic_unroll(core, x, core.initial_state(16))
            loss = tf.reduce_mean(tf.square(head(outputs[-1]) - y))
        variables = core.trainable_variables + head.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    return Training(train_step, lambda: core.trainable_variables + head.trainable_variables)


PROGRAMS = {"GAN": gan, "LSTM": recurrent}
