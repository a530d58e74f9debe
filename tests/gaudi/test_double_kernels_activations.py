"""Activations, their gradients, and random numbers."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.gaudi import kernel_library as kernels

all_types = pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)
erf = np.vectorize(math.erf)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ALPHA = 0.25
FORWARD: dict[str, tuple[bytes, Callable[[Any], Any]]] = {
    "elu_fwd": (struct.pack("f", ALPHA), lambda x: np.where(x > 0, x, ALPHA * np.expm1(x))),
    "leakyrelu_fwd": (struct.pack("d", ALPHA), lambda x: np.where(x > 0, x, ALPHA * x)),
    "relu_fwd": (b"", lambda x: np.where(x <= 0, 0, x)),
}
BACKWARD: dict[str, tuple[bytes, Callable[[Any, Any], Any]]] = {
    "leakyrelu_bwd": (struct.pack("d", ALPHA), lambda dy, x: np.where(x > 0, dy, ALPHA * dy)),
    "relu_bwd": (b"", lambda dy, y: np.where(y > 0, dy, 0)),
    "sigmoid_bwd": (b"", lambda dy, y: dy * y * (1 - y)),
    "tanh_bwd": (b"", lambda dy, y: dy * (1 - y * y)),
}


@kernels.covers(*(f"{stem}_*" for stem in FORWARD))
@all_types
@pytest.mark.parametrize("stem", FORWARD)
def test_activations(stem: str, dtype: np.dtype) -> None:
    params, golden = FORWARD[stem]
    x = kernels.special_values(dtype)
    actual = kernels.run_one(f"{stem}_{kernels.suffix(dtype)}", [x], (x.shape, dtype), params)
    kernels.assert_close(actual, golden(x.astype(np.float64)))


@kernels.covers(*(f"{stem}_*" for stem in BACKWARD))
@all_types
@pytest.mark.parametrize("stem", BACKWARD)
def test_gradients(stem: str, dtype: np.dtype) -> None:
    params, golden = BACKWARD[stem]
    dy, y = kernels.random_array((4, 9), dtype), kernels.random_array((4, 9), dtype, 1, -1, 1)
    y[0, :3] = 0
    actual = kernels.run_one(f"{stem}_{kernels.suffix(dtype)}", [dy, y], (y.shape, dtype), params)
    kernels.assert_close(actual, golden(dy.astype(np.float64), y.astype(np.float64)), ulps=2)


def test_versions_of_relu() -> None:
    x = np.array([-1, 0.5, 0.75, 2, np.nan], np.float32)
    spec = (x.shape, np.float32)
    actual = kernels.run_one("relu_fwd_f32", [x], spec, struct.pack("f", 0.5))
    np.testing.assert_array_equal(actual, [0, 0, 0.75, 2, np.nan])
    actual = kernels.run_one("relu_fwd_f32", [x], spec, struct.pack("ff", 0.5, -3))
    np.testing.assert_array_equal(actual, [-3, -3, 0.75, 2, np.nan])
    losing = kernels.run_one("relu_fwd_f32", [x], spec, switches=kernels.Switches(lose_nan_in_max_min=True))
    np.testing.assert_array_equal(losing, [0, 0.5, 0.75, 2, 0])
    integers = np.array([-2, 0, 3], np.int32)
    np.testing.assert_array_equal(kernels.run_one("relu_fwd_i32", [integers], ((3,), np.int32)), [0, 0, 3])


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


@kernels.covers("gelu_fwd_*", "gelu_bwd_*")
@all_types
@pytest.mark.parametrize("approximates", [False, True])
def test_gelu(dtype: np.dtype, approximates: bool) -> None:
    x, dy = kernels.random_array((50,), dtype, 0, -5, 5), kernels.random_array((50,), dtype, 1)
    wide, suffix = x.astype(np.float64), kernels.suffix(dtype)
    params = struct.pack("?", approximates)
    tanh = gelu_tanh(wide)
    cdf = (1 + erf(wide / math.sqrt(2))) / 2
    y, saved = kernels.run(f"gelu_fwd_{suffix}", [x], [(x.shape, dtype)] * 2, params)
    # In the tail, 1 + erf in the golden suffers from cancellation.
    np.testing.assert_allclose(
        y.astype(np.float64), wide * ((1 + tanh) / 2 if approximates else cdf), rtol=2**-7, atol=1e-7
    )
    kernels.assert_close(saved, tanh)
    # The kernel computes the gradient of the approximation.
    dx = kernels.run_one(f"gelu_bwd_{suffix}", [dy, x, saved], (x.shape, dtype))
    t = saved.astype(np.float64)
    slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * wide**2)
    golden = dy.astype(np.float64) * ((1 + t) / 2 + wide / 2 * (1 - t * t) * slope)
    np.testing.assert_allclose(dx.astype(np.float64), golden, rtol=2**-7, atol=1e-6)


def dropout_params(ratio: float, seed: int, training: bool | None = None) -> bytes:
    params = struct.pack("fI", ratio, seed)
    return params if training is None else params + struct.pack("?3xi", False, training)


@kernels.covers("dropout_fwd_*", "dropout_bwd_*")
@all_types
def test_dropout(dtype: np.dtype) -> None:
    x = kernels.random_array((40, 100), dtype, 0, 0.5, 1)
    seed = np.array([7], np.int32)
    suffix, params = kernels.suffix(dtype), dropout_params(0.25, 3)
    specs = [(x.shape, dtype), (x.shape, np.int8)]
    y, mask = kernels.run(f"dropout_fwd_{suffix}", [x, seed], specs, params)
    assert set(np.unique(mask)) == {0, 1}
    assert mask.mean() == pytest.approx(0.75, abs=0.03)
    kernels.assert_close(y, x.astype(np.float64) * mask / 0.75)
    dx = kernels.run_one(f"dropout_bwd_{suffix}", [y, mask], (x.shape, dtype), params)
    kernels.assert_close(dx, y.astype(np.float64) * mask / 0.75)


def test_dropout_depends_on_all_seeds() -> None:
    x = np.ones((1000,), np.float32)

    def mask(seed: int, params_seed: int, switch: int) -> bytes:
        operands = [x, np.array([seed], np.int32)]
        specs = [(x.shape, np.float32), (x.shape, np.int8)]
        params = dropout_params(0.5, params_seed)
        return kernels.run("dropout_fwd_f32", operands, specs, params, kernels.Switches(seed=switch))[1].tobytes()

    assert mask(1, 2, 3) == mask(1, 2, 3)
    assert len({mask(1, 2, 3), mask(2, 2, 3), mask(1, 3, 3), mask(1, 2, 4)}) == 4


def test_limits_of_dropout() -> None:
    x = np.arange(1, 7, dtype=np.float32)
    specs = [(x.shape, np.float32), (x.shape, np.int8)]
    for ratio, training, expected in ((0, None, x), (1, None, 0 * x), (0.5, False, x)):
        y, _ = kernels.run("dropout_fwd_f32", [x, None], specs, dropout_params(ratio, 3, training))
        np.testing.assert_array_equal(y, expected)
    with pytest.raises(kernels.KernelError, match=r"ratio 1.5 is not in \[0, 1\]"):
        kernels.run("dropout_fwd_f32", [x, None], specs, dropout_params(1.5, 3))


@kernels.covers("random_uniform_fwd_*", "philox_random_uniform_*")
@all_types
@pytest.mark.parametrize("stem", ["random_uniform_fwd", "philox_random_uniform"])
def test_uniform_numbers(stem: str, dtype: np.dtype) -> None:
    spec = ((20000,), dtype)
    guid = f"{stem}_{kernels.suffix(dtype)}"
    params = struct.pack("ffI", -2, 6, 11)
    x = kernels.run_one(guid, [], spec, params).astype(np.float64)
    assert x.min() >= -2
    assert x.max() < 6
    # Mean and deviation of the distribution, within five standard errors.
    assert x.mean() == pytest.approx(2, abs=0.1)
    assert x.std() == pytest.approx(8 / math.sqrt(12), abs=0.1)
    counts = np.histogram(x, 8, (-2, 6))[0]
    assert counts.min() > 2300
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.04
    again = kernels.run_one(guid, [], spec, params).astype(np.float64)
    np.testing.assert_array_equal(again, x)
    other = kernels.run_one(guid, [np.array([5], np.int32)], spec, params).astype(np.float64)
    assert not np.array_equal(other, x)


def test_a_counter_moves_the_sequence() -> None:
    def numbers(first: int) -> np.ndarray:
        return kernels.run_one(
            "philox_random_uniform_f32", [], ((64,), np.float32), struct.pack("ffII", 0, 1, 3, first)
        )

    np.testing.assert_array_equal(numbers(0)[10:], numbers(10)[:-10])


def test_uniform_integers() -> None:
    x = kernels.run_one("random_uniform_fwd_i32", [], ((5000,), np.int32), struct.pack("ffI", -1, 4, 0))
    np.testing.assert_array_equal(np.unique(x), [-1, 0, 1, 2, 3])


@kernels.covers("random_normal_fwd_*")
@all_types
def test_normal_numbers(dtype: np.dtype) -> None:
    params = struct.pack("ffI", 3, 2, 5)
    guid = f"random_normal_fwd_{kernels.suffix(dtype)}"
    x = kernels.run_one(guid, [], ((20000,), dtype), params).astype(np.float64)
    z = (x - 3) / 2
    assert z.mean() == pytest.approx(0, abs=0.04)
    assert z.std() == pytest.approx(1, abs=0.03)
    assert (np.abs(z) < 1).mean() == pytest.approx(math.erf(1 / math.sqrt(2)), abs=0.02)
    assert (z**4).mean() == pytest.approx(3, abs=0.3)
