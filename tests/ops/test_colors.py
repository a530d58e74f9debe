"""AdjustHue and AdjustSaturation for colours outside 0 to 1, infinite colours and the largest numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import differences

pytestmark = pytest.mark.usefixtures("hpu")
Adjust = Callable[[tf.Tensor, float], tf.Tensor]


def colors(kind: str) -> tf.Tensor:
    generator = np.random.default_rng(0)
    found = generator.uniform(-3, 3, [2, 40, 3]) if kind == "numbers" else np.empty([0, 3])
    if kind == "special":
        found = generator.choice([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, 0.5], [2, 40, 3])
    if kind == "large":
        found = generator.choice([3.4e38, -3.4e38, 1e38, 2.5, -1.0], [2, 40, 3])
    if kind == "equal":
        found = np.repeat([[[-1.0], [0.0], [0.3], [2.0]]], 3, 2)
    return tf.constant(found.astype(np.float32))


def hue(images: tf.Tensor, amount: float) -> tf.Tensor:
    return tf.raw_ops.AdjustHue(images=images, delta=amount)


def saturation(images: tf.Tensor, amount: float) -> tf.Tensor:
    return tf.raw_ops.AdjustSaturation(images=images, scale=amount)


@pytest.mark.parametrize("amount", [0.0, 0.1, -0.4, 1.6, -2.1])
@pytest.mark.parametrize("kind", ["numbers", "large", "equal"])
@pytest.mark.parametrize("adjust", [hue, saturation])
def test_values(adjust: Adjust, kind: str, amount: float) -> None:
    images = tf.Variable(colors(kind))
    assert not differences(lambda: adjust(images.value(), amount))


def test_colors_that_are_nan() -> None:
    """An infinite colour has no hue: the CPU kernel casts NaN to an integer."""
    images = tf.Variable(colors("special"))
    assert not differences(lambda: saturation(images.value(), 0.5))


@pytest.mark.parametrize("shape", [[2, 3], [2, 2, 4]])
@pytest.mark.parametrize("adjust", [hue, saturation])
def test_shapes_that_are_not_images(adjust: Adjust, shape: list[int]) -> None:
    assert not differences(lambda: adjust(tf.ones(shape), 0.5))
