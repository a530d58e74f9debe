"""Resource variables of every dtype on the HPU. int32 variables keep their value in host memory."""

from __future__ import annotations

import pathlib
import threading

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

DTYPES = [tf.float32, tf.bfloat16, tf.int32, tf.int8, tf.bool, tf.int64, tf.float16]
raw = tf.raw_ops


def values(dtype: tf.DType, offset: int = 0) -> list[float]:
    numbers = (np.arange(6) + offset) % 2 if dtype == tf.bool else np.arange(6) + offset
    return numbers.astype(dtype.as_numpy_dtype).tolist()


def variable(dtype: tf.DType, offset: int = 0) -> tf.Variable:
    return tf.Variable(tf.constant(values(dtype, offset), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
class TestEachType:
    """Creation, reads and assignments for one dtype."""

    def test_placement_and_use(self, dtype: tf.DType) -> None:
        v = variable(dtype)
        assert v.device.endswith("HPU:0")
        assert v.numpy().tolist() == values(dtype)
        v.assign(tf.constant(values(dtype, 1), dtype))
        assert v.read_value().numpy().tolist() == values(dtype, 1)
        assert raw.VariableShape(input=v.handle).numpy().tolist() == [6]
        assert raw.VarIsInitializedOp(resource=v.handle).numpy()
        if dtype != tf.bool:
            v.assign_add(tf.ones([6], dtype))
            assert v.numpy().tolist() == values(dtype, 2)
            v.assign_sub(tf.ones([6], dtype))
            assert v.numpy().tolist() == values(dtype, 1)

    def test_in_functions(self, dtype: tf.DType) -> None:
        v, w = variable(dtype), variable(dtype, 1)

        @tf.function
        def swap() -> tuple[tf.Tensor, tf.Tensor]:
            a, b = v.read_value(), w.read_value()
            v.assign(b)
            w.assign(a)
            return a, v.read_value()

        old, new = swap()
        assert old.numpy().tolist() == values(dtype) and new.numpy().tolist() == values(dtype, 1)
        assert v.numpy().tolist() == values(dtype, 1) and w.numpy().tolist() == values(dtype)

    def test_held_reads_keep_their_value(self, dtype: tf.DType) -> None:
        v = variable(dtype)
        held = raw.ReadVariableOp(resource=v.handle, dtype=dtype)
        for step in range(4):  # enough calls to compile the eager op
            if dtype == tf.bool:
                v.assign(tf.logical_not(v))
            else:
                v.assign_add(tf.ones([6], dtype))
            assert held.numpy().tolist() == values(dtype), step
        assert v.numpy().tolist() == values(dtype, 4)

    def test_shared_buffers_are_not_written(self, dtype: tf.DType) -> None:
        v, w = variable(dtype), variable(dtype, 1)
        w.assign(v)
        source = tf.constant(values(dtype), dtype)
        v.assign(source)

        @tf.function
        def update() -> None:
            v.assign(tf.logical_not(v) if dtype == tf.bool else v + tf.ones([6], dtype))

        for _ in range(3):
            update()
        if dtype != tf.bool:
            v.assign_add(tf.ones([6], dtype))
        else:
            v.assign(tf.logical_not(v))
        assert source.numpy().tolist() == values(dtype)
        assert w.numpy().tolist() == values(dtype)
        assert v.numpy().tolist() == values(dtype, 4)

    def test_checkpoints(self, dtype: tf.DType, tmp_path: pathlib.Path) -> None:
        path = tf.train.Checkpoint(v=variable(dtype, 3)).write(str(tmp_path / "checkpoint"))
        for device in (HPU, CPU):
            with tf.device(device):
                restored = variable(dtype)
            tf.train.Checkpoint(v=restored).read(path).assert_consumed()
            assert restored.device.endswith(device[-5:])
            assert restored.numpy().tolist() == values(dtype, 3)

    def test_copies_between_devices(self, dtype: tf.DType) -> None:
        on_hpu = variable(dtype)
        with tf.device(CPU):
            on_cpu = variable(dtype, 1)
        on_cpu.assign(on_hpu)
        on_hpu.assign(tf.constant(values(dtype, 2), dtype))
        assert on_cpu.numpy().tolist() == values(dtype)
        on_hpu.assign(on_cpu)
        assert on_hpu.numpy().tolist() == values(dtype)


def test_int32_in_a_larger_function() -> None:
    """A counter next to floating-point weights, as in optimizers and metrics."""
    counter = tf.Variable(0, dtype=tf.int32)
    weights = tf.Variable(tf.ones([4]))

    @tf.function
    def step(scale: tf.Tensor) -> tf.Tensor:
        counter.assign_add(1)
        weights.assign(weights * tf.cast(counter, tf.float32) * scale)
        return tf.reduce_sum(weights) + tf.cast(counter, tf.float32)

    results = [float(step(tf.constant(1.0))) for _ in range(4)]
    assert results == [5.0, 10.0, 27.0, 100.0]
    assert int(counter) == 4 and counter.device.endswith("HPU:0")


def test_int32_sparse_updates() -> None:
    v = tf.Variable([1, 2, 3, 4])
    assert tf.gather(v, [3, 0]).numpy().tolist() == [4, 1]
    v.scatter_nd_update([[1]], [7])
    assert v.numpy().tolist() == [1, 7, 3, 4]
    v.scatter_add(tf.IndexedSlices(tf.constant([10, 20]), tf.constant([0, 3])))
    assert v.numpy().tolist() == [11, 7, 3, 24]
    v[1:3].assign([5, 6])
    assert v.numpy().tolist() == [11, 5, 6, 24]


def test_errors_of_int32_variables() -> None:
    with tf.device(HPU):
        handle = raw.VarHandleOp(dtype=tf.int32, shape=[2], shared_name="hpu_int32_unassigned")
        with pytest.raises(tf.errors.FailedPreconditionError):
            raw.ReadVariableOp(resource=handle, dtype=tf.int32)
        raw.AssignVariableOp(resource=handle, value=tf.constant([1, 2]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="wrong shape"):
            raw.AssignVariableOp(resource=handle, value=tf.constant([1, 2, 3]), validate_shape=True)
        raw.DestroyResourceOp(resource=handle)
        with pytest.raises(tf.errors.FailedPreconditionError):
            raw.ReadVariableOp(resource=handle, dtype=tf.int32)


def test_strings_stay_on_the_cpu() -> None:
    v = tf.Variable(["a", "b"])
    v.assign(["c", "d"])
    assert v.device.endswith("CPU:0") and v.numpy().tolist() == [b"c", b"d"]


def test_threads_share_an_int32_counter() -> None:
    counter = tf.Variable(0, dtype=tf.int32)

    @tf.function
    def increment() -> None:
        counter.assign_add(1)

    increment()
    threads = [threading.Thread(target=lambda: [increment() for _ in range(25)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(counter) == 101


def test_reference_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow 1 reference variables live on the CPU, while other ops run on the HPU."""
    monkeypatch.setenv("TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU", "true")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        v = tf.compat.v1.get_variable("v", initializer=np.ones(3, np.float32), use_resource=False)
        i = tf.compat.v1.get_variable("i", initializer=np.array([1, 2], np.int32), use_resource=False)
        update = tf.compat.v1.assign_add(v, tf.constant([1.0, 2.0, 3.0]))
        session.run(tf.compat.v1.global_variables_initializer())
        assert session.run(update).tolist() == [2.0, 3.0, 4.0]
        assert session.run(v * 2.0).tolist() == [4.0, 6.0, 8.0]
        assert session.run(tf.compat.v1.assign(i, [5, 6])).tolist() == [5, 6]


def test_resource_variables_in_sessions() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        i = tf.compat.v1.get_variable("ri", initializer=np.array([1, 2], np.int32), use_resource=True)
        f = tf.compat.v1.get_variable("rf", initializer=np.ones(2, np.float32), use_resource=True)
        session.run(tf.compat.v1.global_variables_initializer())
        update = tf.group(i.assign_add([1, 1]), f.assign_add([0.5, 0.5]))
        session.run(update)
        assert session.run([i, f])[0].tolist() == [2, 3]
        assert session.run(tf.cast(i, tf.float32) * f).tolist() == [3.0, 4.5]
