"""Ops on HPU variables: each op with a CPU kernel runs for each dtype, eagerly and in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module
from tests.ops import registry
from tests.ops.variable_cases import Call, calls, ops_on_variables
from tests.support.compare import CPU, HPU, Tolerance, assert_close

load_habana_module()
pytestmark = pytest.mark.usefixtures("hpu")

OPS = ops_on_variables()


def outcome(call: Call, device: str, graph: bool = False) -> Any:
    """Returns the results and final values of the variables, or the class of the error."""
    with tf.device(device):
        variables = call.variables()
        assert all(variable.device.endswith(device[-5:]) for variable in variables)

        def step() -> Any:
            results = call.run(variables)
            return None if isinstance(results, tf.Operation) else results

        try:
            results = tf.function(step, autograph=False)() if graph else step()
        except (tf.errors.OpError, NotImplementedError) as error:
            return type(error)
        tensors = [tensor for tensor in tf.nest.flatten(results) if tf.is_tensor(tensor)]
        return [tensor.numpy() for tensor in [*tensors, *[variable.read_value() for variable in variables]]]


def assert_same(actual: Any, expected: Any, name: str) -> None:
    if isinstance(expected, type) or isinstance(actual, type):
        assert actual == expected, name
        return
    tolerance = Tolerance(1e-5, 1e-5) if np.iscomplexobj(expected[-1]) else None
    assert_close([tf.constant(a) for a in actual], [tf.constant(e) for e in expected], tolerance, context=name)


def test_each_type_has_a_kernel() -> None:
    missing = []
    for op in OPS:
        for call in calls(op):
            if not registry.has_kernel(op, "HPU", {name: dtype.as_datatype_enum for name, dtype in call.types.items()}):
                missing.append(call)
    assert not missing


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("dtype", [tf.float32, tf.int64, tf.complex64], ids=lambda dtype: dtype.name)
def test_division_of_rows_by_zero(dtype: tf.DType, graph: bool) -> None:
    with tf.device(HPU):
        variable = tf.Variable(tf.cast([[8, 4], [6, 2]], dtype))

        def divide(divisors: tf.Tensor) -> None:
            tf.raw_ops.ResourceScatterDiv(resource=variable.handle, indices=[1], updates=divisors)

        call = tf.function(divide) if graph else divide
        for _ in range(4):
            variable.assign(tf.cast([[8, 4], [6, 2]], dtype))
            call(tf.cast([[3, 1]], dtype))
            assert_close(variable.read_value(), tf.cast([[8, 4], [2, 2]], dtype))
        with pytest.raises(tf.errors.InvalidArgumentError, match="must not contain 0"):
            call(tf.cast([[0, 1]], dtype))
        assert_close(variable.read_value(), tf.cast([[8, 4], [2, 2]], dtype))


def test_a_shape_that_ends_the_process_on_the_cpu_is_an_error() -> None:
    with tf.device(HPU):
        generator = tf.random.Generator.from_seed(1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="StatefulRandomBinomial"):
            generator.binomial(tf.constant([3], tf.int64), counts=5.0, probs=0.5)


def test_the_ops_that_generators_and_sparse_updates_need_are_among_them() -> None:
    assert {"ResourceCountUpTo", "StatefulRandomBinomial", "RngSkip", "AssignAddVariableOp"} <= {*OPS}


@pytest.mark.parametrize("op", OPS)
def test_standalone(op: str) -> None:
    for call in calls(op):
        name = f"{op} {[dtype.name for dtype in call.types.values()]}"
        assert_same(outcome(call, HPU), outcome(call, CPU), name)


@pytest.mark.parametrize("op", OPS)
def test_in_a_graph(op: str) -> None:
    made = [call for call in calls(op) if call.types.get("shape_dtype", tf.int32) in (tf.int32, tf.int64)]
    for call in [made[0], *[c for c in made if tf.int32 in (c.types.get("dtype"), c.types.get("T"))][:1]]:
        name = f"{op} {[dtype.name for dtype in call.types.values()]}"
        assert_same(outcome(call, HPU, graph=True), outcome(call, CPU, graph=True), name)


@pytest.mark.parametrize("dtype", [tf.float32, tf.int32, tf.int64, tf.bfloat16])
@pytest.mark.parametrize("graph", [False, True])
def test_gather_nd(dtype: tf.DType, graph: bool) -> None:
    with tf.device(HPU):
        variable = tf.Variable(tf.cast([[1, 2], [3, 4], [5, 6]], dtype))

        def gather(indices: tf.Tensor) -> tf.Tensor:
            return tf.gather_nd(variable, indices)

        call = tf.function(gather) if graph else gather
        for _ in range(4):  # enough calls to compile the eager op
            assert call(tf.constant([[0, 1], [2, 0]])).numpy().tolist() == [2, 5]
        with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
            call(tf.constant([[0, 1], [3, 0]]))


def test_counting_ends_with_an_error() -> None:
    with tf.device(HPU):
        for dtype in (tf.int32, tf.int64):
            counter = tf.Variable(tf.constant(0, dtype))
            counted = [tf.raw_ops.ResourceCountUpTo(resource=counter.handle, limit=3, T=dtype) for _ in range(3)]
            assert [int(count) for count in counted] == [0, 1, 2]
            with pytest.raises(tf.errors.OutOfRangeError, match="limit of 3"):
                tf.raw_ops.ResourceCountUpTo(resource=counter.handle, limit=3, T=dtype)
            assert counter.numpy() == 3


@pytest.mark.parametrize("graph", [False, True])
def test_generators_draw_the_cpus_numbers(graph: bool) -> None:
    def draw() -> list[tf.Tensor]:
        generator = tf.random.Generator.from_seed(3)

        def step() -> list[tf.Tensor]:
            return [
                generator.binomial([3], counts=5.0, probs=0.5),
                generator.normal([3]),
                generator.truncated_normal([3]),
                generator.uniform([3], maxval=9, dtype=tf.int32),
                generator.uniform_full_int([3], dtype=tf.uint64),
            ]

        call = tf.function(step) if graph else step
        results = [*call(), *call()]
        generator.skip(2)
        return [*results, generator.state.read_value()]

    with tf.device(CPU):
        expected = draw()
    with tf.device(HPU):
        actual = draw()
    assert_close(actual, expected)


@pytest.mark.parametrize("op", OPS)
def test_a_variable_that_was_never_assigned_is_the_cpus_error(op: str) -> None:
    call = calls(op)[0]
    found = []
    for device in (CPU, HPU):
        with tf.device(device):
            variables = call.variables()
            for variable in variables:
                tf.raw_ops.DestroyResourceOp(resource=variable.handle)
            try:
                call.run(variables)
                found.append(type(None))
            except tf.errors.OpError as error:
                found.append(type(error))
    assert found[1] == found[0]


def test_values_that_a_variable_holds_are_not_changed_by_an_error() -> None:
    with tf.device(HPU):
        variable = tf.Variable(np.arange(6, dtype=np.float32))
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.raw_ops.ResourceScatterNdMax(ref=variable.handle, indices=[[0], [6]], updates=[9.0, 9.0])
        np.testing.assert_array_equal(variable.numpy(), np.arange(6, dtype=np.float32))
