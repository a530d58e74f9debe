"""Convolutions and their gradients against sums over the window in numpy."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.gaudi import kernel_library as kernels
from tests.gaudi import windows
from tests.gaudi.windows import Window

CASES = {
    "1x1": (Window((1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)), 1),
    "3x3 same": (Window((3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)), 1),
    "stride, other pads on each side": (Window((3, 2), (2, 3), ((0, 1), (2, 1)), (1, 1)), 1),
    "dilation": (Window((2, 3), (1, 2), ((1, 0), (2, 2)), (3, 2)), 1),
    "groups": (Window((2, 2), (2, 1), ((0, 1), (1, 0)), (1, 1)), 2),
    "depthwise": (Window((3, 3), (1, 1), ((1, 1), (1, 1)), (1, 2)), 4),
    "the last column is not used": (Window((1, 2), (1, 3), ((0, 0), (0, 0)), (1, 1)), 1),
}
CASES_3D = {
    "3d": (Window((2, 2, 2), (1, 1, 1), ((0, 0), (0, 0), (0, 0)), (1, 1, 1)), 1),
    "3d, all different": (Window((2, 3, 1), (2, 1, 3), ((1, 0), (2, 1), (0, 2)), (1, 2, 1)), 2),
}
all_cases = pytest.mark.parametrize("name", [*CASES, *CASES_3D])
all_types = pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)


def case(name: str) -> tuple[Window, int, str]:
    """Returns a window, the number of groups, and the suffix of the guids' stems."""
    if name in CASES:
        return (*CASES[name], "")
    return (*CASES_3D[name], "3d")


def window_params(window: Window, groups: int = 1, size: int = 0, relu: bool = False, padding_type: int = 0) -> bytes:
    """Returns params of `size` bytes; 0 is the smallest version."""
    fast_first = [tuple(reversed(values)) for values in (window.kernel, window.stride, window.dilation)]
    kernel, stride, dilation = fast_first
    pads = [pad for pair in reversed(window.pads) for pad in pair]
    tail = struct.pack("??HIQQ", relu, False, 0, 1, 0, 0) + struct.pack("II", groups, 0)
    if window.rank == 2:
        packed = struct.pack("4I4i2I", *kernel, *stride, *pads, *dilation) + tail
    else:
        packed = struct.pack("6I6i3I4x", *kernel, *stride, *pads, *dilation) + tail
    version = packed + struct.pack("i", padding_type) + bytes(64)
    return version[: size or len(packed)]


def arrays(window: Window, groups: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns an image, a filter, and a gradient of the result."""
    image = (5, 7) if window.rank == 2 else (4, 5, 6)
    channels, features = 4, 8
    x = kernels.random_array((2, *image, channels), dtype)
    w = kernels.random_array((*window.kernel, channels // groups, features), dtype, 1)
    dy = kernels.random_array((2, *window.result_shape(image), features), dtype, 2)
    return x, w, dy


@kernels.covers("spatial_convolution", "spatial_convolution3d")
@all_types
@all_cases
def test_convolution(name: str, dtype: np.dtype) -> None:
    window, groups, end = case(name)
    x, w, dy = arrays(window, groups, dtype)
    expected = windows.convolution(x, w, window, groups)
    assert expected.shape == dy.shape
    for result_type in (dtype, np.float32):
        actual = kernels.run_one(
            f"spatial_convolution{end}", [x, w], (dy.shape, result_type), window_params(window, groups)
        )
        kernels.assert_close(actual, expected)


@kernels.covers("dedx", "dedx3d")
@all_types
@all_cases
def test_image_gradient(name: str, dtype: np.dtype) -> None:
    window, groups, end = case(name)
    x, w, dy = arrays(window, groups, dtype)
    expected = windows.image_gradient(dy, w, x.shape[1:-1], x.shape[-1], window, groups)
    # The empty slot stands for a shape tensor.
    for operands in ([dy, w], [dy, w, None]):
        actual = kernels.run_one(f"dedx{end}", operands, (x.shape, dtype), window_params(window, groups))
        kernels.assert_close(actual, expected)


@kernels.covers("dedw", "dedw3d")
@all_types
@all_cases
def test_filter_gradient(name: str, dtype: np.dtype) -> None:
    window, groups, end = case(name)
    x, w, dy = arrays(window, groups, dtype)
    expected = windows.filter_gradient(dy, x, window, groups)
    actual = kernels.run_one(f"dedw{end}", [dy, x], (w.shape, np.float32), window_params(window, groups))
    kernels.assert_close(actual, expected)


@pytest.mark.parametrize(("name", "sizes"), [("3x3 same", (72, 88, 104, 112)), ("3d", (96, 128))])
def test_versions_of_the_params(name: str, sizes: tuple[int, ...]) -> None:
    window, groups, end = case(name)
    x, w, dy = arrays(window, groups, kernels.F32)
    expected = windows.convolution(x, w, window, groups)
    for size in sizes:
        params = window_params(window, groups, size)
        actual = kernels.run_one(f"spatial_convolution{end}", [x, w], (dy.shape, np.float32), params)
        kernels.assert_close(actual, expected)
    for size in (0, 40, sizes[0] - 4, sizes[-1] + 4):
        with pytest.raises(kernels.KernelError, match=f"params of {size} bytes: versions have"):
            kernels.run_one(f"spatial_convolution{end}", [x, w], (dy.shape, np.float32), bytes(size))


def test_bias_addend_and_relu() -> None:
    window, groups, _ = case("3x3 same")
    x, w, addend = arrays(window, groups, kernels.F32)
    bias = kernels.random_array((8,), np.float32, 3)
    y = windows.convolution(x, w, window)
    for operands, expected in (
        ([x, w, bias], y + bias),
        ([x, w, None, addend], y + addend),
        ([x, w, bias, addend], y + bias + addend),
    ):
        for relu in (False, True):
            params = window_params(window, relu=relu)
            actual = kernels.run_one("spatial_convolution", operands, (y.shape, np.float32), params)
            kernels.assert_close(actual, np.maximum(expected, 0) if relu else expected)


def test_a_switch_flushes_denormals() -> None:
    window = CASES["1x1"][0]
    x = np.full((1, 1, 1, 1), 1e-39, np.float32)
    w = np.full((1, 1, 1, 1), 1e10, np.float32)
    spec = (x.shape, np.float32)
    assert kernels.run_one("spatial_convolution", [x, w], spec, window_params(window)) > 0
    flushing = kernels.Switches(flush_denormals=True)
    assert kernels.run_one("spatial_convolution", [x, w], spec, window_params(window), flushing) == 0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kernel": (3, 2)}, "params have the side 2"),
        ({"stride": (0, 1)}, "stride or dilation is 0"),
        ({"pads": ((1, 1), (1, 0))}, "the window makes size 6 of dimension 1"),
        ({"dilation": (2, 1)}, "the window makes size 3 of dimension 2"),
    ],
)
def test_windows_that_do_not_fit(change: dict[str, tuple[int, ...]], text: str) -> None:
    window = CASES["3x3 same"][0]
    x, w, dy = arrays(window, 1, kernels.F32)
    changed = Window(**{**vars(window), **change})
    for guid, operands, spec in (
        ("spatial_convolution", [x, w], dy.shape),
        ("dedx", [dy, w], x.shape),
        ("dedw", [dy, x], w.shape),
    ):
        with pytest.raises(kernels.KernelError, match=text):
            kernels.run_one(guid, operands, (spec, np.float32), window_params(changed))


def test_params_that_are_not_modelled() -> None:
    window = CASES["3x3 same"][0]
    x, w, dy = arrays(window, 1, kernels.F32)
    spec = (dy.shape, np.float32)
    with pytest.raises(kernels.KernelError, match="only explicit padding is modelled"):
        kernels.run_one("spatial_convolution", [x, w], spec, window_params(window, size=112, padding_type=1))
    with pytest.raises(kernels.KernelError, match="nGroups is 0"):
        kernels.run_one("spatial_convolution", [x, w], spec, window_params(window, 0))
    with pytest.raises(kernels.KernelError, match="channels or batch differ, with 2 groups"):
        kernels.run_one("spatial_convolution", [x, w], spec, window_params(window, 2))
    with pytest.raises(kernels.KernelError, match="expected rank 5"):
        kernels.run_one("spatial_convolution3d", [x, w], spec, window_params(CASES_3D["3d"][0]))
