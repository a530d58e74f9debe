"""Resize ops: arguments that CPU kernels reject, and empty areas."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tests.ops.outcomes import differences

pytestmark = pytest.mark.usefixtures("hpu")

raw = tf.raw_ops


@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"])
def test_both_kinds_of_corners(op: str) -> None:
    x = tf.random.stateless_uniform([1, 4, 3, 2], [1, 2])
    assert not differences(lambda: getattr(raw, op)(images=x, size=[2, 5], align_corners=True, half_pixel_centers=True))


@pytest.mark.parametrize("op", ["ResizeBilinearGrad", "ResizeBicubicGrad"])
def test_both_kinds_of_corners_in_gradients(op: str) -> None:
    x, image = tf.random.stateless_uniform([1, 4, 3, 2], [1, 2]), tf.zeros([1, 2, 5, 2])
    assert not differences(
        lambda: getattr(raw, op)(grads=x, original_image=image, align_corners=True, half_pixel_centers=True)
    )


def test_gradient_of_nearest_neighbors_with_both() -> None:
    x = tf.random.stateless_uniform([1, 4, 3, 2], [1, 2])
    assert not differences(
        lambda: raw.ResizeNearestNeighborGrad(grads=x, size=[2, 5], align_corners=True, half_pixel_centers=True)
    )


@pytest.mark.parametrize("size", [(3, 2), (1, 4), (3, 5), (1, 1)])
@pytest.mark.parametrize("shape", [(1, 1, 2, 3), (2, 2, 1, 1), (1, 1, 1, 3), (1, 4, 4, 2)])
def test_areas_with_aligned_corners(shape: tuple[int, ...], size: tuple[int, int]) -> None:
    x = tf.random.stateless_uniform(shape, [1, 2])
    assert not differences(lambda: raw.ResizeArea(images=x, size=size, align_corners=True))


@pytest.mark.parametrize("op", ["ResizeBilinearGrad", "ResizeBicubicGrad"])
def test_images_of_other_ranks(op: str) -> None:
    x, image = tf.ones([4, 1, 2, 2]), tf.ones([3, 1, 2])
    assert not differences(lambda: getattr(raw, op)(grads=x, original_image=image))
