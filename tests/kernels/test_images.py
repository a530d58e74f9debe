"""Image ops without tf2xla lowering, compared with TensorFlow's CPU kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.kernels import images_programs as programs
from tests.support.clusters import assert_launched
from tests.support.compare import HPU, Tolerance, assert_same_graph, assert_same_on_hpu
from tests.support.processes import call_to, run_with_tensorflow

pytestmark = pytest.mark.usefixtures("hpu")

IMAGES = np.random.default_rng(0).uniform(-1, 1, (3, 7, 9, 2)).astype(np.float32)
# Coordinates are sums of a few products, and weights are their fractional parts.
PLACES = Tolerance(2e-5, 2e-5)


@pytest.mark.parametrize("size", [(14, 27), (3, 4), (7, 1), (1, 9)])
@pytest.mark.parametrize(("align_corners", "half_pixel_centers"), [(False, True), (True, False), (False, False)])
def test_bicubic_resizing(size: tuple[int, int], align_corners: bool, half_pixel_centers: bool) -> None:
    def resize(images: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ResizeBicubic(
            images=images, size=size, align_corners=align_corners, half_pixel_centers=half_pixel_centers
        )

    assert_same_graph(resize, IMAGES, tolerance=PLACES)


@pytest.mark.parametrize("size", [(14, 27), (3, 4), (7, 1), (1, 9), (5, 5)])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_resizing_by_areas(dtype: str, align_corners: bool, size: tuple[int, int]) -> None:
    images = (100 + 100 * IMAGES).astype(dtype)

    def resize(images: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ResizeArea(images=images, size=size, align_corners=align_corners)

    assert_same_graph(resize, images, gradients=False, tolerance=PLACES)


KERNELS = ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"]


@pytest.mark.parametrize("size", [(14, 27), (3, 1), (7, 9)])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_scaling_and_translation(kernel: str, antialias: bool, size: tuple[int, int]) -> None:
    def scale(images: tf.Tensor) -> Any:
        return [
            tf.raw_ops.ScaleAndTranslate(
                images=images,
                size=size,
                scale=factors,
                translation=translation,
                kernel_type=kernel,
                antialias=antialias,
            )
            for factors, translation in (
                ((size[0] / 7, size[1] / 9), (0.0, 0.0)),
                ((0.7, 2.3), (1.3, -4.1)),  # samples pixels outside the image
            )
        ]

    assert_same_graph(scale, IMAGES, tolerance=PLACES)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "bfloat16", "float64"])
def test_resizing_with_functions_of_other_types(dtype: str) -> None:
    images = (100 + 100 * IMAGES).astype(tf.as_dtype(dtype).as_numpy_dtype)

    def resize(images: tf.Tensor) -> Any:
        return [tf.image.resize(images, (19, 5), method, antialias=True) for method in ("lanczos5", "mitchellcubic")]

    assert_same_graph(resize, images, gradients=False, tolerance=PLACES)
    signature = [tf.TensorSpec([None, None, None, None], dtype)]
    assert_same_graph(resize, images, gradients=False, tolerance=PLACES, signature=signature)
    assert_same_graph(resize, images[:0], gradients=False, clusters=False)
    assert_same_on_hpu(resize, images, tolerance=PLACES)


def test_large_images_are_resized_by_nearby_pixels() -> None:
    images = np.random.default_rng(1).uniform(-1, 1, (2, 40, 48, 5)).astype(np.float32)

    @tf.function
    def resize(images: tf.Tensor) -> tf.Tensor:
        return tf.image.resize(images, (96, 80), "lanczos3")

    assert_same_graph(resize, images, tolerance=PLACES)
    images[0, 20, 24, 0] = np.inf  # pixels more than three away must stay finite
    with tf.device(HPU):
        result = resize(images).numpy()
    assert np.isfinite(result[0, :40]).all() and np.isfinite(result[0, :, :34]).all()
    assert not np.isfinite(result[0, 49, 40, 0])


def test_scaling_refuses_mismatched_shapes() -> None:
    @tf.function
    def scale(images: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ScaleAndTranslate(images=images, size=(4, 4), scale=(1.0, 0.0), translation=(0.0, 0.0))

    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="Scale"):
        scale(IMAGES)


def _transforms(count: int) -> np.ndarray:
    """Returns projective transforms with rotation, scale, shift and perspective, also far outside the image."""
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


def test_projective_transforms_refuse_mismatched_shapes() -> None:
    @tf.function
    def transform(transforms: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.ImageProjectiveTransformV2(
            images=IMAGES, transforms=transforms, output_shape=(7, 9), interpolation="NEAREST"
        )

    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="transform"):
        transform(tf.zeros([2, 8]))


# Boxes: whole image, flipped, outside the image, degenerate.
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
    """Other rounding than in TensorFlow's kernels would place samples outside the image, which yields 0."""
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


def _crop_gradients(
    size: tuple[int, int], method: str, signature: list[tf.TensorSpec] | None = None
) -> Callable[..., Any]:
    """Returns a function for gradients of crops with respect to images and boxes. All incoming gradients differ."""

    def gradients(images: tf.Tensor, boxes: tf.Tensor, image_of_box: tf.Tensor, dy: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([images, boxes])
            crops = tf.image.crop_and_resize(images, boxes, image_of_box, size, method)
        return tape.gradient(crops, [images, boxes], output_gradients=dy, unconnected_gradients="zero")

    function: Callable[..., Any] = tf.function(gradients, input_signature=signature)
    return function


def _random_crops(seed: int, images: tuple[int, ...], boxes: int, size: tuple[int, int]) -> list[np.ndarray]:
    """Returns images, boxes inside and outside (some flipped), image indices, and a gradient of the crops."""
    generator = np.random.default_rng(seed)
    return [
        generator.uniform(-1, 1, images).astype(np.float32),
        generator.uniform(-0.3, 1.3, (boxes, 4)).astype(np.float32),
        generator.integers(0, images[0], boxes, np.int32),
        generator.uniform(-1, 1, (boxes, *size, images[3])).astype(np.float32),
    ]


# Gradients of boxes are sums over all pixels of a crop.
CROP_GRADIENTS = Tolerance(2e-5, 2e-4)


CROPS = [
    ((3, 7, 9, 2), 6, (14, 14)),
    ((2, 20, 11, 70), 9, (5, 1)),
    ((2, 6, 8, 5), 4, (1, 3)),
    ((1, 1, 1, 1), 1, (1, 1)),
]


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize(("images", "boxes", "size"), CROPS)
def test_gradients_of_crops(images: tuple[int, ...], boxes: int, size: tuple[int, int], method: str) -> None:
    arguments = _random_crops(boxes, images, boxes, size)
    if boxes >= len(BOXES):
        arguments[1][: len(BOXES)] = BOXES
    assert_same_on_hpu(_crop_gradients(size, method), *arguments, tolerance=CROP_GRADIENTS)
    assert_launched()


def test_gradients_of_crops_without_kernels() -> None:
    run_with_tensorflow(call_to(programs.gradients_of_crops), {"HPU_EMULATOR_KERNELS": "off"})


@pytest.mark.parametrize("images", [(2, 5, 6, 3), (2, 5, 6, 0)])
def test_gradients_of_no_crops(images: tuple[int, ...]) -> None:
    for boxes in (0, 2) if images[3] == 0 else (0,):
        arguments = _random_crops(0, images, boxes, (3, 4))
        by_images, by_boxes = assert_same_on_hpu(_crop_gradients((3, 4), "bilinear"), *arguments)
        assert not np.any(by_images) and not np.any(by_boxes) and by_boxes.shape == (boxes, 4)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8])
def test_gradients_of_crops_of_other_types(dtype: type[np.generic]) -> None:
    images, *others = _random_crops(1, (2, 8, 9, 3), 7, (4, 4))
    tolerance = Tolerance(5e-3, 5e-3) if dtype == np.float16 else Tolerance(1e-4, 1e-3)
    assert_same_on_hpu(_crop_gradients((4, 4), "bilinear"), (images * 100).astype(dtype), *others, tolerance=tolerance)
    assert_launched()


def test_gradients_of_crops_of_images_whose_size_is_not_known() -> None:
    signature = [
        tf.TensorSpec([None, None, None, 4]),
        tf.TensorSpec([None, 4]),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([None, 3, 5, 4]),
    ]
    gradients = _crop_gradients((3, 5), "bilinear", signature)
    for images in ((2, 6, 8, 4), (3, 9, 7, 4)):
        assert_same_on_hpu(gradients, *_random_crops(2, images, 2 * images[0], (3, 5)), tolerance=CROP_GRADIENTS)
    assert_launched()


def test_gradients_of_crops_of_missing_images() -> None:
    @tf.function
    def by_images(dy: tf.Tensor, boxes: tf.Tensor, image_of_box: tf.Tensor, size: Any) -> tf.Tensor:
        return tf.raw_ops.CropAndResizeGradImage(
            grads=dy, boxes=boxes, box_ind=image_of_box, image_size=size, T=tf.float32
        )

    _, boxes, image_of_box, dy = _random_crops(3, (2, 6, 8, 4), 5, (3, 5))
    for size in ([2, 6, 8, 4], tf.constant([2, 6, 8, 4])):
        assert_same_on_hpu(by_images, dy, boxes, image_of_box, size)
        with tf.device(HPU), pytest.raises((tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError)):
            by_images(dy, boxes, tf.constant([0, 1, 2, 0, 1]), size)
