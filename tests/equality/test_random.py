"""Random numbers follow seeds as on the CPU. Draws that should differ are never equal."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.equality import random_programs as programs
from tests.support.clusters import assert_launched, assert_one_cluster
from tests.support.compare import CPU, HPU, Tolerance, as_numpy, assert_close
from tests.support.processes import call_to, run_with_tensorflow

# Normal numbers use logarithms and square roots; ranges use a product and a sum that XLA fuses. Last bits differ.
ROUNDED = Tolerance(1e-5, 1e-5)
EXACT = Tolerance(0, 0)

STATEFUL: dict[str, Callable[..., tf.Tensor]] = {
    "uniform": lambda **seed: tf.random.uniform([40, 3], **seed),
    "uniform-range": lambda **seed: tf.random.uniform([40, 3], -1.0, 2.0, **seed),
    "integers": lambda **seed: tf.random.uniform([40, 3], 5, 1000, tf.int32, **seed),
    "normal": lambda **seed: tf.random.normal([40, 3], 1.0, 2.0, **seed),
    "truncated": lambda **seed: tf.random.truncated_normal([40, 3], **seed),
    "bfloat16": lambda **seed: tf.random.uniform([40, 3], dtype=tf.bfloat16, **seed),
    "shuffle": lambda **seed: tf.random.shuffle(tf.reshape(tf.range(120.0), [40, 3]), **seed),
    "categorical": lambda **seed: tf.random.categorical(tf.zeros([40, 9]), 3, **seed),
    "gamma": lambda **seed: tf.random.gamma([40, 3], 2.0, **seed),
    "poisson": lambda **seed: tf.random.poisson([40, 3], 3.0, **seed),
}
AS_CPU = {
    "uniform": EXACT,
    "uniform-range": ROUNDED,
    "integers": EXACT,
    "normal": ROUNDED,
    "bfloat16": EXACT,
    "shuffle": EXACT,
    "categorical": EXACT,
}

SEED = (7, 11)
STATELESS: dict[str, Callable[[], tf.Tensor]] = {
    "uniform": lambda: tf.random.stateless_uniform([257], SEED),
    "integers": lambda: tf.random.stateless_uniform([257], SEED, -50, 1000, tf.int32),
    "full-integers": lambda: tf.random.stateless_uniform([257], SEED, None, None, tf.int32),
    "bfloat16": lambda: tf.random.stateless_uniform([257], SEED, dtype=tf.bfloat16),
    "philox": lambda: tf.random.stateless_uniform([257], SEED, alg="philox"),
    "categorical": lambda: tf.random.stateless_categorical(tf.reshape(tf.range(36.0), [4, 9]) / 9, 4, SEED),
}
STATELESS_ROUNDED: dict[str, Callable[[], tf.Tensor]] = {
    "uniform-range": lambda: tf.random.stateless_uniform([64, 5], SEED, -2.0, 3.0),
    "normal": lambda: tf.random.stateless_normal([257], SEED),
    "truncated": lambda: tf.random.stateless_truncated_normal([257], SEED),
    "parameterized": lambda: tf.random.stateless_parameterized_truncated_normal([257], SEED, 0.0, 1.0, -1.0, 1.0),
    "gamma": lambda: tf.random.stateless_gamma([257], SEED, 2.0),
}


def on(device: str, draw: Callable[[], Any], graph: bool, seed: int | None = None) -> Any:
    """Draws four times, which covers all execution paths of an eager op."""
    if seed is not None:
        tf.random.set_seed(seed)
    with tf.device(device):
        function = tf.function(draw) if graph else draw
        return np.stack([as_numpy(function()) for _ in range(4)])


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("name", STATEFUL)
def test_seeds_of_stateful_ops(name: str, graph: bool) -> None:
    draw = STATEFUL[name]
    first = on(HPU, draw, graph, seed=5)
    assert not np.array_equal(first[0], first[1]), "two draws are equal"
    np.testing.assert_array_equal(on(HPU, draw, graph, seed=5), first)
    assert not np.array_equal(on(HPU, draw, graph, seed=6), first), "the global seed has no effect"
    with_op_seed = on(HPU, lambda: draw(seed=3), graph, seed=5)
    assert not np.array_equal(with_op_seed, first), "the op's seed has no effect"
    assert not np.array_equal(on(HPU, lambda: draw(seed=4), graph, seed=5), with_op_seed)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("name", AS_CPU)
def test_stateful_ops_draw_the_same_as_the_cpu(name: str, graph: bool) -> None:
    def draw() -> tf.Tensor:
        return STATEFUL[name](seed=3)

    actual, expected = on(HPU, draw, graph, seed=5), on(CPU, draw, graph, seed=5)
    np.testing.assert_allclose(actual, expected, *AS_CPU[name])


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("name", [*STATELESS, *STATELESS_ROUNDED])
def test_stateless_ops_draw_the_same_as_the_cpu(name: str, graph: bool) -> None:
    exact = name in STATELESS
    one = STATELESS[name] if exact else STATELESS_ROUNDED[name]

    def draw() -> tf.Tensor:
        return tf.concat([one(), one()], 0)

    actual, expected = on(HPU, draw, graph), on(CPU, draw, graph)
    np.testing.assert_allclose(actual, expected, *(EXACT if exact else ROUNDED))
    np.testing.assert_array_equal(actual[0], actual[1])


OF_SEED: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "uniform": lambda seed: tf.random.stateless_uniform([257], seed),
    "integers": lambda seed: tf.random.stateless_uniform([257], seed, -50, 1000, tf.int32),
    "first-version": lambda seed: tf.raw_ops.StatelessRandomUniform(shape=[257], seed=seed),
    "categorical": lambda seed: tf.random.stateless_categorical(tf.reshape(tf.range(36.0), [4, 9]) / 9, 4, seed),
    "dropout": lambda seed: tf.nn.experimental.stateless_dropout(tf.range(99.0), 0.4, seed),
    "loop": lambda seed: tf.while_loop(
        lambda i, _: i < 3,
        lambda i, x: (i + 1, x + tf.random.stateless_uniform([9], seed + tf.cast(i, seed.dtype))),
        (0, tf.zeros([9])),
    )[1],
}


@pytest.mark.parametrize(("dtype", "seed"), [(tf.int32, [-7, 11]), (tf.int64, [-7, 2**40 + 3])])
@pytest.mark.parametrize("name", OF_SEED)
def test_seeds_that_a_step_computes(name: str, dtype: tf.DType, seed: list[int]) -> None:
    """As in Keras 3, whose layers keep their seeds in variables."""

    def steps(device: str) -> list[np.ndarray]:
        with tf.device(device):
            state = tf.Variable(seed, dtype=tf.int64)

            @tf.function
            def seeded_step() -> tf.Tensor:
                drawn = OF_SEED[name](tf.cast(state * 3, dtype))
                state.assign_add([0, 1])
                return drawn

            return [as_numpy(seeded_step()) for _ in range(3)]

    expected = steps(CPU)
    got = steps(HPU)
    assert not np.array_equal(got[0], got[1])
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one, other)
    if name != "loop":
        assert_one_cluster("seeded_step", launches=3)


def test_two_ops_of_one_graph_differ() -> None:
    @tf.function
    def draw() -> tuple[tf.Tensor, tf.Tensor]:
        return tf.random.uniform([50]), tf.random.uniform([50])

    with tf.device(HPU):
        first, second = draw()
    assert not np.array_equal(first, second)


def test_two_clusters_differ() -> None:
    @tf.function
    def draw() -> tuple[tf.Tensor, tf.Tensor]:
        first = tf.random.uniform([50]) * 2.0
        with tf.device(CPU):
            middle = tf.reverse(first, [0])
        return first, tf.random.uniform([50]) * 2.0 + 0.0 * middle

    with tf.device(HPU):
        first, second = draw()
    assert not np.array_equal(first, second)
    assert np.abs(np.mean(first) - 1.0) < 0.4


def test_numbers_are_uniform_and_normal() -> None:
    @tf.function
    def draw() -> tuple[tf.Tensor, tf.Tensor]:
        return tf.random.uniform([20000]), tf.random.normal([20000])

    with tf.device(HPU):
        uniform, normal = (as_numpy(tensor) for tensor in draw())
    assert uniform.min() >= 0 and uniform.max() < 1
    np.testing.assert_allclose([uniform.mean(), uniform.var()], [1 / 2, 1 / 12], atol=0.01)
    np.testing.assert_allclose([normal.mean(), normal.var()], [0, 1], atol=0.05)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_categories_are_as_frequent_as_their_logits_say(graph: bool) -> None:
    logits = tf.constant([[0.0, 1.0, -np.inf, 2.0, -1.0]] * 2)
    with tf.device(HPU):
        draw = tf.function(tf.random.categorical) if graph else tf.random.categorical
        drawn = as_numpy(draw(logits, 20000))
    if graph:
        assert_launched()
    expected = as_numpy(tf.nn.softmax(logits))[0]
    for row in drawn:
        np.testing.assert_allclose(np.bincount(row, minlength=5) / 20000, expected, atol=0.015)
        assert not (row == 2).any()
    assert not np.array_equal(*drawn)


def test_many_rows_of_categories_differ() -> None:
    @tf.function
    def draw() -> tf.Tensor:
        return tf.random.categorical(tf.zeros([2048, 1000]), 4)

    with tf.device(HPU):
        drawn = as_numpy(draw())
    assert_launched()
    assert len(np.unique(drawn, axis=0)) == 2048
    np.testing.assert_allclose(drawn.mean(), 499.5, atol=15)


def test_processes() -> None:
    one, same, other, free, free_too = [
        run_with_tensorflow(call_to(programs.draws, seed)).stdout.split() for seed in (1, 1, 2, None, None)
    ]
    assert len(one) == 3
    assert one == same
    assert not set(one) & set(other)
    assert not set(free) & set(free_too)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_dropout(graph: bool) -> None:
    x = np.ones((60, 50), np.float32)

    def run(seed: int) -> Any:
        tf.keras.utils.set_random_seed(seed)
        with tf.device(HPU):
            layer = tf.keras.layers.Dropout(0.25)
            function = tf.function(lambda x: layer(x, training=True)) if graph else lambda x: layer(x, training=True)
            return np.stack([function(tf.constant(x)).numpy() for _ in range(2)])

    first = run(1)
    assert 0.2 < np.mean(first == 0) < 0.3
    np.testing.assert_allclose(np.unique(first), [0, 1 / 0.75], rtol=1e-6)
    assert not np.array_equal(first[0], first[1])
    np.testing.assert_array_equal(run(1), first)
    assert not np.array_equal(run(2), first)


def test_gradient_sees_the_same_dropout() -> None:
    @tf.function
    def run(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.dropout(x, 0.5)
        return y, tape.gradient(y, x)

    with tf.device(HPU):
        y, gradient = run(tf.ones([1000]))
    np.testing.assert_array_equal(y, gradient)
    assert_launched()


def test_training_with_dropout_repeats() -> None:
    x, y = np.random.default_rng(0).standard_normal((64, 6), dtype=np.float32), np.arange(64) % 3

    def losses(seed: int) -> list[float]:
        tf.keras.utils.set_random_seed(seed)
        with tf.device(HPU):
            model = tf.keras.Sequential(
                [tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(3)]
            )
            model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
            return model.fit(x, y, batch_size=16, epochs=2, verbose=0).history["loss"]  # type: ignore[no-any-return]

    first = losses(1)
    assert losses(1) == first
    assert losses(2) != first


def draw_all(generator: tf.random.Generator) -> list[tf.Tensor]:
    return [
        generator.uniform([30]),
        generator.normal([30]),
        generator.truncated_normal([30]),
        generator.uniform([30], 0, 1000, tf.int32),
        generator.uniform_full_int([30], tf.int32),
        generator.make_seeds(2),
    ]


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_generator_draws_the_same_as_the_cpu(graph: bool) -> None:
    results = {}
    for device in (CPU, HPU):
        with tf.device(device):
            generator = tf.random.Generator.from_seed(42)
            draw = tf.function(lambda generator=generator: draw_all(generator)) if graph else None
            results[device] = [draw() if draw else draw_all(generator) for _ in range(2)]
            results[device].append([generator.state.read_value()])
    assert_close(results[HPU], results[CPU])


def test_generator_checkpoints_and_continues(tmp_path: pathlib.Path) -> None:
    with tf.device(HPU):
        generator = tf.random.Generator.from_seed(1)
        generator.uniform([10])
        path = tf.train.Checkpoint(generator=generator).write(str(tmp_path / "generator"))
        expected = draw_all(generator)
    for device in (HPU, CPU):
        with tf.device(device):
            restored = tf.random.Generator.from_seed(2)
            tf.train.Checkpoint(generator=restored).read(path).assert_consumed()
            assert_close(draw_all(restored), expected)


def test_generator_splits_and_skips() -> None:
    results = {}
    for device in (CPU, HPU):
        with tf.device(device):
            generator = tf.random.Generator.from_seed(3)
            parts = generator.split(2)
            generator.skip(100)
            results[device] = [part.uniform([5]) for part in (generator, *parts)]
    assert_close(results[HPU], results[CPU])


INITIALIZERS = [
    tf.keras.initializers.GlorotUniform,
    tf.keras.initializers.HeNormal,
    tf.keras.initializers.RandomUniform,
    tf.keras.initializers.TruncatedNormal,
    tf.keras.initializers.Orthogonal,
    tf.keras.initializers.VarianceScaling,
]


@pytest.mark.parametrize("initializer", INITIALIZERS, ids=lambda initializer: initializer.__name__)
def test_initializers(initializer: Any) -> None:
    def weights(device: str, seed: int | None) -> Any:
        with tf.device(device):
            return tf.Variable(initializer(seed=seed)([20, 10])).numpy()

    np.testing.assert_array_equal(weights(HPU, 1), weights(HPU, 1))
    assert not np.array_equal(weights(HPU, 1), weights(HPU, 2))
    np.testing.assert_allclose(weights(HPU, 1), weights(CPU, 1), rtol=1e-4, atol=1e-5)
    assert not np.array_equal(weights(HPU, None), weights(HPU, None))
