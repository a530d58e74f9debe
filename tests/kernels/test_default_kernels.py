"""TensorFlow's DEVICE_DEFAULT kernels: comparison with the reviewed table, and runs of the risky kernels."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

from tests.kernels.default_kernels import REASONS, Reason
from tests.support.compare import HPU

pytestmark = pytest.mark.usefixtures("hpu")


def _default_kernels() -> dict[str, list[set[str]]]:
    """Returns, for each op with default kernels, the arguments that each kernel keeps in host memory."""
    found: dict[str, list[set[str]]] = collections.defaultdict(list)
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type == "DEFAULT":
            found[kernel.op].append(set(kernel.host_memory_arg))
    return found


def test_every_default_kernel_was_reviewed() -> None:
    assert set(_default_kernels()) == set(REASONS), "review the ops that differ and put them into default_kernels.py"


def test_host_arguments() -> None:
    always_on_host = (tf.string.as_datatype_enum, tf.resource.as_datatype_enum)
    for op, registrations in _default_kernels().items():
        if REASONS[op] is not Reason.HOST_ARGUMENTS:
            continue
        definition = op_def_registry.get(op)
        arguments = {
            argument.name
            for argument in [*definition.input_arg, *definition.output_arg]
            if argument.type not in always_on_host
        }
        for host in registrations:
            assert arguments <= host, f"{op} has arguments in device memory: {arguments - host}"


def test_replaced_kernels_are_registered() -> None:
    for op, reason in REASONS.items():
        if reason is Reason.REPLACED:
            devices = {kernel.device_type for kernel in kernels.get_registered_kernels_for_op(op).kernel}
            assert "HPU" in devices, op


X = np.array([[1.0, -2.0], [3.0, 4.0]], np.float32)


def test_fake_parameters_of_types_that_live_on_the_host() -> None:
    with tf.device(HPU):
        for dtype in (tf.string, tf.int32, tf.variant, tf.float32):
            value = tf.raw_ops.FakeParam(dtype=dtype, shape=[2])
            assert value.shape == [2] and value.dtype == dtype


def test_copy_holds_the_value() -> None:
    with tf.device(HPU):
        variable = tf.Variable(X)
        copy = tf.raw_ops.Copy(input=variable.read_value(), tensor_name="x", debug_ops_spec=[])
        variable.assign_add(X)
        np.testing.assert_array_equal(copy.numpy(), X)
        assert tf.raw_ops.Copy(input=tf.constant([1, 2]), tensor_name="i", debug_ops_spec=[]).numpy().tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.int32, tf.int8, tf.bool, tf.int64, tf.string])
def test_ops_that_move_tensors(dtype: tf.DType) -> None:
    values = [b"a", b"b"] if dtype == tf.string else tf.cast([1, 0], dtype).numpy().tolist()

    def check(result: tf.Tensor) -> None:
        assert result.dtype == dtype and result.numpy().tolist() == values

    with tf.device(HPU):
        x = tf.constant(values, dtype)
        check(tf.identity(x))
        check(tf.raw_ops.IdentityN(input=[x, x])[1])
        check(tf.ensure_shape(x, [2]))
        check(tf.stop_gradient(x))
        check(tf.squeeze(tf.expand_dims(x, 0), 0))
        check(tf.reshape(tf.reshape(x, [1, 2]), [-1]))
        assert tf.shape(x).numpy().tolist() == [2] and tf.rank(x).numpy() == 1 and tf.size(x).numpy() == 2


@pytest.mark.parametrize("dtype", [tf.float32, tf.int32, tf.bool, tf.string])
def test_queues_stacks_and_stages(dtype: tf.DType) -> None:
    values = [b"a", b"b"] if dtype == tf.string else tf.cast([1, 0], dtype).numpy().tolist()
    with tf.device(HPU):
        x = tf.constant(values, dtype)
        queue = tf.raw_ops.FIFOQueueV2(component_types=[dtype, tf.float32])
        tf.raw_ops.QueueEnqueueV2(handle=queue, components=[x, X])
        first, second = tf.raw_ops.QueueDequeueV2(handle=queue, component_types=[dtype, tf.float32])
        assert first.numpy().tolist() == values
        np.testing.assert_array_equal(second.numpy(), X)
        name = f"stage_{dtype.name}"
        tf.raw_ops.Stage(values=[x], shared_name=name)
        assert tf.raw_ops.Unstage(dtypes=[dtype], shared_name=name)[0].numpy().tolist() == values
        if dtype != tf.string:
            stack = tf.raw_ops.StackV2(max_size=2, elem_type=dtype)
            tf.raw_ops.StackPushV2(handle=stack, elem=x, swap_memory=True)
            assert tf.raw_ops.StackPopV2(handle=stack, elem_type=dtype).numpy().tolist() == values


def test_calls_that_stay_whole() -> None:
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([2, 2], tf.float32)])
    def below(i: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return i < 3.0

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([2, 2], tf.float32)])
    def double(i: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1.0, x * 2.0

    @tf.function(input_signature=[tf.TensorSpec([2, 2], tf.float32)])
    def negate(x: tf.Tensor) -> tf.Tensor:
        return -x

    @tf.function(input_signature=[tf.TensorSpec([2, 2], tf.float32)])
    def same(x: tf.Tensor) -> tf.Tensor:
        return x

    condition, body = below.get_concrete_function(), double.get_concrete_function()
    branches = [negate.get_concrete_function(), same.get_concrete_function()]
    with tf.device(HPU):
        x = tf.constant(X)
        for loop in (tf.raw_ops.While, tf.raw_ops.StatelessWhile):
            i, result = loop(input=[tf.constant(0.0), x], cond=condition, body=body)
            assert i.numpy() == 3.0
            np.testing.assert_array_equal(result.numpy(), X * 8)
        for branch in (tf.raw_ops.If, tf.raw_ops.StatelessIf):
            for taken in (True, False):
                (result,) = branch(
                    cond=tf.constant(taken),
                    input=[x],
                    Tout=[tf.float32],
                    then_branch=branches[0],
                    else_branch=branches[1],
                )
                np.testing.assert_array_equal(result.numpy(), -X if taken else X)
        (result,) = tf.raw_ops.Case(branch_index=tf.constant(1), input=[x], Tout=[tf.float32], branches=branches)
        np.testing.assert_array_equal(result.numpy(), X)


def test_asserts_and_host_lists() -> None:
    with tf.device(HPU):
        tf.debugging.assert_equal(tf.constant(X), tf.constant(X))
        with pytest.raises(tf.errors.InvalidArgumentError, match="4"):
            tf.debugging.assert_less(tf.constant(X), tf.constant(4.0))
        assert tf.linspace(0.0, 1.0, 3).numpy().tolist() == [0.0, 0.5, 1.0]
        merged = tf.raw_ops.ParallelDynamicStitch(indices=[[0], [1]], data=[X[:1], X[1:]])
        np.testing.assert_array_equal(merged.numpy(), X)


def test_temporary_variables() -> None:
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session, tf.device(HPU):
        reference = tf.raw_ops.TemporaryVariable(shape=[2, 2], dtype=tf.float32, var_name="t")
        value = tf.raw_ops.Assign(ref=reference, value=tf.constant(X))
        result = tf.raw_ops.DestroyTemporaryVariable(ref=value, var_name="t")
        np.testing.assert_array_equal(session.run(result), X)
