"""jit_compile=True with value-dependent array sizes: results equal XLA:CPU's, on every backend."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.ops import dynamic_shape_cases
from tests.ops.dynamic_shape_cases import INSIDE, RESULTS, M, X
from tests.remote.servers import Server
from tests.support.compare import CPU, HPU, assert_close
from tests.support.processes import WARM_PYTHON, run

pytestmark = pytest.mark.usefixtures("fresh")

PROGRAM = str(pathlib.Path(dynamic_shape_cases.__file__))


GATHERED_TWICE = "rows and columns by masks"


@pytest.fixture
def fresh(hpu: str) -> None:
    statistics.reset()


def compiled(device: str, function: Any, arguments: tuple[Any, ...]) -> Any:
    with tf.device(device):
        call = tf.function(function, jit_compile=True)
        tensors = [tf.constant(argument) for argument in arguments]
        call(*tensors)
        return call(*tensors)


@pytest.mark.parametrize("name", [*RESULTS, *INSIDE])
def test_results_are_those_of_xla_on_the_cpu(name: str) -> None:
    function, arguments = {**RESULTS, **INSIDE}[name]
    with tf.device(CPU):  # XLA:CPU makes the slices of a gather static
        expected = function(*arguments) if name == GATHERED_TWICE else compiled(CPU, function, arguments)
    assert_close(compiled(HPU, function, arguments), expected)
    assert statistics.get().fallbacks == 0
    assert any(cluster.launches == 2 for cluster in statistics.get().clusters)


@pytest.mark.parametrize("name", list(INSIDE))
def test_arrays_inside_need_no_jit_compile(name: str) -> None:
    function, arguments = INSIDE[name]
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            results.append(tf.function(function)(*[tf.constant(argument) for argument in arguments]))
    assert_close(results[1], results[0])


def test_sizes_change_without_compiling_again() -> None:
    @tf.function(jit_compile=True)
    def run_it(x: tf.Tensor) -> tf.Tensor:
        return tf.boolean_mask(x, x[:, 0] > 0)

    with tf.device(HPU):
        for seed in range(5):
            x = np.random.default_rng(seed).standard_normal((7, 3), dtype=np.float32)
            np.testing.assert_array_equal(run_it(tf.constant(x)), x[x[:, 0] > 0])
    assert [cluster.recipes for cluster in statistics.get().launched_clusters] == [1]


def test_results_feed_other_ops() -> None:
    masked = tf.function(lambda x: tf.boolean_mask(x, x > 0), jit_compile=True)

    @tf.function
    def outer(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(masked(x) * 2.0) + tf.cast(tf.size(masked(x)), tf.float32)

    with tf.device(HPU):
        x = tf.constant(X)
        assert float(outer(x)) == 2 * X[X > 0].sum() + (X > 0).sum()
        kept = masked(x)
        np.testing.assert_array_equal(tf.concat([kept, kept * 2.0], 0), np.concatenate([X[X > 0], 2 * X[X > 0]]))


def test_gradients_through_a_mask() -> None:
    def run_it(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.boolean_mask(x, x > 0) ** 2)
        return loss, tape.gradient(loss, x)

    assert_close(compiled(HPU, run_it, (M,)), compiled(CPU, run_it, (M,)))


@pytest.mark.parametrize("dtype", [tf.float32, tf.int32, tf.int64])
def test_variables_take_the_true_shape(dtype: tf.DType) -> None:
    # tf2xla requires new values to have the old shape, or as here the old bound.
    with tf.device(HPU):
        variable = tf.Variable(tf.zeros([len(X)], dtype), shape=[None])

        @tf.function(jit_compile=True)
        def assign(x: tf.Tensor) -> tf.Tensor:
            variable.assign(tf.boolean_mask(x, x > 0))
            return tf.size(x)

        assign(tf.cast(tf.constant(X), dtype))
        np.testing.assert_array_equal(variable.numpy(), X[X > 0].astype(dtype.as_numpy_dtype))
        variable.assign_add(variable * 2)
        np.testing.assert_array_equal(variable.numpy(), 3 * X[X > 0].astype(dtype.as_numpy_dtype))


def test_beside_random_ops() -> None:
    @tf.function(jit_compile=True)
    def run_it(x: tf.Tensor) -> Any:
        return tf.where(x + tf.random.uniform(tf.shape(x)) > 0), tf.where(x > 0)

    with tf.device(HPU):
        _, found = run_it(tf.constant(X))
        np.testing.assert_array_equal(found[:, 0], np.flatnonzero(X > 0))


def test_windows_over_a_dynamic_dimension() -> None:
    def run_it(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.max_pool1d(tf.boolean_mask(x, x != 1.0)[tf.newaxis, :, tf.newaxis], 3, 2, "SAME")

    # XLA:CPU crashes for this program.
    with tf.device(CPU):
        expected = run_it(tf.constant(X))
    with tf.device(HPU):
        assert_close(tf.function(run_it, jit_compile=True)(tf.constant(X)), expected)


def run_program(environment: dict[str, str]) -> Any:
    done = run([WARM_PYTHON, PROGRAM], environment)
    return json.loads(done.stdout.splitlines()[-1])


def test_recipes_on_disk(tmp_path: pathlib.Path) -> None:
    first, second = (run_program({"TF_RECIPE_CACHE_PATH": str(tmp_path)}) for _ in range(2))
    assert first["recipes"]["compiled"] > 0 and second["recipes"]["compiled"] == 0
    assert second["results"] == first["results"]


def test_a_device_server(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        assert run_program({"HPU_BACKEND": server.backend})["results"] == run_program({})["results"]


def test_the_null_backend_gives_empty_results() -> None:
    results = run_program({"HPU_BACKEND": "null"})["results"]
    assert results[0] == [[]]
