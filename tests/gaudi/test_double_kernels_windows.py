"""Pooling, resizing and cropping of images against their definitions in numpy."""

from __future__ import annotations

import dataclasses
import math
import struct

import numpy as np
import pytest

from tests.gaudi import kernel_library as kernels
from tests.gaudi.windows import Window

VALID, FULL, SAME, FULL_PYTORCH = range(4)
all_types = pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)
WINDOWS = {
    "2x2": Window((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    "overlapping, with pads": Window((3, 2), (1, 1), ((1, 1), (0, 1)), (1, 1)),
    "stride, other pads on each side": Window((2, 3), (3, 2), ((1, 0), (2, 1)), (1, 1)),
    "dilation": Window((2, 2), (1, 2), ((0, 1), (1, 0)), (2, 3)),
}
all_windows = pytest.mark.parametrize("name", WINDOWS)


def pooling_params(window: Window, convention: int = VALID, include_padding: bool | None = None) -> bytes:
    """Returns params of max pooling, or of average pooling with include_padding."""
    pads = [pad for pair in reversed(window.pads) for pad in pair]
    sides = [value for values in (window.kernel, window.stride, window.dilation) for value in reversed(values)]
    params = struct.pack("10iI", *pads, *sides, convention)
    return params if include_padding is None else params + struct.pack("i", include_padding)


def taken(x: np.ndarray, window: Window, results: tuple[int, ...], value: float) -> np.ndarray:
    """Returns the elements of all windows. The first axis is the position in the window."""
    padded = window.padded(x, value)
    return np.stack([padded[met] for _, met in window.taps(results)])


def scattered(terms: np.ndarray, window: Window, image: tuple[int, ...]) -> np.ndarray:
    """Adds elements of windows to an image. Transpose of taken()."""
    dx = window.padded(np.zeros((terms.shape[1], *image, terms.shape[-1])))
    for term, (_, met) in zip(terms, window.taps(terms.shape[2:4])):
        dx[met] += term
    return window.unpadded(dx, image)


def index_type(dtype: np.dtype) -> type:
    return np.uint8 if dtype == np.float32 else np.int16


@kernels.covers("maxpool_2d_fwd_*", "maxpool_2d_bwd_*")
@all_types
@all_windows
def test_max_pooling(name: str, dtype: np.dtype) -> None:
    window = WINDOWS[name]
    # Small integers: the first of equal elements counts.
    x = kernels.random_array((2, 6, 7, 3), np.int32, 0, -3, 3).astype(dtype)
    results = window.result_shape((6, 7))
    elements = taken(x, window, results, -np.inf)
    shape, suffix, params = elements.shape[1:], kernels.suffix(dtype), pooling_params(window)
    indices, y = kernels.run(f"maxpool_2d_fwd_{suffix}", [x], [(shape, index_type(dtype)), (shape, dtype)], params)
    kernels.assert_close(y, elements.max(axis=0))
    np.testing.assert_array_equal(indices, elements.argmax(axis=0))
    dy = kernels.random_array(shape, dtype, 1)
    chosen = np.arange(len(elements)).reshape(-1, 1, 1, 1, 1) == indices
    actual = kernels.run_one(f"maxpool_2d_bwd_{suffix}", [dy, indices], (x.shape, dtype), params)
    kernels.assert_close(actual, scattered(chosen * dy.astype(np.float64), window, (6, 7)))


@kernels.covers("avg_pool_2d_fwd_*", "avg_pool_2d_bwd_*")
@all_types
@all_windows
@pytest.mark.parametrize("include_padding", [False, True])
def test_average_pooling(name: str, dtype: np.dtype, include_padding: bool) -> None:
    window = WINDOWS[name]
    x = kernels.random_array((2, 6, 7, 3), dtype)
    results = window.result_shape((6, 7))
    counts = taken(np.ones_like(x), window, results, 1 if include_padding else 0).sum(axis=0)
    elements = taken(x, window, results, 0)
    params = pooling_params(window, VALID, include_padding)
    suffix = kernels.suffix(dtype)
    actual = kernels.run_one(f"avg_pool_2d_fwd_{suffix}", [x], (counts.shape, dtype), params)
    kernels.assert_close(actual, elements.sum(axis=0) / counts)
    dy = kernels.random_array(counts.shape, dtype, 1)
    terms = np.broadcast_to(dy.astype(np.float64) / counts, elements.shape)
    for operands in ([dy], [dy, x]):
        actual = kernels.run_one(f"avg_pool_2d_bwd_{suffix}", operands, (x.shape, dtype), params)
        kernels.assert_close(actual, scattered(terms, window, (6, 7)))


@pytest.mark.parametrize(
    ("convention", "size", "kernel", "stride", "pads", "expected"),
    [
        (VALID, 8, 3, 2, (0, 0), 3),
        (FULL, 8, 3, 2, (0, 0), 4),
        (SAME, 8, 2, 2, (0, 1), 4),
        (SAME, 8, 2, 1, (0, 1), 8),
        # The last window would begin in the padding after the image.
        (FULL, 7, 2, 3, (1, 1), 4),
        (FULL_PYTORCH, 7, 2, 3, (1, 1), 3),
        (FULL_PYTORCH, 6, 2, 3, (1, 1), 3),
        (FULL_PYTORCH, 8, 3, 2, (0, 0), 4),
    ],
)
def test_pooling_conventions(
    convention: int, size: int, kernel: int, stride: int, pads: tuple[int, int], expected: int
) -> None:
    window = Window((1, kernel), (1, stride), ((0, 0), pads), (1, 1))
    x = kernels.random_array((1, 1, size, 2), np.float32)
    params = pooling_params(window, convention)
    specs = [((1, 1, expected, 2), np.uint8), ((1, 1, expected, 2), np.float32)]
    _, y = kernels.run("maxpool_2d_fwd_f32", [x], specs, params)
    for at in range(expected):
        met = [at * stride - pads[0] + tap for tap in range(kernel)]
        inside = [position for position in met if 0 <= position < size]
        if inside:
            np.testing.assert_array_equal(y[0, 0, at], x[0, 0, inside].max(axis=0))
    dx = kernels.run_one("avg_pool_2d_bwd_f32", [np.ones_like(y)], (x.shape, np.float32), params + bytes(4))
    # Each window with an element distributes 1.
    assert dx.sum() == pytest.approx(2 * sum(at * stride - pads[0] < size for at in range(expected)))
    wrong = [((1, 1, expected + 1, 2), spec[1]) for spec in specs]
    with pytest.raises(kernels.KernelError, match=rf"expected windows \{{2,{expected},1,1\}}"):
        kernels.run("maxpool_2d_fwd_f32", [x], wrong, params)


def test_nan_in_max_pooling() -> None:
    x = np.array([1, np.nan, 3, 2, np.nan, np.nan], np.float32).reshape(1, 1, 6, 1)
    window = Window((1, 2), (1, 2), ((0, 0), (0, 0)), (1, 1))
    specs = [((1, 1, 3, 1), np.uint8), ((1, 1, 3, 1), np.float32)]
    indices, y = kernels.run("maxpool_2d_fwd_f32", [x], specs, pooling_params(window))
    np.testing.assert_array_equal(y.reshape(-1), [np.nan, 3, np.nan])
    np.testing.assert_array_equal(indices.reshape(-1), [1, 0, 0])
    losing = kernels.Switches(lose_nan_in_max_min=True)
    indices, y = kernels.run("maxpool_2d_fwd_f32", [x], specs, pooling_params(window), losing)
    assert float(y.reshape(-1)[0]) == 1
    assert int(indices.reshape(-1)[0]) == 0


def test_indices_of_large_windows() -> None:
    x = kernels.random_array((1, 16, 17, 1), np.float32)
    params = pooling_params(Window((16, 17), (1, 1), ((0, 0), (0, 0)), (1, 1)))
    indices, _ = kernels.run("maxpool_2d_fwd_f32", [x], [((1, 1, 1, 1), np.int16), ((1, 1, 1, 1), np.float32)], params)
    assert int(indices) == x.argmax()
    with pytest.raises(kernels.KernelError, match="windows of 272 elements need indices of 2 bytes"):
        kernels.run("maxpool_2d_fwd_f32", [x], [((1, 1, 1, 1), np.uint8), ((1, 1, 1, 1), np.float32)], params)


def test_indices_outside_their_window() -> None:
    window = WINDOWS["2x2"]
    dy = np.zeros((1, 2, 2, 1), np.float32)
    with pytest.raises(kernels.KernelError, match="input 1: index 4 is outside its window"):
        indices = np.full(dy.shape, 4, np.uint8)
        kernels.run_one("maxpool_2d_bwd_f32", [dy, indices], ((1, 4, 4, 1), np.float32), pooling_params(window))


HALF_PIXEL, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC, TF_HALF_PIXEL = range(5)
NEAREST, LINEAR = range(2)


@dataclasses.dataclass(frozen=True)
class Resize:
    mode: int
    coordinates: int
    nearest: int = 0
    scales: tuple[float, float] | None = None  # of height and width

    def params(self, size: tuple[int, int]) -> bytes:
        height, width = self.scales or (0, 0)
        head = struct.pack("I3f2I", self.mode, width, height, 0, self.coordinates, self.nearest)
        return head + struct.pack("??2xf3i", False, self.scales is not None, -0.75, size[1], size[0], 0)

    def coordinate(self, at: int, source: int, target: int, scale: float) -> float:
        if self.coordinates == ALIGN_CORNERS:
            return at * (source - 1) / (target - 1) if target > 1 else 0
        if self.coordinates == ASYMMETRIC:
            return at / scale
        if self.coordinates == TF_HALF_PIXEL:
            return (at + 0.5) / scale
        if self.coordinates == PYTORCH_HALF_PIXEL and target == 1:
            return 0
        return (at + 0.5) / scale - 0.5

    def matrix(self, source: int, target: int, axis: int) -> np.ndarray:
        """Returns the weights of all samples, for each position of the result."""
        scale = self.scales[axis] if self.scales else target / source
        weights = np.zeros((target, source))
        for at in range(target):
            x = self.coordinate(at, source, target, scale)
            if self.mode == LINEAR:
                low = math.floor(x)
                weights[at, min(max(low, 0), source - 1)] += 1 - (x - low)
                weights[at, min(max(low + 1, 0), source - 1)] += x - low
            else:
                rounded = [math.ceil(x - 0.5), math.floor(x + 0.5), math.floor(x), math.ceil(x)][self.nearest]
                weights[at, min(max(rounded, 0), source - 1)] = 1
        return weights


RESIZES = [
    *(Resize(LINEAR, coordinates) for coordinates in range(5)),
    *(Resize(NEAREST, coordinates, nearest) for coordinates in range(5) for nearest in range(4)),
    Resize(LINEAR, HALF_PIXEL, 0, (1.5, 0.75)),
    Resize(NEAREST, ASYMMETRIC, 2, (2.25, 2)),
]


@kernels.covers("resize_fwd_*", "resize_bwd_*")
@pytest.mark.parametrize("resize", RESIZES, ids=str)
def test_resize(resize: Resize) -> None:
    x = kernels.random_array((2, 4, 5, 3), np.float32)
    sizes = [(7, 9), (2, 3), (4, 5), (1, 1), (8, 10)]
    if resize.scales:
        sizes = [(math.floor(4 * resize.scales[0]), math.floor(5 * resize.scales[1]))]
    for size in sizes:
        along_height, along_width = resize.matrix(4, size[0], 0), resize.matrix(5, size[1], 1)
        expected = np.einsum("nhwc,ih,jw->nijc", x.astype(np.float64), along_height, along_width)
        params = resize.params(size)
        kernels.assert_close(kernels.run_one("resize_fwd_f32", [x], (expected.shape, np.float32), params), expected, 2)
        dy = kernels.random_array(expected.shape, np.float32, 1)
        gradient = np.einsum("nijc,ih,jw->nhwc", dy.astype(np.float64), along_height, along_width)
        actual = kernels.run_one("resize_bwd_f32", [dy], (x.shape, np.float32), params)
        np.testing.assert_allclose(actual, gradient, rtol=1e-6, atol=1e-6)


def test_resize_of_other_sizes() -> None:
    x = np.zeros((1, 4, 5, 3), np.float32)
    with pytest.raises(kernels.KernelError, match="size1 is 9, the result"):
        kernels.run_one("resize_fwd_f32", [x], ((1, 7, 8, 3), np.float32), Resize(LINEAR, 0).params((7, 9)))
    with pytest.raises(kernels.KernelError, match="mode 2, coordTransMode 0, nearestMode 0: not modelled"):
        kernels.run_one("resize_fwd_f32", [x], ((1, 7, 9, 3), np.float32), Resize(2, 0).params((7, 9)))
    with pytest.raises(kernels.KernelError, match="scale 2 of"):
        params = Resize(LINEAR, 0, 0, (2, 2)).params((7, 9))
        kernels.run_one("resize_fwd_f32", [x], ((1, 7, 9, 3), np.float32), params)


def crop_weights(begin: float, end: float, count: int, size: int, mode: int) -> np.ndarray:
    """Returns the weights of all samples for each position of a crop; NaN outside the image."""
    weights = np.zeros((count, size))
    for at in range(count):
        x = (begin + end) / 2 * (size - 1)
        if count > 1:
            x = begin * (size - 1) + at * (end - begin) * (size - 1) / (count - 1)
        if not 0 <= x <= size - 1:
            weights[at] = np.nan
        elif mode == LINEAR:
            low = math.floor(x)
            weights[at, low] += 1 - (x - low)
            weights[at, min(low + 1, size - 1)] += x - low
        else:
            weights[at, math.floor(x + 0.5)] = 1
    return weights


@kernels.covers("crop_and_resize_fwd_*", "crop_and_resize_bwd_*")
@pytest.mark.parametrize("mode", [LINEAR, NEAREST])
@pytest.mark.parametrize("crop", [(3, 4), (1, 1), (2, 7)])
def test_crop_and_resize(mode: int, crop: tuple[int, int]) -> None:
    x = kernels.random_array((2, 5, 6, 3), np.float32)
    # Whole, a part, flipped, partly and wholly outside.
    boxes = np.array(
        [[0, 0, 1, 1], [0.25, 0.125, 0.5, 0.75], [1, 1, 0, 0], [-0.5, 0.5, 0.5, 1.5], [2, 2, 3, 3]], np.float32
    )
    images = np.array([0, 1, 1, 0, 1], np.int32)
    params = struct.pack("If", mode, -7)
    shape = (5, *crop, 3)
    dy = kernels.random_array(shape, np.float32, 1)
    expected = np.zeros(shape)
    gradient = np.zeros(x.shape)
    for box, (y1, x1, y2, x2) in enumerate(boxes.astype(np.float64)):
        rows = crop_weights(y1, y2, crop[0], 5, mode)
        columns = crop_weights(x1, x2, crop[1], 6, mode)
        values = np.einsum("hwc,ih,jw->ijc", x[images[box]].astype(np.float64), rows, columns)
        expected[box] = np.where(np.isnan(values), -7, values)
        rows, columns = np.nan_to_num(rows), np.nan_to_num(columns)
        gradient[images[box]] += np.einsum("ijc,ih,jw->hwc", dy[box].astype(np.float64), rows, columns)
    actual = kernels.run_one("crop_and_resize_fwd_f32", [x, boxes, images], (shape, np.float32), params)
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)
    actual = kernels.run_one("crop_and_resize_bwd_f32", [dy, boxes, images], (x.shape, np.float32), params)
    np.testing.assert_allclose(actual, gradient, rtol=1e-6, atol=1e-6)


def test_crops_of_missing_images() -> None:
    x, boxes = np.zeros((2, 5, 6, 3), np.float32), np.zeros((1, 4), np.float32)
    with pytest.raises(kernels.KernelError, match=r"index 2 is out of range \[0, 2\)"):
        operands = [x, boxes, np.array([2], np.int32)]
        kernels.run_one("crop_and_resize_fwd_f32", operands, ((1, 2, 2, 3), np.float32), struct.pack("If", 1, 0))
