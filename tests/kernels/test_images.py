"""Ops on images that TensorFlow cannot compile, against its kernels on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import HPU, Tolerance, assert_same_graph, assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")

IMAGES = np.random.default_rng(0).uniform(-1, 1, (3, 7, 9, 2)).astype(np.float32)
# A place in an image is a sum of a few products, and a weight a fraction of it.
PLACES = Tolerance(2e-5, 2e-5)


@pytest.mark.parametrize("size", [(14, 27), (3, 4), (7, 1), (1, 9)])
@pytest.mark.parametrize(("align_corners", "half_pixel_centers"), [(False, True), (True, False), (False, False)])
def test_bicubic_resizing(size: tuple[int, int], align_corners: bool, half_pixel_centers: bool) -> None:
    def resize(images: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ResizeBicubic(
            images=images, size=size, align_corners=align_corners, half_pixel_centers=half_pixel_centers
        )

    assert_same_graph(resize, IMAGES, tolerance=PLACES)


def _transforms(count: int) -> np.ndarray:
    """Turned, stretched, shifted and seen at an angle, far beyond the borders too."""
    generator = np.random.default_rng(count)
    identity = np.array([1, 0, 0, 0, 1, 0, 0, 0], np.float32)
    spread = np.array([0.5, 0.5, 12, 0.5, 0.5, 12, 0.02, 0.02], np.float32)
    return identity + spread * generator.uniform(-1, 1, (count, 8)).astype(np.float32)


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("fill_mode", ["CONSTANT", "REFLECT", "WRAP", "NEAREST"])
def test_projective_transforms(fill_mode: str, interpolation: str) -> None:
    def transform(images: tf.Tensor, transforms: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ImageProjectiveTransformV3(
            images=images,
            transforms=transforms,
            output_shape=(8, 6),
            fill_value=0.25,
            interpolation=interpolation,
            fill_mode=fill_mode,
        )

    for count in (1, len(IMAGES)):
        assert_same_graph(transform, IMAGES, _transforms(count), gradients=False, tolerance=PLACES)
    infinite = np.array([[1, 0, 0, 0, 1, 0, -1, 0]], np.float32)  # the projection of column 1 is 0
    result = assert_same_graph(transform, IMAGES, infinite, gradients=False, tolerance=PLACES)
    np.testing.assert_array_equal(result[:, :, 1], np.full((3, 8, 2), 0.25, np.float32))


def test_gradients_of_projective_transforms() -> None:
    def turn(images: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ImageProjectiveTransformV3(
            images=images,
            transforms=[[0.8, -0.6, 3.1, 0.6, 0.8, -1.2, 0, 0]],
            output_shape=(7, 9),
            fill_value=0.0,
            interpolation="BILINEAR",
        )

    assert_same_graph(turn, IMAGES, tolerance=PLACES)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float16])
def test_projective_transforms_of_other_types(dtype: type[np.generic]) -> None:
    @tf.function
    def shift(images: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ImageProjectiveTransformV2(
            images=images, transforms=[[1.0, 0, 2, 0, 1, -1, 0, 0]], output_shape=(7, 9), interpolation="NEAREST"
        )

    images = (IMAGES * 100).astype(dtype)
    expected = np.zeros_like(images)
    expected[:, 1:, :-2] = images[:, :-1, 2:]
    np.testing.assert_array_equal(assert_same_on_hpu(shift, images), expected)


def test_projective_transforms_refuse_what_does_not_fit() -> None:
    @tf.function
    def transform(transforms: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ImageProjectiveTransformV2(
            images=IMAGES, transforms=transforms, output_shape=(7, 9), interpolation="NEAREST"
        )

    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="transform"):
        transform(tf.zeros([2, 8]))


# The whole image, turned over, beyond its borders, a line.
BOXES = np.array(
    [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.95], [0.9, 0.8, 0.1, 0.3], [-0.4, -0.2, 1.3, 0.5], [0.3, 0.3, 0.3, 0.9]],
    np.float32,
)


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(14, 14), (5, 1), (1, 3)])
def test_crops(size: tuple[int, int], method: str) -> None:
    def crop(images: tf.Tensor, boxes: tf.Tensor) -> tf.Tensor:
        return tf.image.crop_and_resize(images, boxes, [0, 2, 1, 1, 0], size, method, extrapolation_value=0.5)

    assert_same_graph(crop, IMAGES, BOXES, gradients=False, tolerance=PLACES)


def test_crops_end_with_the_image() -> None:
    """Sums that are rounded otherwise than in TensorFlow's kernels would end beyond it, and give 0."""
    ends = np.linspace(0, 0.9, 40, dtype=np.float32)
    boxes = np.stack([ends, ends, np.ones_like(ends), np.ones_like(ends)], 1)
    for size in (7, 13, 14, 28):
        images = np.random.default_rng(size).uniform(1, 2, (1, 50, 37, 1)).astype(np.float32)
        assert_same_graph(
            lambda images, boxes, size=size: tf.image.crop_and_resize(images, boxes, [0] * 40, (size, size)),
            images,
            boxes,
            gradients=False,
            tolerance=PLACES,
        )


def test_crops_of_whole_numbers() -> None:
    @tf.function
    def crop(images: tf.Tensor) -> tf.Tensor:
        return tf.image.crop_and_resize(images, BOXES, [0, 2, 1, 1, 0], (4, 6))

    assert_same_on_hpu(crop, (IMAGES * 100).astype(np.int8), tolerance=Tolerance(1e-4, 1e-3))
