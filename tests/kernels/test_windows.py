"""Window ops on images without tf2xla lowering, compared with TensorFlow's CPU kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_launched
from tests.support.compare import HPU, Tolerance, assert_same_graph, assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")

ALL_TYPES = ["float32", "float64", "float16", "bfloat16", "uint8", "int8", "uint16", "int16", "uint32", "int32"]
ALL_TYPES += ["uint64", "int64"]


def _dilation(strides: tuple[int, int], rates: tuple[int, int], padding: str) -> Callable[..., Any]:
    """Returns a function for a dilation and both its gradients."""
    options: dict[str, Any] = {"strides": [1, *strides, 1], "rates": [1, *rates, 1], "padding": padding}

    def dilate(images: tf.Tensor, kernel: tf.Tensor, dy: tf.Tensor) -> Any:
        operands = {"input": images, "filter": kernel}
        return (
            tf.raw_ops.Dilation2D(**operands, **options),
            tf.raw_ops.Dilation2DBackpropInput(**operands, out_backprop=dy, **options),
            tf.raw_ops.Dilation2DBackpropFilter(**operands, out_backprop=dy, **options),
        )

    return dilate


def _output(size: int, window: int, stride: int, rate: int, padding: str) -> int:
    span = (window - 1) * rate + 1 if padding == "VALID" else 1
    return max(0, (size - span + stride) // stride)


def _whole_numbers(generator: np.random.Generator, shape: Any, dtype: str) -> np.ndarray[Any, Any]:
    """Returns integers with few distinct values, so that ties occur. Their sums are exact, except large 16-bit sums."""
    low = 0 if dtype.startswith("u") else -3
    return generator.integers(low, 4, shape).astype(tf.as_dtype(dtype).as_numpy_dtype)


def _assert_same_dilation(generator: np.random.Generator, dtype: str, special: bool = False) -> None:
    rows, columns, batch, channels = (int(n) for n in generator.integers(1, (14, 14, 4, 21)))
    window = tuple(int(n) for n in generator.integers(1, 5 if generator.integers(4) else 7, 2))
    strides, rates = (tuple(int(n) for n in generator.integers(1, 4, 2)) for _ in range(2))
    padding = str(generator.choice(["SAME", "VALID"]))
    if padding == "VALID":
        rows, columns = (size + (w - 1) * rate for size, w, rate in zip((rows, columns), window, rates))
    windows = [_output(*sizes, padding) for sizes in zip((rows, columns), window, strides, rates)]
    images = _whole_numbers(generator, (batch, rows, columns, channels), dtype)
    kernel = _whole_numbers(generator, (*window, channels), dtype)
    dy = _whole_numbers(generator, (batch, *windows, channels), dtype)
    if special:
        values = np.array([np.nan, -np.inf, np.inf, -0.0], images.dtype)
        for array, share in ((images, generator.choice([0.2, 0.95])), (kernel, 0.1)):
            chosen = generator.uniform(size=array.shape) < share
            array[chosen] = generator.choice(values, int(chosen.sum()))
    dilate = _dilation((strides[0], strides[1]), (rates[0], rates[1]), padding)
    assert_same_graph(dilate, images, kernel, dy, gradients=False, clusters=dy.size > 0, tolerance=Tolerance(0, 0))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("special", [False, True])
def test_dilation(seed: int, special: bool) -> None:
    _assert_same_dilation(np.random.default_rng(seed), "float32", special)


@pytest.mark.parametrize("dtype", ALL_TYPES[1:])
def test_dilation_of_other_types(dtype: str) -> None:
    generator = np.random.default_rng(ALL_TYPES.index(dtype))
    _assert_same_dilation(generator, dtype, special="float" in dtype)


def test_dilation_of_empty_images() -> None:
    dilate = _dilation((1, 1), (1, 1), "SAME")
    images, kernel = np.zeros((2, 4, 4, 3), np.float32), np.zeros((3, 3, 3), np.float32)
    assert_same_graph(dilate, images[:0], kernel, images[:0], gradients=False, clusters=False)
    assert_same_graph(dilate, images[..., :0], kernel[..., :0], images[..., :0], gradients=False, clusters=False)
    assert_same_on_hpu(dilate, images, kernel[:0], images)
    one = np.ones((1, 1, 1, 1), np.float32)
    assert_same_graph(dilate, one, one[0], one, gradients=False)


def test_dilation_refuses_mismatched_shapes() -> None:
    images, kernel = np.zeros((2, 4, 4, 3), np.float32), np.zeros((3, 3, 3), np.float32)
    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="out_backprop"):
        tf.function(_dilation((1, 1), (1, 1), "SAME"))(images, kernel, images[:1])


def _max_pool(size: tuple[int, int], strides: tuple[int, int], padding: str, **options: Any) -> Callable[..., Any]:
    """Returns a function for max pooling with argmax, and for its gradient if the gradient uses the argmax."""
    windows: dict[str, Any] = {"ksize": [1, *size, 1], "strides": [1, *strides, 1], "padding": padding}

    def pool(images: tf.Tensor, dy: tf.Tensor) -> Any:
        maxima, argmax = tf.raw_ops.MaxPoolWithArgmax(input=images, **windows, **options)
        if argmax.dtype == tf.int32:
            return maxima, argmax
        batch = options.get("include_batch_in_index", False)
        gradient = tf.raw_ops.MaxPoolGradWithArgmax(
            input=images, grad=dy, argmax=argmax, include_batch_in_index=batch, **windows
        )
        return maxima, argmax, gradient

    return pool


def _assert_same_max_pool(generator: np.random.Generator, dtype: str, special: bool = False) -> None:
    rows, columns, batch, channels = (int(n) for n in generator.integers(1, (14, 14, 4, 40)))
    size, strides = (tuple(int(n) for n in generator.integers(1, 5, 2)) for _ in range(2))
    padding = str(generator.choice(["SAME", "VALID"]))
    if padding == "VALID":
        rows, columns = rows + size[0] - 1, columns + size[1] - 1
    windows = [_output(*sizes, 1, padding) for sizes in zip((rows, columns), size, strides)]
    images = _whole_numbers(generator, (batch, rows, columns, channels), dtype)
    if special:
        values = np.array([np.nan, -np.inf, np.inf, -0.0], images.dtype)
        chosen = generator.uniform(size=images.shape) < generator.choice([0.2, 0.95])
        images[chosen] = generator.choice(values, int(chosen.sum()))
    dy = _whole_numbers(generator, (batch, *windows, channels), dtype)
    options = {"include_batch_in_index": bool(generator.integers(2)), "Targmax": generator.choice([tf.int32, tf.int64])}
    pool = _max_pool((size[0], size[1]), (strides[0], strides[1]), padding, **options)
    assert_same_graph(pool, images, dy, gradients=False, tolerance=Tolerance(0, 0))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("special", [False, True])
def test_max_pool_with_argmax(seed: int, special: bool) -> None:
    _assert_same_max_pool(np.random.default_rng(seed), "float32", special)


@pytest.mark.parametrize("dtype", ALL_TYPES[1:])
def test_max_pool_with_argmax_of_other_types(dtype: str) -> None:
    generator = np.random.default_rng(ALL_TYPES.index(dtype))
    _assert_same_max_pool(generator, dtype, special="float" in dtype)


@pytest.mark.parametrize("batch", [False, True])
def test_gradient_of_max_pool_with_argmax_takes_any_place(batch: bool) -> None:
    generator = np.random.default_rng(batch)
    images, dy = np.zeros((3, 4, 6, 20), np.float32), _whole_numbers(generator, (3, 2, 3, 20), "float32")
    # Indices into the first image if they count from the start of the batch.
    argmax = generator.integers(0, 4 * 6 * 20, dy.shape)

    def gradient(images: tf.Tensor, dy: tf.Tensor, argmax: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.MaxPoolGradWithArgmax(
            input=images, grad=dy, argmax=argmax, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME",
            include_batch_in_index=batch,
        )  # fmt: skip

    if not batch:
        assert_same_graph(gradient, images, dy, argmax, gradients=False)
    # Indices of other images, and invalid indices, which crash the CPU kernel.
    argmax = generator.integers(-images.size, 2 * images.size, dy.shape)
    argmax[0, 0, 0, :2] = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    expected, own = np.zeros(images.size, np.float32), 0 if batch else np.arange(3).reshape(3, 1, 1, 1) * images[0].size
    to = argmax + own
    known = (to >= 0) & (to < images.size)
    np.add.at(expected, to[known], dy[known])
    with tf.device(HPU):
        result = tf.function(gradient)(images, dy, argmax)
    np.testing.assert_array_equal(result, expected.reshape(images.shape))
    assert_launched()


def test_max_pool_with_argmax_by_the_batch() -> None:
    images = np.random.default_rng(0).uniform(-1, 1, (5, 9, 8, 3)).astype(np.float32)

    def pool(images: tf.Tensor) -> Any:
        return tf.nn.max_pool_with_argmax(images, 3, 2, "SAME", include_batch_in_index=True)

    assert_same_graph(pool, images)
    assert_same_graph(pool, images, signature=[tf.TensorSpec([None, None, None, 3])])


def test_max_pool_with_argmax_has_the_errors_of_the_cpu() -> None:
    images = np.zeros((2, 4, 4, 3), np.float32)
    for shape in ((0, 4, 4, 3), (2, 0, 4, 3)):
        with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda images: tf.nn.max_pool_with_argmax(images, 2, 2, "SAME"))(
                images.reshape(-1)[:0].reshape(shape)
            )
    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(_max_pool((2, 2), (2, 2), "SAME", Targmax=tf.int64))(images, images)
