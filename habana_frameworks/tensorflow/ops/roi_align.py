"""ROI align on a feature pyramid, composed of TensorFlow ops because the plugin has no fused op for it.

Programs call habana_ops.pyramid_roi_align. Its ops run in clusters; the result is differentiable in the images.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["pyramid_roi_align", "pyramid_roi_align_grad_images"]

# Feature pyramids start at level 2: the first image has a quarter of the network input's width.
_FIRST_LEVEL = 2


def pyramid_roi_align(
    images: Sequence[tf.Tensor],
    num_boxes: tf.Tensor,
    boxes: tf.Tensor,
    box_to_level: tf.Tensor,
    output_size: Sequence[int] = (7, 7),
    sampling_ratio: int = 1,
    use_abs_coords: bool = True,
    scale_to_level: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    """Features of each box, resampled bilinearly to output_size: [batch, boxes, height, width, channels].

    images: one per level, [batch, height, width, channels] with known height, width and channels; each is half as
        large as the previous one.
    num_boxes: int32 [batch, 1], number of valid boxes per sample; the features of the other boxes are 0.
    boxes: [batch, boxes, 4]: y1, x1, y2, x2. No gradient flows into the boxes.
    box_to_level: int32 [batch, boxes, 1], index of each box's image.
    sampling_ratio: samples per direction; a feature is the mean of its samples.
    use_abs_coords: coordinates are in pixels; otherwise they are relative, from 0 to 1.
    scale_to_level: absolute coordinates are pixels of the network's input rather than of the box's own image. The
        first image has a quarter of the input's width. Ignored for relative coordinates.

    Raises ValueError for images of unknown size and for sampling_ratio < 1.
    """
    with tf.name_scope(name or "pyramid_roi_align"):
        sizes = _sizes(images)
        if sampling_ratio < 1:
            raise ValueError(f"pyramid_roi_align: sampling_ratio={sampling_ratio} must be 1 or more")
        level = tf.clip_by_value(tf.squeeze(box_to_level, -1), 0, len(sizes) - 1)
        height, width = (tf.gather(tf.constant([size[i] for size in sizes]), level) for i in (0, 1))
        boxes = tf.stop_gradient(tf.cast(boxes, tf.float32))
        boxes = _in_pixels(boxes, level, height, width, use_abs_coords, scale_to_level)
        ys = _samples(boxes[..., 0], boxes[..., 2], output_size[0] * sampling_ratio)
        xs = _samples(boxes[..., 1], boxes[..., 3], output_size[1] * sampling_ratio)
        starts = [0]
        for size in sizes:
            starts.append(starts[-1] + size[0] * size[1])
        features = _bilinear(images, tf.gather(tf.constant(starts), level), height, width, ys, xs)
        features = _mean_of_samples(features, output_size, sampling_ratio)
        counts = tf.range(tf.shape(boxes)[1])[tf.newaxis, :] < tf.reshape(num_boxes, [-1, 1])
        return features * tf.cast(counts, features.dtype)[:, :, tf.newaxis, tf.newaxis, tf.newaxis]


def pyramid_roi_align_grad_images(
    images: Sequence[tf.Tensor],
    grad_in: tf.Tensor,
    num_boxes: tf.Tensor,
    boxes: tf.Tensor,
    box_to_level: tf.Tensor,
    image_pyramid_shapes: Sequence[Any] | None = None,
    sampling_ratio: int = 1,
    use_abs_coords: bool = True,
    scale_to_level: bool = True,
    name: str | None = None,
) -> list[tf.Tensor]:
    """Gradients of pyramid_roi_align with respect to the images, given the gradient grad_in of its result.

    image_pyramid_shapes: expected heights and widths of the images, if given; ValueError on a mismatch.
    """
    sizes = _sizes(images)
    if image_pyramid_shapes is not None and [tuple(map(int, s)) for s in image_pyramid_shapes] != sizes:
        raise ValueError(
            f"pyramid_roi_align_grad_images: image_pyramid_shapes={image_pyramid_shapes} does not match the images' "
            f"sizes {sizes}"
        )
    with tf.name_scope(name or "pyramid_roi_align_grad_images"), tf.GradientTape() as tape:
        images = [tf.identity(image) for image in images]
        tape.watch(images)
        size = grad_in.shape.as_list()[2:4]
        y = pyramid_roi_align(
            images, num_boxes, boxes, box_to_level, size, sampling_ratio, use_abs_coords, scale_to_level
        )
    return list(tape.gradient(y, images, grad_in, unconnected_gradients=tf.UnconnectedGradients.ZERO))


def _sizes(images: Sequence[tf.Tensor]) -> list[tuple[int, int]]:
    """Height and width of each image. Raises ValueError if they are unknown."""
    if not isinstance(images, (list, tuple)) or not images:
        raise ValueError(
            f"pyramid_roi_align: images must be a non-empty list or tuple with one image per level, got {images!r}"
        )
    for index, image in enumerate(images):
        if image.shape.rank != 4 or not image.shape[1:].is_fully_defined():
            raise ValueError(
                f"pyramid_roi_align: image {index} of the pyramid has shape {image.shape}; expected [batch, height, "
                "width, channels], where only batch may be unknown"
            )
    return [tuple(image.shape.as_list()[1:3]) for image in images]


def _in_pixels(
    boxes: tf.Tensor, level: tf.Tensor, height: tf.Tensor, width: tf.Tensor, absolute: bool, of_input: bool
) -> tf.Tensor:
    """Converts the boxes to pixels of their own image."""
    if not absolute:
        size = tf.stack([height, width, height, width], -1)
        return boxes * tf.cast(size, tf.float32)
    if not of_input:
        return boxes
    return boxes / tf.pow(2.0, tf.cast(level + _FIRST_LEVEL, tf.float32))[..., tf.newaxis]


def _samples(begin: tf.Tensor, end: tf.Tensor, count: int) -> tf.Tensor:
    """Centres of `count` equal intervals from begin to end: [batch, boxes, count]."""
    middles = (tf.range(count, dtype=tf.float32) + 0.5) / float(count)
    return begin[..., tf.newaxis] + (end - begin)[..., tf.newaxis] * middles


def _bilinear(
    images: Sequence[tf.Tensor],
    start: tf.Tensor,
    height: tf.Tensor,
    width: tf.Tensor,
    ys: tf.Tensor,
    xs: tf.Tensor,
) -> tf.Tensor:
    """Bilinear samples at all pairs of ys and xs: [batch, boxes, ys, xs, channels].

    start: index of the first pixel of each box's image in a sample's concatenated images.
    """
    channels = images[0].shape[-1]
    pixels = tf.concat([tf.reshape(image, [-1, image.shape[1] * image.shape[2], channels]) for image in images], 1)
    rows, row_parts = _neighbours(ys, height)
    columns, column_parts = _neighbours(xs, width)
    total: Any = 0
    for row, row_part in zip(rows, row_parts):
        line = start[..., tf.newaxis] + row * width[..., tf.newaxis]
        for column, column_part in zip(columns, column_parts):
            index = line[..., tf.newaxis] + column[:, :, tf.newaxis, :]
            part = row_part[..., tf.newaxis] * column_part[:, :, tf.newaxis, :]
            total += tf.gather(pixels, index, batch_dims=1) * tf.cast(part, pixels.dtype)[..., tf.newaxis]
    return total


def _neighbours(at: tf.Tensor, size: tf.Tensor) -> tuple[tuple[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]:
    """Indices of the pixels before and after each coordinate, and their weights. Clamps coordinates to the image."""
    last = tf.cast(size - 1, tf.float32)[..., tf.newaxis]
    at = tf.clip_by_value(at, 0.0, last)
    before = tf.floor(at)
    after_part = at - before
    indices = tf.cast(before, tf.int32), tf.cast(tf.minimum(before + 1.0, last), tf.int32)
    return indices, (1.0 - after_part, after_part)


def _mean_of_samples(features: tf.Tensor, output_size: Sequence[int], ratio: int) -> tf.Tensor:
    if ratio == 1:
        return features
    boxes = tf.shape(features)[:2]
    parts = tf.concat([boxes, [output_size[0], ratio, output_size[1], ratio, features.shape[-1]]], 0)
    return tf.reduce_mean(tf.reshape(features, parts), [3, 5])
