"""Train steps with branches for test_branch_gradients.py. As a program: compares them with the CPU's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module
from tests.support.compare import CPU, HPU
from tests.support.keras_package import legacy_optimizers

Program = Callable[[tf.Tensor, tf.Tensor, tf.Variable], tf.Tensor]
WIDTH = 4
NUMBERS = (0, 1, 2, 3, -1, 4)


def cond(x: tf.Tensor, number: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    return tf.cond(number > 0, lambda: tf.tanh(x @ w) * 2.0, lambda: tf.sin(x) @ w)


def switch_case(x: tf.Tensor, number: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    branches = [lambda: tf.tanh(x @ w) * 2.0, lambda: tf.sin(x) @ w, lambda: tf.exp(x * 0.1) @ w * w[0]]
    return tf.switch_case(number % 3, branches)


def nested(x: tf.Tensor, number: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    def inner() -> tf.Tensor:
        return tf.cond(number > 2, lambda: tf.tanh(x @ w) * 2.0, lambda: tf.sigmoid(x @ w))

    return tf.cond(number > 0, inner, lambda: tf.sin(x) @ w)


def in_a_loop(x: tf.Tensor, number: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    for i in tf.range(4):
        x = tf.tanh(x @ w) * 2.0 if i % 2 == number % 2 else tf.sin(x) @ w + 1.0
    return x


def a_loop_inside(x: tf.Tensor, number: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    y = tf.nn.relu(x @ w)
    if number > 1:
        for _ in tf.range(3):
            y = tf.tanh(y @ w)
    return y


def by_a_value(x: tf.Tensor, number: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    y = tf.nn.relu(x @ w)
    return tf.cond(tf.reduce_mean(y) > 0.2, lambda: tf.nn.softmax(y @ w), lambda: y * y)


def lazy_penalty(x: tf.Tensor, number: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    """The gradient penalty of a GAN in each second step: a gradient of a gradient."""

    def penalty() -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            score = tf.reduce_sum(tf.tanh(x @ w))
        return tf.reduce_sum(tape.gradient(score, x) ** 2)

    return tf.tanh(x @ w) + tf.cond(number % 2 == 0, penalty, lambda: 0.0)


def lookup(x: tf.Tensor, number: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    row = tf.abs(number) % WIDTH
    return x * tf.cond(number > 1, lambda: tf.gather(w, row), lambda: tf.tanh(tf.gather(w, row // 2)) * 2.0)


PROGRAMS = (cond, switch_case, nested, in_a_loop, a_loop_inside, by_a_value, lazy_penalty, lookup)


def train(program: Program, rows: int | None, device: str, jit_compile: bool = False) -> list[float]:
    """Returns the losses of one step for each number. `rows`: the batch size in the signature."""
    random = np.random.default_rng(0)
    with tf.device(device):
        weights = tf.Variable(random.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.5)
        batch = tf.constant(random.normal(size=(3, WIDTH)).astype(np.float32))
        optimizer = legacy_optimizers().SGD(0.02)
        signature = [tf.TensorSpec([rows, WIDTH]), tf.TensorSpec([], tf.int32)]

        @tf.function(input_signature=signature, jit_compile=jit_compile)
        def step(x: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(program(x, number, weights) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
            return loss

        return [float(step(batch, tf.constant(number))) for number in NUMBERS]


def main() -> None:
    load_habana_module()
    for program in PROGRAMS:
        np.testing.assert_allclose(train(program, None, HPU), train(program, None, CPU), rtol=2e-5)
        print(program.__name__)


if __name__ == "__main__":
    main()
