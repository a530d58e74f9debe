"""Loops, branches and recurrent layers: values and gradients equal the CPU's, inside and outside clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_launched, assert_one_cluster
from tests.support.compare import CPU, HPU, assert_close, assert_same_graph, assert_same_on_hpu

tf1 = tf.compat.v1

X = np.random.default_rng(0).standard_normal((4, 8), dtype=np.float32)
W = 0.3 * np.random.default_rng(1).standard_normal((8, 8), dtype=np.float32)
N = np.array(5, np.int32)


@pytest.mark.parametrize("maximum", [None, 20])
def test_while_loop(maximum: int | None) -> None:
    def power(x: tf.Tensor, w: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        _, y = tf.while_loop(
            lambda i, _: i < n, lambda i, y: (i + 1, tf.tanh(y @ w)), (0, x), maximum_iterations=maximum
        )
        return y

    assert_same_graph(power, X, W, N)


def test_while_loop_that_ends_by_its_values() -> None:
    def halve(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.while_loop(  # type: ignore[no-any-return]
            lambda _, y: tf.reduce_max(tf.abs(y)) > 0.1, lambda i, y: (i + 1, y * 0.5), (0, x)
        )

    assert_same_graph(halve, X)


def test_loop_without_a_turn() -> None:
    def none(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y * 2.0), (0, x))[1]

    assert_same_graph(none, X, np.array(0, np.int32), clusters=False)


def test_loops_whose_counter_starts_beyond_the_end() -> None:
    """Among them, loops that start beyond the end by less than a step. XLA's newer releases would run them once."""
    up, down = (tf.less, tf.less_equal), (tf.greater, tf.greater_equal)

    def turns(x: tf.Tensor) -> tf.Tensor:
        def run(compare: Callable[[object, object], tf.Tensor], first: int, step: int) -> tf.Tensor:
            return tf.while_loop(lambda i, _: compare(i, 3), lambda i, y: (i + step, y + x), (first, x))[1]

        loops = [run(compare, first, step) for compare in up for first in (2, 3, 4, 5) for step in (1, 2, 3)]
        loops += [run(compare, first, -step) for compare in down for first in (1, 2, 3, 4) for step in (1, 2, 3)]
        return tf.stack(loops)

    assert_same_graph(turns, np.float32(1))


def test_nested_loops() -> None:
    def nested(x: tf.Tensor, w: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        def inner(y: tf.Tensor, turns: tf.Tensor) -> tf.Tensor:
            return tf.while_loop(
                lambda j, _: j < turns, lambda j, z: (j + 1, tf.sin(z @ w)), (0, y), maximum_iterations=8
            )[1]

        return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, inner(y, i)), (0, x), maximum_iterations=8)[1]

    assert_same_graph(nested, X, W, N)


@pytest.mark.parametrize("positive", [True, False])
def test_cond(positive: bool) -> None:
    def branch(x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x @ w), lambda: tf.exp(x) @ w)

    assert_same_graph(branch, np.abs(X) if positive else -np.abs(X), W)


@pytest.mark.parametrize("index", [0, 1, 2, 7])
def test_switch_case(index: int) -> None:
    def switch(i: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        return tf.switch_case(i, [lambda: x * 2, lambda: tf.tanh(x), lambda: x + 1], default=lambda: -x)

    # Branches of one op each do not form clusters.
    assert_same_graph(switch, np.array(index, np.int32), X, clusters=False)


def test_branches_that_write_variables() -> None:
    def run(x: tf.Tensor) -> list[tf.Tensor]:
        count, total = tf.Variable(0), tf.Variable(tf.zeros([8]))

        @tf.function
        def step(x: tf.Tensor) -> tf.Tensor:
            if tf.reduce_sum(x) > 0:
                count.assign_add(1)
                total.assign_add(tf.reduce_sum(x, 0))
            else:
                total.assign(-total)
            return total * 2.0

        return [step(x), step(-x), step(x), total.read_value(), count.read_value()]

    assert_same_on_hpu(run, np.abs(X))


def test_map_fn() -> None:
    def per_row(x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
        return tf.map_fn(lambda row: tf.linalg.matvec(w, row) * tf.reduce_sum(row), x)

    assert_same_graph(per_row, X, W, clusters=False)


def test_map_fn_of_unknown_length() -> None:
    def per_row(x: tf.Tensor) -> tf.Tensor:
        return tf.map_fn(lambda row: tf.sin(row) * tf.reduce_sum(row), x)

    for rows in (1, 3, 4):
        assert_same_graph(per_row, X[:rows], clusters=False, signature=[tf.TensorSpec([None, 8], tf.float32)])


def test_scan() -> None:
    def running(x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
        return tf.scan(lambda state, row: tf.tanh(tf.linalg.matvec(w, state) + row), x, initializer=tf.zeros([8]))

    assert_same_graph(running, X, W, clusters=False)


def test_vectorized_map() -> None:
    assert_same_graph(lambda x: tf.vectorized_map(lambda row: tf.nn.softmax(row) * row, x), X)


def test_break_and_continue() -> None:
    def collatz(x: tf.Tensor, n: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        steps = 0
        while n > 0:
            steps += 1
            if n == 1:
                break
            if n % 2 == 1:
                n = 3 * n + 1
                continue
            n = n // 2
            x = tf.sin(x) * 1.1
        return steps, x

    _, (gradient, *_) = assert_same_graph(collatz, X, np.array(7, np.int32))
    assert np.abs(gradient).max() > 0


def test_for_over_a_tensor_until_a_break() -> None:
    def find(x: tf.Tensor) -> tf.Tensor:
        total = tf.zeros([8])
        for row in x:
            total += row
            if tf.reduce_sum(total) > 0.5:
                total *= 2.0
                break
        return total

    for x in (X, np.abs(X), -np.abs(X)):
        assert_same_graph(find, x)


def test_tensor_array() -> None:
    def collect(x: tf.Tensor) -> tf.Tensor:
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[8])
        for i in tf.range(tf.shape(x)[0]):
            array = array.write(i, tf.sin(x[i]) * tf.cast(i, tf.float32))
        return array.stack()

    assert_same_graph(collect, X)


def test_loops_around_uncompilable_ops() -> None:
    seen: list[float] = []

    def note(value: Any) -> Any:
        seen.append(float(value))
        return np.float32(value) * np.float32(2)

    def run(x: tf.Tensor, w: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        text = tf.constant("")
        for _ in tf.range(3):
            x = tf.tanh(x @ w) + 0.1
            x += tf.ensure_shape(tf.numpy_function(note, [tf.reduce_max(x)], tf.float32), [])
            text = tf.strings.join([text, tf.strings.as_string(tf.cast(tf.size(x), tf.int32))], separator=",")
        return x, tf.strings.length(text)

    assert_same_graph(run, X, W, gradients=False)
    assert len(seen) == 6
    np.testing.assert_allclose(seen[3:], seen[:3], rtol=1e-5)


def test_branches_around_uncompilable_ops() -> None:
    def run(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        def down() -> tuple[tf.Tensor, tf.Tensor]:
            return tf.exp(x) * 2.0, tf.strings.length(tf.strings.as_string(tf.reduce_sum(x) < 0))

        return tf.cond(tf.reduce_sum(x) > 0, lambda: (tf.tanh(x) * x, 0), down)  # type: ignore[no-any-return]

    for x in (np.abs(X), -np.abs(X)):
        assert_same_graph(run, x)


LAYERS: dict[str, Callable[[], tf.keras.layers.Layer]] = {
    "lstm": lambda: tf.keras.layers.LSTM(5),
    "lstm-sequences": lambda: tf.keras.layers.LSTM(5, return_sequences=True, recurrent_dropout=0.0, unroll=False),
    "gru": lambda: tf.keras.layers.GRU(5),
    "gru-reset-before": lambda: tf.keras.layers.GRU(5, reset_after=False),
    "simple": lambda: tf.keras.layers.SimpleRNN(5),
    "bidirectional": lambda: tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(5, return_sequences=True)),
    "cells": lambda: tf.keras.layers.RNN([tf.keras.layers.LSTMCell(5), tf.keras.layers.GRUCell(4)]),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("masked", [False, True])
def test_recurrent_layers(name: str, masked: bool) -> None:
    inputs = np.random.default_rng(2).standard_normal((3, 6, 4), dtype=np.float32)
    mask = tf.sequence_mask([6, 3, 1], 6) if masked else None
    tf.keras.utils.set_random_seed(2)

    def build(device: str) -> tf.keras.layers.Layer:
        with tf.device(device):
            layer = LAYERS[name]()
            layer.build(inputs.shape)
        return layer

    layers = {device: build(device) for device in (CPU, HPU)}
    layers[HPU].set_weights(layers[CPU].get_weights())
    results = {}
    for device, layer in layers.items():

        @tf.function
        def run(x: tf.Tensor, layer: tf.keras.layers.Layer = layer) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = layer(x, mask=mask)
            return y, tape.gradient(y, [x, *layer.trainable_variables])

        with tf.device(device):
            results[device] = run(tf.constant(inputs))
    assert_close(results[HPU], results[CPU], context=name)
    assert_launched()


def test_recurrent_model_trains() -> None:
    generator = np.random.default_rng(3)
    x, y = generator.standard_normal((32, 7, 4), dtype=np.float32), generator.integers(0, 3, 32)
    losses, weights = {}, None
    for device in (CPU, HPU):
        with tf.device(device):
            model = tf.keras.Sequential(
                [
                    tf.keras.layers.LSTM(6, return_sequences=True, input_shape=(None, 4)),
                    tf.keras.layers.GRU(5),
                    tf.keras.layers.Dense(3),
                ]
            )
            model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        weights = weights or model.get_weights()
        model.set_weights(weights)
        with tf.device(device):
            losses[device] = model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses[HPU], losses[CPU], rtol=1e-5)
    assert_launched()


def recurrent_losses(device: str, length: int | None, steps: int, jit_compile: bool | None = None) -> list[float]:
    """Trains two recurrent layers on sequences of length 6 and returns each step's loss.

    Every call starts from the same weights.
    """
    inputs = np.random.default_rng(4).standard_normal((3, 6, 4), dtype=np.float32)
    with tf.device(device):
        layers = [tf.keras.layers.LSTM(5, return_sequences=True), tf.keras.layers.GRU(4)]
        for layer, shape in zip(layers, ((3, length, 4), (3, length, 5))):
            layer.build(shape)
            generator = np.random.default_rng(5)
            layer.set_weights([generator.standard_normal(weight.shape) for weight in layer.get_weights()])

    @tf.function(input_signature=[tf.TensorSpec((3, length, 4))], jit_compile=jit_compile)
    def recurrent_step(x: tf.Tensor) -> tf.Tensor:
        variables = [variable for layer in layers for variable in layer.trainable_variables]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layers[1](layers[0](x)) ** 2)
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(gradient * 0.1)
        return loss

    with tf.device(device):
        return [float(recurrent_step(inputs)) for _ in range(steps)]


@pytest.mark.parametrize("length", [6, None])
def test_calls_of_recurrent_layers_are_inlined_with_their_gradients(length: int | None) -> None:
    expected = recurrent_losses(CPU, length, steps=4)
    np.testing.assert_allclose(recurrent_losses(HPU, length, steps=4), expected, rtol=1e-5)
    # TensorLists get size bounds, so that loops compile as a whole.
    assert_one_cluster("recurrent_step", launches=4)


def test_train_steps_of_recurrent_layers_compile_whole() -> None:
    expected = recurrent_losses(CPU, 6, steps=4)
    np.testing.assert_allclose(recurrent_losses(HPU, 6, steps=4, jit_compile=True), expected, rtol=1e-5)
