"""Max pooling gradients go to the CPU's choice of elements: the first maximum in images, all maxima in volumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import differences
from tests.support.processors import LIKE_THE_CPU_WITH_AVX512

pytestmark = pytest.mark.usefixtures("hpu")

raw = tf.raw_ops
# Values with frequent ties in one window.
VALUES = [np.nan, np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1.0, 2.0, -1.0]
WINDOWS = {"apart": ([1, 2, 2, 1], [1, 2, 2, 1]), "overlapping": ([1, 3, 3, 1], [1, 2, 2, 1])}
DTYPES = [tf.float32, tf.bfloat16, tf.float16, tf.float64, tf.int32]


def images(*shape: int, dtype: tf.DType = tf.float32) -> Any:
    values = np.random.default_rng(3).choice(VALUES[4:] if dtype.is_integer else VALUES, shape)
    return values.astype(dtype.as_numpy_dtype)


def gradient(shape: tf.TensorShape, dtype: tf.DType) -> Any:
    # Integers, whose sums are exact.
    return np.random.default_rng(4).integers(1, 5, shape).astype(dtype.as_numpy_dtype)


# The emulator has a kernel for many channels.
@pytest.mark.parametrize("channels", [1, 8])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_gradients(dtype: tf.DType, windows: str, padding: str, channels: int) -> None:
    x = images(2, 7, 6, channels, dtype=dtype)
    ksize, strides = WINDOWS[windows]
    common: dict[str, Any] = {"ksize": ksize, "strides": strides, "padding": padding}
    with tf.device("/device:CPU:0"):
        maxima = raw.MaxPool(input=x, **common).numpy()
    of_maxima, of_images = gradient(maxima.shape, dtype), gradient(x.shape, dtype)
    first = differences(lambda: raw.MaxPoolGrad(orig_input=x, orig_output=maxima, grad=of_maxima, **common))
    second = differences(lambda: raw.MaxPoolGradGrad(orig_input=x, orig_output=maxima, grad=of_images, **common))
    assert (first, second) == ([], [])


VOLUMES: dict[str, dict[str, Any]] = {
    "apart": {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"},
    "overlapping": {"ksize": [1, 3, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"},
    "with gaps": {"ksize": [1, 1, 2, 1, 1], "strides": [1, 2, 3, 2, 1], "padding": "VALID"},
    "at the edges": {"ksize": [1, 3, 3, 3, 1], "strides": [1, 2, 1, 3, 1], "padding": "SAME"},
}


@pytest.mark.parametrize("channels", [1, 8])
@pytest.mark.parametrize("windows", VOLUMES)
def test_gradients_of_volumes(windows: str, channels: int) -> None:
    """The CPU's kernel propagates the gradient to all elements that equal the maximum."""
    x = np.random.default_rng(3).choice(VALUES, (2, 5, 4, 4, channels)).astype(np.float32)
    common = VOLUMES[windows]
    with tf.device("/device:CPU:0"):
        maxima = raw.MaxPool3D(input=x, **common).numpy()
    of_maxima, of_images = gradient(maxima.shape, tf.float32), gradient(x.shape, tf.float32)
    first = differences(lambda: raw.MaxPool3DGrad(orig_input=x, orig_output=maxima, grad=of_maxima, **common))
    second = differences(lambda: raw.MaxPool3DGradGrad(orig_input=x, orig_output=maxima, grad=of_images, **common))
    assert (first, second) == ([], [])


@LIKE_THE_CPU_WITH_AVX512
def test_gradients_of_volumes_in_graphs_that_pool() -> None:
    """In graphs that also pool, the CPU's oneDNN kernel propagates the gradient to the first of equal elements."""
    x = tf.constant(np.random.default_rng(3).choice(VALUES[4:], (2, 5, 4, 4, 8)).astype(np.float32))

    @tf.function
    def gradient() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            maxima = tf.nn.max_pool3d(x, [1, 2, 2], 2, "SAME")
        return tape.gradient(maxima, x)

    results = []
    for device in ("/device:CPU:0", "/device:HPU:0"):
        with tf.device(device):
            results.append(gradient())
    np.testing.assert_array_equal(results[1], results[0])


def test_second_gradient_distinguishes_close_numbers() -> None:
    x = (1 + np.arange(16, dtype=np.float32) * 1e-6).reshape(1, 4, 4, 1)
    common: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    maxima, of_images = np.zeros([1, 2, 2, 1], np.float32), gradient(x.shape, tf.float32)
    assert not differences(lambda: raw.MaxPoolGradGrad(orig_input=x, orig_output=maxima, grad=of_images, **common))
