"""Loops with state in TensorLists, and their gradients, compared with the CPU: inside and outside clusters."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU, Tolerance, assert_same_on_hpu
from tests.support.processes import WARM_PYTHON, run

pytestmark = pytest.mark.usefixtures("hpu")

X = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(4, 3, 2)


def with_gradient(function: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], list[tf.Tensor]]:
    """Returns the function as a graph, with the gradient of the sum of its squared result."""

    @tf.function
    def both(x: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            loss = tf.reduce_sum(y * y)
        return [y, tape.gradient(loss, x)]

    return both


@pytest.mark.parametrize(
    ("first", "step", "most"), [(0, 1, 6), (2, 1, 6), (0, 2, 7), (0, 1, 1), (0, 1, 0)], ids=lambda number: str(number)
)
@pytest.mark.parametrize("until", [1e9, 2.0])
def test_lists_of_loops_that_count(first: int, step: int, most: int, until: float) -> None:
    """Values for the gradient are in lists whose size is the loop's bound, which may exceed the trip count."""

    def loop(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(
            lambda i, y: tf.logical_and(i < most, tf.reduce_max(y) < until),
            lambda i, y: (i + step, tf.sin(y) + y * tf.cast(i, tf.float32)),
            (first, x),
        )[1]

    assert_same_on_hpu(with_gradient(loop), X)


def test_gradient_of_a_loop_that_reads_slices() -> None:
    @tf.function
    def both(x: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.TensorArray(tf.float32, x.shape[0]).unstack(x)
            results = tf.TensorArray(tf.float32, 3, element_shape=[3, 2])
            # The loop has fewer iterations than rows.
            for i in tf.range(3):
                results = results.write(i, rows.read(i) ** 2)
            y = results.stack()
        return [y, tape.gradient(y, x)]

    assert_same_on_hpu(both, X)


def test_map_fn() -> None:
    assert_same_on_hpu(with_gradient(lambda x: tf.map_fn(lambda row: tf.sin(row) @ tf.ones([2, 3]), x)), X)


def test_map_fn_of_int32_and_bool() -> None:
    @tf.function
    def mapped(x: tf.Tensor) -> list[tf.Tensor]:
        return [
            tf.map_fn(lambda row: tf.cast(tf.reduce_sum(row) * 10.0, tf.int32), x, fn_output_signature=tf.int32),
            tf.map_fn(lambda row: row > 0.0, x, fn_output_signature=tf.bool),
            tf.map_fn(lambda i: i * 2, tf.range(5)),
        ]

    assert_same_on_hpu(mapped, X)


def test_scan() -> None:
    assert_same_on_hpu(with_gradient(lambda x: tf.scan(lambda state, row: 0.5 * state + tf.tanh(row), x)), X)


def test_while_loop_without_a_bound() -> None:
    def powers(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda i, y: tf.reduce_sum(y) < 1e3 and i < 6, lambda i, y: (i + 1, y * y + 1.0), (0, x))[
            1
        ]

    assert_same_on_hpu(with_gradient(powers), X)


def test_nested_loops() -> None:
    def nested(x: tf.Tensor) -> tf.Tensor:
        def outer(row: tf.Tensor) -> tf.Tensor:
            return tf.scan(lambda state, value: state * 0.5 + value, row)

        return tf.map_fn(outer, x)

    assert_same_on_hpu(with_gradient(nested), X)


def test_tensor_arrays() -> None:
    def arrays(x: tf.Tensor) -> tf.Tensor:
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
        for i in tf.range(4):
            array = array.write(i, x[i] * tf.cast(i, tf.float32))
        rows = tf.TensorArray(tf.float32, size=4).unstack(array.stack())
        split = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(rows.concat(), [5, 7])
        return tf.concat([split.read(1), split.read(0) * 2.0, tf.gather(rows.gather([3, 1]), [0])[0]], 0)

    assert_same_on_hpu(with_gradient(arrays), X)


def test_branches_on_lists() -> None:
    def branches(x: tf.Tensor) -> tf.Tensor:
        array = tf.TensorArray(tf.float32, size=2).unstack(x[:2])
        return tf.cond(tf.reduce_sum(x) > -1.0, lambda: array.stack() * 3.0, lambda: -array.stack())

    assert_same_on_hpu(with_gradient(branches), X)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("masked", [False, True])
def test_recurrent_layers(layer: str, masked: bool) -> None:
    """One train step of a recurrent layer from equal weights."""
    x = np.concatenate([X, np.zeros([4, 1, 2], np.float32)], axis=1)
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            tf.keras.utils.set_random_seed(1)
            cell = getattr(tf.keras.layers, layer)(5, return_sequences=True)
            layers = [tf.keras.layers.Masking(), cell] if masked else [cell]
            model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
            model.build([None, None, 2])
            for index, weight in enumerate(model.weights):
                weight.assign(np.cos(np.arange(np.prod(weight.shape)) + index).reshape(weight.shape) * 0.3)

            @tf.function
            def step(batch: tf.Tensor) -> list[tf.Tensor]:
                with tf.GradientTape() as tape:
                    y = model(batch, training=True)  # noqa: B023
                    loss = tf.reduce_mean(tf.square(y - 1.0))
                return [loss, y, *tape.gradient(loss, model.trainable_variables)]  # noqa: B023

            results.append([value.numpy() for value in step(tf.constant(x))])
    for expected, actual in zip(*results):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("masked", [False, True])
def test_recurrent_layers_compile_for_batches_of_any_size(layer: str, masked: bool) -> None:
    """A dataset without drop_remainder has batches of unknown size. No op of the loops may run outside clusters."""
    cell = getattr(tf.keras.layers, layer)(5)
    layers = [tf.keras.layers.Masking(), cell] if masked else [cell]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
    model.build([None, 3, 2])

    @tf.function(input_signature=[tf.TensorSpec([None, 3, 2])])
    def step(batch: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(batch, training=True) - 1.0))
        return [loss, *tape.gradient(loss, model.trainable_variables)]

    with tf.device(HPU):
        step(tf.constant(X))
        statistics.reset()
        for size in (4, 3):
            step(tf.constant(X[:size]))
    # A loop outside clusters would launch each of its ops in each of its steps.
    assert statistics.get().eager.launches < 10
    assert statistics.get().eager.host_runs < 10


def test_loops_on_the_cpu_keep_shapes_only() -> None:
    """A list of tensors would keep them in memory."""
    graphs = {}
    for device in (CPU, HPU):

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def gradient(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape, tf.device(device):  # noqa: B023
                tape.watch(x)
                y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + tf.reduce_mean(y)), (0, x))[1]
            return tape.gradient(y, x)

        graphs[device] = gradient.get_concrete_function().graph.as_graph_def()
    lists = {
        device: sum(
            node.op == "TensorListPushBack" and node.attr["element_dtype"].type == tf.int32.as_datatype_enum
            for function in graph.library.function
            for node in function.node_def
        )
        for device, graph in graphs.items()
    }
    assert lists[CPU] > 0 and lists[HPU] == 0


def test_bfloat16_and_half() -> None:
    for dtype in (tf.bfloat16, tf.float16):

        @tf.function
        def running_sum(x: tf.Tensor) -> tf.Tensor:
            return tf.scan(lambda state, row: state + row, tf.cast(x, dtype))  # noqa: B023

        assert_same_on_hpu(running_sum, X, tolerance=Tolerance(2e-2, 2e-2))


@pytest.mark.skipif(os.environ.get("HPU_CLUSTERING") == "off", reason="this is the run that the test starts")
@pytest.mark.parametrize("tests", ["not recurrent", pytest.param("recurrent", marks=pytest.mark.slow)])
def test_all_of_this_around_clusters(tests: str) -> None:
    """Runs the tests above in a process without clustering."""
    done = run(
        [WARM_PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", tests, __file__],
        {"HPU_CLUSTERING": "off"},
        timeout=600,
    )
    assert "passed" in done.stdout


@pytest.mark.parametrize("stepped", [False, True], ids=["loop", "step before the loop"])
def test_gradient_of_a_variable_that_a_loop_reads(stepped: bool) -> None:
    """The gradient has the shape of the variable as an op, of which TensorFlow's shape inference makes a constant."""

    def train(x: tf.Tensor) -> list[tf.Tensor]:
        weights = tf.Variable(tf.ones([2, 2]) * 0.3)

        @tf.function
        def step(x: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                rows = tf.TensorArray(tf.float32, 4).unstack(x)
                state = tf.tanh((rows.read(0) if stepped else tf.zeros([3, 2])) @ weights)
                for i in tf.range(1, 4):
                    state = tf.tanh((state + rows.read(i)) @ weights)
                loss = tf.reduce_sum(tf.square(state))
            weights.assign_sub(0.1 * tape.gradient(loss, weights))
            return [loss, state]

        return [*step(x), *step(x), weights.read_value()]

    assert_same_on_hpu(train, X)
