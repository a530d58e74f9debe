"""Fake quantization on the HPU: results equal the CPU's, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import Tolerance, assert_same_graph

pytestmark = pytest.mark.usefixtures("hpu")

raw = tf.raw_ops
EQUAL = Tolerance(0, 0)
RANGES = [(-0.7, 1.3), (-6, 6), (0, 2.3), (-2.3, 0), (0, 0), (1.5, 3), (-3, -1), (1, -1), (1, 1)]
EXTREMES = [(np.nan, 1), (-1, np.inf), (-np.inf, 1), (-1, np.nan)]
BITS = [(8, False), (8, True), (4, False), (2, True), (16, False)]


def inputs(low: float, high: float, bits: int) -> Any:
    """Returns random numbers, multiples of half a step, and special values."""
    step = (high - low) / (2**bits - 1) if np.isfinite(low) and np.isfinite(high) else 0.25
    random = np.random.default_rng(7).standard_normal(1500) * 2
    return np.array([*random, *(np.arange(-600, 600) * step / 2), np.nan, np.inf, -np.inf, 0, -0.0], np.float32)


def gradients_for(x: Any) -> Any:
    """Returns integers, whose sums do not depend on the order."""
    return np.random.default_rng(8).integers(-8, 9, x.shape).astype(np.float32)


def assert_equal(function: Callable[..., Any], *arguments: Any) -> None:
    assert_same_graph(function, *arguments, gradients=False, tolerance=EQUAL)


@pytest.mark.parametrize(("bits", "narrow"), BITS)
@pytest.mark.parametrize(("low", "high"), [*RANGES, *EXTREMES])
def test_limits_in_tensors(low: float, high: float, bits: int, narrow: bool) -> None:
    x = inputs(low, high, bits)

    def run(x: tf.Tensor, gradients: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> Any:
        common = {"inputs": x, "min": low, "max": high, "num_bits": bits, "narrow_range": narrow}
        return raw.FakeQuantWithMinMaxVars(**common), raw.FakeQuantWithMinMaxVarsGradient(gradients=gradients, **common)

    assert_equal(run, x, gradients_for(x), np.array(low, np.float32), np.array(high, np.float32))


@pytest.mark.parametrize(("bits", "narrow"), BITS)
@pytest.mark.parametrize(("low", "high"), [pair for pair in RANGES if pair[0] < pair[1]])
def test_limits_in_attributes(low: float, high: float, bits: int, narrow: bool) -> None:
    x = inputs(low, high, bits)

    def run(x: tf.Tensor, gradients: tf.Tensor) -> Any:
        common = {"inputs": x, "min": low, "max": high, "num_bits": bits, "narrow_range": narrow}
        return raw.FakeQuantWithMinMaxArgs(**common), raw.FakeQuantWithMinMaxArgsGradient(gradients=gradients, **common)

    assert_equal(run, x, gradients_for(x))


@pytest.mark.parametrize(("bits", "narrow"), BITS)
@pytest.mark.parametrize("shape", [(-1, len(RANGES)), (3, -1, len(RANGES)), (len(RANGES),)])
def test_limits_of_channels(shape: tuple[int, ...], bits: int, narrow: bool) -> None:
    columns = np.stack([inputs(low, high, bits) for low, high in RANGES], axis=1)
    x = columns[: 3 * (len(columns) // 3)].reshape(shape) if len(shape) > 1 else columns[1500]
    low, high = np.array(RANGES, np.float32).T

    def run(x: tf.Tensor, gradients: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> Any:
        common = {"inputs": x, "min": low, "max": high, "num_bits": bits, "narrow_range": narrow}
        return (
            raw.FakeQuantWithMinMaxVarsPerChannel(**common),
            raw.FakeQuantWithMinMaxVarsPerChannelGradient(gradients=gradients, **common),
        )

    assert_equal(run, x, gradients_for(x), low, high)


def test_gradients_that_are_not_finite() -> None:
    x = np.array([[-2, 0.5, 2, -2], [0.5, 2, -2, 0.5]], np.float32)
    gradients = np.array([[np.inf, np.nan, -np.inf, 1], [1, 2, np.nan, np.inf]], np.float32)
    limits = [np.full(4, limit, np.float32) for limit in (-1, 1)]

    def run(x: tf.Tensor, gradients: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> Any:
        common = {"gradients": gradients, "inputs": x}
        return (
            raw.FakeQuantWithMinMaxArgsGradient(**common, min=-1, max=1),
            raw.FakeQuantWithMinMaxVarsGradient(**common, min=low[0], max=high[0]),
            raw.FakeQuantWithMinMaxVarsPerChannelGradient(**common, min=low, max=high),
        )

    assert_equal(run, x, gradients, *limits)
