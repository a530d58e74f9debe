"""Trainings that amplify rounding: weights on the HPU are as close to float64 weights as float32 weights on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_one_cluster
from tests.support.compare import CPU, HPU, distance

layers = tf.keras.layers

STEPS = 6
# Accepted ratio of the HPU's distance to the CPU's. Both are sums of rounding errors in different orders.
RATIO = 3.0
BATCH = 8


class Problem(NamedTuple):
    """Models that are trained together. `losses` returns a loss for each of them."""

    build: Callable[[], list[tf.keras.Model]]
    losses: Callable[..., list[tf.Tensor]]
    data: Sequence[tuple[int, ...]]
    optimizer: Callable[[], Any]


def perceptron(inputs: int, outputs: int) -> tf.keras.Model:
    sizes = [layers.Dense(32, "relu"), layers.Dense(32, "relu"), layers.Dense(outputs)]
    return tf.keras.Sequential([layers.Input([inputs]), *sizes])


def build_gan() -> list[tf.keras.Model]:
    return [perceptron(4, 8), perceptron(8, 1)]


def gan_losses(models: list[tf.keras.Model], noise: tf.Tensor, real: tf.Tensor) -> list[tf.Tensor]:
    generator, discriminator = models
    fakes, reals = discriminator(generator(noise)), discriminator(real)
    cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits
    on_fakes = cross_entropy(tf.zeros_like(fakes), fakes)
    on_reals = cross_entropy(tf.ones_like(reals), reals)
    return [tf.reduce_mean(cross_entropy(tf.ones_like(fakes), fakes)), tf.reduce_mean(on_fakes + on_reals)]


def build_detector() -> list[tf.keras.Model]:
    """Returns convolutions in the manner of YOLOv3, which predict boxes at two scales."""

    def convolution(x: Any, filters: int, size: int, strides: int = 1) -> Any:
        x = layers.Conv2D(filters, size, strides, "same", use_bias=False)(x)
        return layers.LeakyReLU(0.1)(layers.BatchNormalization()(x))

    x = inputs = layers.Input([32, 32, 3])
    scales = []
    for filters in (8, 16, 32):
        x = convolution(x, filters, 3, strides=2)
        x = layers.Add()([x, convolution(convolution(x, filters // 2, 1), filters, 3)])
        scales.append(x)
    coarse = convolution(scales[2], 16, 1)
    fine = layers.Concatenate()([layers.UpSampling2D()(coarse), scales[1]])
    return [tf.keras.Model(inputs, [layers.Conv2D(15, 1)(coarse), layers.Conv2D(15, 1)(convolution(fine, 16, 3))])]


def detector_losses(models: list[tf.keras.Model], images: tf.Tensor, *boxes: tf.Tensor) -> list[tf.Tensor]:
    """Sums over all boxes instead of averaging, so that gradients are large."""
    outputs = models[0](images, training=True)
    return [tf.add_n([tf.reduce_sum(tf.square(output - box)) for output, box in zip(outputs, boxes)])]


PATCHES, VISIBLE, WIDTH = 16, 4, 32


def attention_block(x: Any) -> Any:
    normal = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, WIDTH // 2)(normal, normal)])
    hidden = layers.Dense(2 * WIDTH, "gelu")(layers.LayerNormalization()(x))
    return layers.Add()([x, layers.Dense(WIDTH)(hidden)])


def build_autoencoder() -> list[tf.keras.Model]:
    """Returns the encoder of the visible patches, and the decoder of all of them."""
    visible, encoded = layers.Input([VISIBLE, 48]), layers.Input([PATCHES, WIDTH])
    encoder = tf.keras.Model(visible, attention_block(layers.Dense(WIDTH)(visible)))
    return [encoder, tf.keras.Model(encoded, layers.Dense(48)(attention_block(encoded)))]


def autoencoder_losses(models: list[tf.keras.Model], patches: tf.Tensor, noise: tf.Tensor) -> list[tf.Tensor]:
    encoder, decoder = models
    order = tf.argsort(noise, axis=1)
    visible = encoder(tf.gather(patches, order[:, :VISIBLE], batch_dims=1))
    masked = tf.zeros([BATCH, PATCHES - VISIBLE, WIDTH], visible.dtype)
    shuffled = tf.concat([visible, masked], 1)
    decoded = decoder(tf.gather(shuffled, tf.argsort(order, axis=1), batch_dims=1))
    errors = tf.reduce_mean(tf.square(decoded - patches), -1)
    loss = tf.reduce_mean(tf.gather(errors, order[:, VISIBLE:], batch_dims=1))
    return [loss, loss]


def adam_without_momentum() -> Any:
    """Returns an optimizer that divides each gradient by its own size, and so enlarges the errors of small ones."""
    return tf.keras.optimizers.Adam(1e-2, beta_1=0.0, epsilon=1e-8)


PROBLEMS = {
    "gan": Problem(
        build_gan,
        gan_losses,
        [(BATCH, 4), (BATCH, 8)],
        adam_without_momentum,
    ),
    "detector": Problem(
        build_detector,
        detector_losses,
        [(BATCH, 32, 32, 3), (BATCH, 4, 4, 15), (BATCH, 8, 8, 15)],
        lambda: tf.keras.optimizers.SGD(1e-4, 0.9),
    ),
    "masked-autoencoder": Problem(
        build_autoencoder,
        autoencoder_losses,
        [(BATCH, PATCHES, 48), (BATCH, PATCHES)],
        lambda: tf.keras.optimizers.Adam(1e-2),
    ),
}


Weights = list[list[np.ndarray]]  # of all models


def train(problem: Problem, device: str, dtype: str, weights: Weights | None = None) -> list[Weights]:
    """Returns the trainable weights before the first step and after each step."""
    generator = np.random.default_rng(5)
    data = [generator.standard_normal(shape).astype(np.float32).astype(dtype) for shape in problem.data]
    tf.keras.mixed_precision.set_global_policy(dtype)
    try:
        with tf.device(device):
            models = problem.build()
            optimizers = [problem.optimizer() for _ in models]
            batch = [tf.constant(array) for array in data]
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    for model, initial in zip(models, weights or []):
        for weight, array in zip(model.trainable_weights, initial):
            weight.assign(array.astype(dtype))

    @tf.function
    def train_step(batch: list[tf.Tensor]) -> None:
        with tf.GradientTape(persistent=True) as tape:
            losses = problem.losses(models, *batch)
        variables = [model.trainable_variables for model in models]
        gradients = [tape.gradient(loss, updated) for loss, updated in zip(losses, variables)]
        for optimizer, gradient, updated in zip(optimizers, gradients, variables):
            optimizer.apply_gradients(zip(gradient, updated))

    def current() -> Weights:
        return [[weight.numpy() for weight in model.trainable_weights] for model in models]

    found = [current()]
    with tf.device(device):
        for _ in range(STEPS):
            train_step(batch)
            found.append(current())
    return found


def apart(one: Weights, other: Weights) -> float:
    return distance(*([array for model in weights for array in model] for weights in (one, other)))


# The others take long to compile.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "gan" else pytest.mark.slow) for name in sorted(PROBLEMS)]
)
def test_weights_against_float64(name: str) -> None:
    tf.keras.utils.set_random_seed(2)
    problem = PROBLEMS[name]
    initial = train(problem, CPU, "float32")[0]
    exact = train(problem, CPU, "float64", initial)
    on_cpu = train(problem, CPU, "float32", initial)
    on_hpu = train(problem, HPU, "float32", initial)
    assert_one_cluster("train_step", launches=STEPS)
    distances = [(apart(cpu, best), apart(hpu, best)) for cpu, hpu, best in zip(on_cpu[1:], on_hpu[1:], exact[1:])]
    print(name, *(f"{cpu:.2g}/{hpu:.2g}" for cpu, hpu in distances))  # noqa: T201
    assert all(cpu > 0 for cpu, _ in distances), distances
    assert all(hpu <= RATIO * cpu for cpu, hpu in distances), distances
    assert apart(exact[0], exact[-1]) > 100 * distances[-1][1], "the models do not train"
