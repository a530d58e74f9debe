"""Train steps with loops that programs write themselves are one cluster, for known and unknown sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow.explanation import passes
from tests.support.clusters import assert_one_cluster
from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")
layers = tf.keras.layers

TURNS, WIDTH = 7, 3


@pytest.fixture(autouse=True)
def own_counters() -> None:
    statistics.reset()


def scan(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    return tf.scan(lambda state, item: tf.tanh(state @ w + item), x, initializer=tf.zeros([WIDTH, WIDTH]))


def map_each(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    return tf.map_fn(lambda item: tf.tanh(item @ w), x)


def foldl(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    return tf.foldl(lambda state, item: tf.tanh(state @ w + item), x, initializer=tf.zeros([WIDTH, WIDTH]))


def index_each(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    state = tf.zeros([WIDTH, WIDTH])
    for i in tf.range(tf.shape(x)[0]):
        state = tf.tanh(state @ w + x[i])
    return state


def gather_each(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    state = tf.zeros([WIDTH, WIDTH])
    for i in tf.range(tf.shape(x)[0]):
        state = tf.tanh(state @ w + tf.gather(x, i))
    return state


def iterate(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    state = tf.zeros([WIDTH, WIDTH])
    for item in x:
        state = tf.tanh(state @ w + item)
    return state


def backwards(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    state = tf.zeros([WIDTH, WIDTH])
    for i in tf.range(TURNS - 1, -1, -1):
        state = tf.tanh(state @ w + x[i])
    return state


def windows(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    state = tf.zeros([WIDTH, WIDTH])
    for i in tf.range(TURNS - 2):
        state = tf.tanh(state @ w + tf.reduce_sum(x[i : i + 3], axis=0))
    return state


def while_loop(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    def turn(i: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1, tf.tanh(state @ w + x[i])

    return tf.while_loop(lambda i, _: i < TURNS, turn, [0, tf.zeros([WIDTH, WIDTH])])[1]


def fill(states: tf.TensorArray, x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    state = tf.zeros([WIDTH, WIDTH])
    for i in tf.range(tf.shape(x)[0]):
        state = tf.tanh(state @ w + x[i])
        states = states.write(i, state)
    return states.stack()


def write_each(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    return fill(tf.TensorArray(tf.float32, size=tf.shape(x)[0]), x, w)


def grow(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    return fill(tf.TensorArray(tf.float32, size=0, dynamic_size=True), x, w)


def break_early(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    state = tf.zeros([WIDTH, WIDTH])
    for i in tf.range(TURNS):
        state = tf.tanh(state @ w + x[i])
        if tf.reduce_sum(state) > 0.5:
            break
    return state


def read_previous(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    states = tf.TensorArray(tf.float32, size=TURNS, clear_after_read=False).write(0, x[0])
    for i in tf.range(1, TURNS):
        states = states.write(i, tf.tanh(states.read(i - 1) @ w + x[i]))
    return states.stack()


def update_each(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    states = tf.zeros([TURNS, WIDTH, WIDTH])
    for i in tf.range(TURNS):
        states = tf.tensor_scatter_nd_update(states, [[i]], [tf.tanh(x[i] @ w)])
    return states


def look_up_each(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    """A score of transitions, as in conditional random fields."""
    score = tf.zeros([WIDTH])
    for i in tf.range(TURNS):
        tags = tf.stack([tf.range(WIDTH), (tf.range(WIDTH) + i) % WIDTH], axis=1)
        score += tf.gather_nd(w, tags) + tf.gather_nd(x[i], tags)
    return score


def loop_in_loop(x: tf.Tensor, w: tf.Variable) -> tf.Tensor:
    state = tf.zeros([WIDTH, WIDTH])
    for item in x:
        for _ in tf.range(2):
            state = tf.tanh(state @ w + item)
    return state


def train(
    make: Callable[[], tuple[Callable[[tf.Tensor], tf.Tensor], list[tf.Variable]]], spec: tf.TensorSpec, x: np.ndarray
) -> dict[str, list[float]]:
    """Returns the losses of four steps on each device."""

    def losses() -> list[float]:
        call, variables = make()

        @tf.function(input_signature=[spec])
        def loop_step(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(call(x) ** 2)
            for variable, gradient in zip(variables, tape.gradient(loss, variables)):
                variable.assign_sub(0.1 * gradient)
            return loss

        return [float(loop_step(tf.constant(x))) for _ in range(4)]

    found = {}
    for device in (CPU, HPU):
        with tf.device(device):
            found[device] = losses()
    return found


LOOPS = [
    scan,
    map_each,
    foldl,
    index_each,
    gather_each,
    iterate,
    backwards,
    windows,
    while_loop,
    write_each,
    grow,
    break_early,
    read_previous,
    update_each,
    look_up_each,
    loop_in_loop,
]


KNOWN = pytest.param(TURNS, id="known")
UNKNOWN = pytest.param(None, id="unknown")


@pytest.mark.parametrize("turns", [KNOWN, pytest.param(None, id="unknown", marks=pytest.mark.slow)])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_over_a_variable(loop: Callable[[tf.Tensor, tf.Variable], tf.Tensor], turns: int | None) -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((TURNS, WIDTH, WIDTH), dtype=np.float32)
    weights = 0.3 * generator.standard_normal((WIDTH, WIDTH), dtype=np.float32)

    def make() -> tuple[Callable[[tf.Tensor], tf.Tensor], list[tf.Variable]]:
        w = tf.Variable(weights)
        return lambda x: loop(x, w), [w]

    found = train(make, tf.TensorSpec((turns, WIDTH, WIDTH)), x)
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-4)
    assert_one_cluster("loop_step", launches=4)


@pytest.mark.parametrize("turns", [pytest.param(TURNS, id="known", marks=pytest.mark.slow), UNKNOWN])
@pytest.mark.parametrize("loop", [loop for loop in LOOPS if loop is not windows])  # not one cluster
def test_a_loop_over_a_hidden_layer(loop: Callable[[tf.Tensor, tf.Variable], tf.Tensor], turns: int | None) -> None:
    """The loop's elements have gradients, too."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal((TURNS, WIDTH, WIDTH), dtype=np.float32)
    initial = 0.3 * generator.standard_normal((2, WIDTH, WIDTH), dtype=np.float32)

    def make() -> tuple[Callable[[tf.Tensor], tf.Tensor], list[tf.Variable]]:
        v, w = tf.Variable(initial[0]), tf.Variable(initial[1])
        return lambda x: loop(tf.tanh(x @ v), w), [v, w]

    found = train(make, tf.TensorSpec((turns, WIDTH, WIDTH)), x)
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-4)
    assert_one_cluster("loop_step", launches=4)


@pytest.mark.parametrize("loop", [scan, index_each, write_each, break_early])
def test_a_loop_in_a_function_that_a_step_calls(loop: Callable[[tf.Tensor, tf.Variable], tf.Tensor]) -> None:
    """Keras 3's fit calls the step this way."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal((TURNS, WIDTH, WIDTH), dtype=np.float32)
    weights = 0.3 * generator.standard_normal((WIDTH, WIDTH), dtype=np.float32)
    batches = tf.data.Dataset.from_tensors(x).map(lambda x: tf.ensure_shape(x, [None, WIDTH, WIDTH])).repeat(4)

    def losses() -> list[float]:
        w = tf.Variable(weights)

        @tf.function
        def update(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(loop(x, w) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        loop_step = tf.function(lambda iterator: update(next(iterator)))
        iterator = iter(batches)
        return [float(loop_step(iterator)) for _ in range(4)]

    found = {}
    for device in (CPU, HPU):
        with tf.device(device):
            found[device] = losses()
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-4)
    launched = [cluster.launches for cluster in statistics.get().clusters if cluster.launches]
    assert launched == [4]


@pytest.mark.parametrize("loop", [scan, write_each, read_previous, loop_in_loop])
def test_a_loop_of_a_cluster_that_runs_on_the_cpu(
    loop: Callable[[tf.Tensor, tf.Variable], tf.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HPU_COMPILE_MODE", "never")
    x = np.random.default_rng(0).standard_normal((TURNS, WIDTH, WIDTH), dtype=np.float32)

    def make() -> tuple[Callable[[tf.Tensor], tf.Tensor], list[tf.Variable]]:
        w, turns = tf.Variable(0.3 * tf.eye(WIDTH)), tf.Variable(0.0)

        def counting(x: tf.Tensor) -> tf.Tensor:
            result = loop(x, w)
            for _ in tf.range(tf.shape(x)[0]):
                if turns < 100.0:
                    turns.assign_add(1.0)
            return tf.reduce_mean(result) + turns

        return counting, [w]

    found = train(make, tf.TensorSpec((None, WIDTH, WIDTH)), x)
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-5)
    assert [cluster.fallback_reasons for cluster in statistics.get().clusters if cluster.fallbacks] == [{"never": 4}]


def test_a_loop_of_unknown_length_in_a_loop_is_lowered_before_compilation(capfd: pytest.CaptureFixture[str]) -> None:
    """The compiler cannot bound the list of states, so the loops run op by op. No compilation fails."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal((TURNS, WIDTH, WIDTH), dtype=np.float32)
    weights = 0.1 * generator.standard_normal((WIDTH, WIDTH), dtype=np.float32)

    def make() -> tuple[Callable[[tf.Tensor], tf.Tensor], list[tf.Variable]]:
        w = tf.Variable(weights)

        def converge(x: tf.Tensor) -> tf.Tensor:
            total = tf.zeros([WIDTH, WIDTH])
            for item in x:
                state, error = item, tf.constant(1.0)
                while error > 1e-3:
                    new = tf.tanh(state @ w)
                    error = tf.reduce_max(tf.abs(new - state))
                    state = new
                total += state
            return total + 1.0

        return converge, [w]

    found = train(make, tf.TensorSpec((TURNS, WIDTH, WIDTH)), x)
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-4)
    assert statistics.get().fallbacks == 0
    refused = [refusal for report in passes.recent_reports() for refusal in report.refusals]
    assert any("creates a TensorList of unknown size" in refusal.reason for refusal in refused)
    assert "XLA compilation requires a fixed tensor list size" not in capfd.readouterr().err


# Not every device can run the QR decomposition of the default initializer.
INITIALIZED = {"recurrent_initializer": "glorot_uniform"}
# Recurrent layers. Keras writes the loops of most of them into the step, and calls functions for LSTM and GRU.
RECURRENT: dict[str, Callable[[], list[tf.keras.layers.Layer]]] = {
    "lstm": lambda: [layers.LSTM(4, **INITIALIZED)],
    "gru_of_all_steps": lambda: [layers.GRU(4, return_sequences=True, **INITIALIZED)],
    "simple": lambda: [layers.SimpleRNN(4, **INITIALIZED)],
    "cell": lambda: [layers.RNN(layers.LSTMCell(4, **INITIALIZED))],
    "stacked_cells": lambda: [layers.RNN([layers.GRUCell(4, **INITIALIZED), layers.LSTMCell(3, **INITIALIZED)])],
    "dense": lambda: [layers.Dense(3), layers.LSTM(4, **INITIALIZED)],
    "two": lambda: [layers.LSTM(4, return_sequences=True, **INITIALIZED), layers.GRU(4, **INITIALIZED)],
    "both_ways": lambda: [layers.Bidirectional(layers.LSTM(4, **INITIALIZED))],
    "masked": lambda: [layers.Masking(), layers.LSTM(4, **INITIALIZED)],
    "masked_cell": lambda: [layers.Masking(), layers.RNN(layers.GRUCell(4, **INITIALIZED))],
}


@pytest.mark.parametrize("steps", [TURNS, None], ids=["known", "unknown"])
@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_layer(name: str, steps: int | None) -> None:
    x = np.random.default_rng(0).standard_normal((4, TURNS, WIDTH), dtype=np.float32)

    def make() -> tuple[Callable[[tf.Tensor], tf.Tensor], list[tf.Variable]]:
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([layers.Input((steps, WIDTH)), *RECURRENT[name](), layers.Dense(1)])
        return lambda x: model(x, training=True), model.trainable_variables

    found = train(make, tf.TensorSpec((None, steps, WIDTH)), x)
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-5)
    assert_one_cluster("loop_step", launches=4)


def test_a_layer_of_unknown_length_gets_sequences_of_several_lengths() -> None:
    def losses() -> list[float]:
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([layers.Input((None, WIDTH)), layers.LSTM(4, **INITIALIZED), layers.Dense(1)])
        model.compile("sgd", "mse")
        generator = np.random.default_rng(0)
        found = []
        for length in (3, 1, 5, 3):
            x = generator.standard_normal((4, length, WIDTH), dtype=np.float32)
            found.append(model.train_on_batch(x, np.ones((4, 1), np.float32)))
        return found

    found = {}
    for device in (CPU, HPU):
        with tf.device(device):
            found[device] = losses()
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-5)
    assert statistics.get().fallbacks == 0
