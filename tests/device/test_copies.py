"""Copies of tensors between host and HPU."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.device import copies_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

DTYPES = [
    tf.float32,
    tf.bfloat16,
    tf.int32,
    tf.int8,
    tf.bool,
    tf.float16,
    tf.float64,
    tf.int64,
    tf.uint8,
    tf.uint32,
    tf.complex64,
]
# Sizes in bytes, including the limits of the copy methods: 64 KiB on the compute stream, 1 MiB in the pool.
SIZES = [0, 1, 255, 4096, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 40 << 20]


def to_device(tensor: tf.Tensor, device: str) -> tf.Tensor:
    """Copies a tensor to device memory, including int32, which TensorFlow's kernels keep on the host."""
    copy = tensor._copy(device_name=device)
    assert copy.backing_device.endswith(device), copy.backing_device
    return copy


def random_array(dtype: tf.DType, elements: int) -> np.ndarray[Any, Any]:
    """Array of random numbers without NaN, so that comparisons work."""
    generator = np.random.default_rng(elements)
    if dtype.is_bool:
        return generator.integers(0, 2, elements).astype(np.bool_)
    if dtype.is_complex:
        return (generator.standard_normal(elements) + 1j * generator.standard_normal(elements)).astype(
            dtype.as_numpy_dtype
        )
    if dtype.is_floating:
        return generator.standard_normal(elements).astype(dtype.as_numpy_dtype)
    return generator.integers(dtype.min, dtype.max, elements, dtype=np.int64).astype(dtype.as_numpy_dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("elements", [0, 1, 1000, 300_000])
def test_round_trip_of_each_type(hpu: str, dtype: tf.DType, elements: int) -> None:
    array = random_array(dtype, elements)
    with tf.device("/device:CPU:0"):
        tensor = tf.constant(array)
    np.testing.assert_array_equal(to_device(tensor, hpu).numpy(), array)


@pytest.mark.parametrize("size", SIZES)
def test_round_trip_of_each_size(hpu: str, size: int) -> None:
    array = random_array(tf.uint8, size)
    with tf.device("/device:CPU:0"):
        tensor = tf.constant(array)
    np.testing.assert_array_equal(to_device(tensor, hpu).numpy(), array)


@pytest.mark.parametrize("dtype", [tf.float32, tf.int64, tf.bool], ids=lambda dtype: dtype.name)
def test_constants_and_identity_are_placed_on_the_device(hpu: str, dtype: tf.DType) -> None:
    array = random_array(dtype, 100)
    with tf.device(hpu):
        tensor = tf.identity(tf.constant(array))
    assert tensor.device.endswith(hpu)
    assert tensor.backing_device.endswith(hpu)
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_int32_stays_in_host_memory_at_the_borders_of_ops(hpu: str) -> None:
    with tf.device(hpu):
        tensor = tf.identity(tf.constant([1, 2, 3], tf.int32))
    assert tensor.device.endswith(hpu)
    assert "CPU" in tensor.backing_device
    np.testing.assert_array_equal(tensor.numpy(), [1, 2, 3])


def test_strings_stay_on_the_host(hpu: str) -> None:
    with tf.device("/device:CPU:0"):
        tensor = tf.constant(["on", "the", "host"])
    with pytest.raises(RuntimeError, match="type string"):
        to_device(tensor, hpu)
    with tf.device(hpu):
        assert tf.identity(tensor).numpy().tolist() == [b"on", b"the", b"host"]


def test_the_source_may_change_after_the_copy(hpu: str) -> None:
    for size in (1000, 1 << 22):
        array = np.ones(size, np.uint8)
        with tf.device("/device:CPU:0"):
            tensor = tf.convert_to_tensor(array)
        copy = to_device(tensor, hpu)
        del tensor
        array[:] = 7
        np.testing.assert_array_equal(copy.numpy(), np.ones(size, np.uint8))


def test_copy_from_the_device_to_itself(hpu: str) -> None:
    with tf.device("/device:CPU:0"):
        tensor = to_device(tf.range(1000.0), hpu)
    np.testing.assert_array_equal(to_device(tensor, hpu).numpy(), np.arange(1000.0, dtype=np.float32))


def test_graph_constants_reach_the_device(hpu: str) -> None:
    array = random_array(tf.float32, 5000)

    @tf.function
    def constants() -> tuple[tf.Tensor, tf.Tensor]:
        with tf.device(hpu):
            return tf.identity(tf.constant(array)), tf.identity(tf.constant(array[:0]))

    full, empty = constants()
    np.testing.assert_array_equal(full.numpy(), array)
    assert empty.shape == (0,)


def test_threads_copy_at_once(hpu: str) -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for step in range(30):
                size = (100, 70_000, 1_500_000)[step % 3] + seed
                array = np.full(size, (seed * 31 + step) % 251, np.uint8)
                with tf.device("/device:CPU:0"):
                    copy = to_device(tf.constant(array), hpu)
                np.testing.assert_array_equal(copy.numpy(), array)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


@pytest.mark.parametrize("elements", [1, (16 << 10) - 1, 16 << 10, (16 << 10) + 1, 300_001])
def test_int32_results_of_clusters(hpu: str, elements: int) -> None:
    """Results of clusters with dtype int32, which the emulator writes to host memory if they are large.

    Later launches must not overwrite them.
    """

    @tf.function
    def compute(x: tf.Tensor, step: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
        whole = tf.cast(x, tf.int32) + step
        return whole, whole, tf.reduce_sum(whole), x * 2.0

    array = random_array(tf.int8, elements)
    results = []
    with tf.device(hpu):
        x = tf.constant(array.astype(np.float32))
        for step in range(5):
            results.append(compute(x, tf.constant(step)))
    for step, (one, other, total, doubled) in enumerate(results):
        expected = array.astype(np.int32) + step
        np.testing.assert_array_equal(one, expected)
        np.testing.assert_array_equal(other, expected)
        assert total.numpy() == expected.sum()
        np.testing.assert_array_equal(doubled, array * 2.0)


def test_a_failed_launch_of_a_large_int32_result() -> None:
    environment = {"HPU_FAULTS": "launch@1", "HPU_EAGER_COMPILE_AFTER": "0"}
    assert run_with_tensorflow(call_to(programs.failed_launch), environment).stdout.strip().endswith("done")
