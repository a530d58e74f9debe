"""Ops that programs mix with device code: data-dependent sizes, strings, Python functions, datasets, summaries."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")

X = np.array([[1.0, -2.0, 0.0], [3.0, 0.0, -1.0]], np.float32)


def test_results_whose_size_is_data() -> None:
    def sizes(x: tf.Tensor) -> list[tf.Tensor]:
        flat = tf.reshape(x, [-1])
        return [
            tf.where(x > 0.0),
            tf.boolean_mask(x, x > 0.0),
            *tf.unique(flat),
            *tf.unique_with_counts(flat),
            *tf.dynamic_partition(flat, tf.cast(flat > 0.0, tf.int32), 2),
            tf.where(x > 0.0, x, -x),
        ]

    assert_same_on_hpu(sizes, X)
    assert_same_on_hpu(tf.function(sizes), X)


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.int32, tf.int8, tf.bool])
def test_eager_ops_of_each_type(dtype: tf.DType) -> None:
    values = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype.as_numpy_dtype)

    def ops(x: tf.Tensor) -> list[tf.Tensor]:
        results = [
            tf.concat([x, x], 1),
            tf.transpose(x),
            tf.tile(x, [2, 1]),
            tf.stack([x, x]),
            *tf.split(x, 3, axis=1),
            x[1:, ::2],
            tf.gather(x, [1, 0], axis=1),
            tf.zeros_like(x),
            tf.equal(x, tf.ones_like(x)),
            tf.cast(x, tf.float32),
            tf.where(tf.equal(x, x), x, tf.zeros_like(x)),
        ]
        if dtype != tf.bool:
            results += [x + x, x * x, x - x, tf.maximum(x, tf.zeros_like(x))]
        return results

    for _ in range(4):  # first with CPU kernels, then compiled
        assert_same_on_hpu(ops, values)


def test_strings_and_prints(capfd: pytest.CaptureFixture[str]) -> None:
    with tf.device(HPU):
        x = tf.constant(X)
        text = tf.strings.as_string(x)
        assert tf.strings.to_number(text).numpy().tolist() == X.tolist()
        assert tf.strings.join([tf.constant(["a", "b"]), "c"]).numpy().tolist() == [b"ac", b"bc"]
        tf.print("value", x, tf.constant([1, 2]))

        @tf.function
        def printing(value: tf.Tensor) -> tf.Tensor:
            tf.print("inside", tf.reduce_sum(value))
            return value * 2.0

        np.testing.assert_array_equal(printing(x).numpy(), X * 2)
    captured = capfd.readouterr().err
    assert "value [[1 -2 0]" in captured and "[1 2]" in captured and "inside 1" in captured


def test_python_functions() -> None:
    seen: list[str] = []

    def python(x: tf.Tensor) -> tf.Tensor:
        seen.append(x.device)
        return x * 2.0 + tf.reduce_sum(x)

    @tf.function
    def call(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        doubled = tf.py_function(python, [x], tf.float32)
        doubled.set_shape([2, 3])
        return doubled + 1.0, tf.numpy_function(lambda a: a + 1, [tf.shape(x)], tf.int32)

    with tf.device(HPU):
        for _ in range(2):
            first, second = call(tf.constant(X))
            np.testing.assert_allclose(first.numpy(), X * 2 + X.sum() + 1)
            assert second.numpy().tolist() == [3, 4]
        mixed = tf.py_function(
            lambda a, i: (a * 3.0, i + 1), [tf.constant(X), tf.constant([1])], [tf.float32, tf.int32]
        )
    np.testing.assert_array_equal(mixed[0].numpy(), X * 3)
    assert mixed[1].numpy().tolist() == [2]
    assert len(seen) == 2


def test_gradient_through_a_python_function() -> None:
    def square(x: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda value: value * value, [x], tf.float32)
        return [y, tape.gradient(y, x)]

    assert_same_on_hpu(square, X)


def test_assertions_in_functions() -> None:
    @tf.function
    def checked(x: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_greater(x, -10.0, message="too small")
        tf.debugging.assert_all_finite(x, "not finite")
        return x * 2.0

    with tf.device(HPU):
        np.testing.assert_array_equal(checked(tf.constant(X)).numpy(), X * 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
            checked(tf.constant(X - 20.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
            checked(tf.constant(X + np.inf))


def _rows() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((np.arange(8, dtype=np.float32), np.arange(8, dtype=np.int32)))


def test_datasets_feed_the_device() -> None:
    dataset = _rows().map(lambda x, i: (x * 2.0, i)).batch(4).prefetch(2)

    @tf.function
    def total(data: tf.data.Dataset) -> tf.Tensor:
        result = tf.constant(0.0)
        for x, i in data:
            result += tf.reduce_sum(x) + tf.cast(tf.reduce_sum(i), tf.float32)
        return result

    with tf.device(HPU):
        assert float(total(dataset)) == 84.0
        assert [x.numpy().tolist() for x, _ in dataset] == [[0.0, 2.0, 4.0, 6.0], [8.0, 10.0, 12.0, 14.0]]
        iterator = iter(dataset)

        @tf.function
        def following() -> tf.Tensor:
            x, i = next(iterator)
            return x + tf.cast(i, tf.float32)

        assert following().numpy().tolist() == [0.0, 3.0, 6.0, 9.0]
        optional = iterator.get_next_as_optional()
        assert optional.has_value().numpy()
        assert optional.get_value()[0].numpy().tolist() == [8.0, 10.0, 12.0, 14.0]
        assert not iterator.get_next_as_optional().has_value().numpy()


def test_prefetch_to_device() -> None:
    dataset = _rows().batch(2).apply(tf.data.experimental.prefetch_to_device(HPU))
    batches = list(dataset)
    assert [x.numpy().tolist() for x, _ in batches] == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]
    assert [i.numpy().tolist() for _, i in batches] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert all(x.backing_device.endswith("HPU:0") for x, _ in batches)


def test_iterators_placed_on_the_device() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = _rows().batch(4)
        with tf.device(HPU):
            iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
            x, i = iterator.get_next()
            result = x * 2.0 + tf.cast(i, tf.float32)
        session.run(iterator.initializer)
        assert session.run(result).tolist() == [0.0, 3.0, 6.0, 9.0]
        assert session.run(result).tolist() == [12.0, 15.0, 18.0, 21.0]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(result)


def test_optionals_on_the_device() -> None:
    with tf.device(HPU):
        optional = tf.experimental.Optional.from_value((tf.constant(X), tf.constant([1, 2])))
        assert optional.has_value().numpy()
        x, i = optional.get_value()
        np.testing.assert_array_equal(x.numpy(), X)
        assert i.numpy().tolist() == [1, 2]
        assert not tf.experimental.Optional.empty(tf.TensorSpec([], tf.float32)).has_value().numpy()


def test_summaries(tmp_path: pathlib.Path) -> None:
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(), tf.device(HPU):
        x = tf.constant(X)

        @tf.function
        def write(step: tf.Tensor) -> None:
            tf.summary.scalar("sum", tf.reduce_sum(x), step=step)
            tf.summary.histogram("values", x, step=step)

        write(tf.constant(1, tf.int64))
    writer.close()
    (path,) = tmp_path.iterdir()
    tags = [value.tag for event in tf.compat.v1.train.summary_iterator(str(path)) for value in event.summary.value]
    assert tags == ["sum", "values"]


def test_queues_of_tensorflow_1() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        queue = tf.queue.FIFOQueue(4, [tf.float32, tf.string, tf.int32], [[3], [], []])
        enqueue = queue.enqueue_many([tf.constant(X), tf.constant(["a", "b"]), tf.constant([1, 2])])
        x, text, i = queue.dequeue()
        session.run(enqueue)
        values = session.run([x * 2.0, text, i + 1])
        np.testing.assert_array_equal(values[0], X[0] * 2)
        assert values[1:] == [b"a", 2]
        assert session.run(queue.size()) == 1


def test_sets_of_devices_in_one_function() -> None:
    @tf.function
    def mixed(x: tf.Tensor) -> tf.Tensor:
        with tf.device(CPU):
            order = tf.argsort(tf.reshape(x, [-1]))
        return tf.gather(tf.reshape(x, [-1]), order) * 2.0

    with tf.device(HPU):
        np.testing.assert_array_equal(mixed(tf.constant(X)).numpy(), np.sort(X.reshape(-1)) * 2)
