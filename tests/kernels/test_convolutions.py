"""Convolutions that oneDNN computes wrongly, against NumPy. TensorFlow's CPU kernels call oneDNN, too."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf

from tests.support.compare import HPU

pytestmark = pytest.mark.usefixtures("hpu")

Array = npt.NDArray[np.float64]
# Batch and image with features, window, and strides.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "one column": ((1, 8, 2, 5), (1, 2), (1, 2)),
    "one column of one feature": ((3, 8, 3, 1), (2, 2), (1, 4)),
    "one column of many features": ((2, 9, 5, 48), (3, 3), (2, 3)),
    "one column of a volume": ((2, 5, 6, 4, 3), (2, 1, 3), (2, 2, 3)),
    "patches": ((2, 9, 32, 16), (3, 4), (3, 4)),
    "patches of half a vector": ((1, 7, 36, 8), (1, 8), (1, 7)),
    "overlapping windows": ((2, 6, 18, 4), (1, 16), (2, 1)),
    "wide rows": ((2, 6, 26, 48), (2, 6), (1, 4)),
    "patches of a volume": ((3, 7, 7, 32, 8), (1, 2, 8), (3, 1, 8)),
}


def convolved(image: Array, window: Array, strides: tuple[int, ...]) -> Array:
    """The convolution without padding."""
    sizes = window.shape[: len(strides)]
    counts = [(length - size) // stride + 1 for length, size, stride in zip(image.shape[1:], sizes, strides)]
    result = np.zeros((image.shape[0], *counts, window.shape[-1]))
    for place in itertools.product(*map(range, sizes)):
        ends = [begin + (count - 1) * stride + 1 for begin, count, stride in zip(place, counts, strides)]
        pixels = (slice(None), *map(slice, place, ends, strides))
        result += image[pixels] @ window[place]
    return result


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, dtype: tf.DType) -> None:
    shape, sizes, strides = CASES[name]
    random = np.random.default_rng(0)
    image = random.integers(-4, 5, shape).astype(np.float64)
    window = random.integers(-4, 5, (*sizes, shape[-1], 3)).astype(np.float64)
    function = tf.nn.conv3d if len(sizes) == 3 else tf.nn.conv2d

    @tf.function(jit_compile=True)
    def convolution(image: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
        return function(image, window, (1, *strides, 1), "VALID")

    with tf.device(HPU):
        result = convolution(tf.constant(image, dtype), tf.constant(window, dtype))
    # Sums of small integers are exact, and are rounded once.
    np.testing.assert_array_equal(result, tf.constant(convolved(image, window, strides), dtype))


def test_a_flat_volume() -> None:
    image, window = np.ones((2, 1, 4, 8, 3)), np.ones((4, 4, 3, 3, 1))

    @tf.function(jit_compile=True)
    def convolution(image: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
        return tf.nn.conv3d(image, window, (1, 4, 4, 1, 1), "SAME")

    with tf.device(HPU):
        result = convolution(tf.constant(image, tf.bfloat16), tf.constant(window, tf.bfloat16))
    # Each window covers all 4 rows and 3 columns of one plane, but 2 columns at both ends.
    columns = np.array([2, 3, 3, 3, 3, 3, 3, 2], np.float32)
    np.testing.assert_array_equal(tf.cast(result, tf.float32)[0, 0, 0, :, 0], 4 * 3 * columns)
