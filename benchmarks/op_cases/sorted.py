"""Sorts, searches, and box ops on images."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from benchmarks.op_cases.case import OpCase, indexed_gradient


def _whole(x: tf.Tensor) -> tf.Tensor:
    """Integers, mostly distinct."""
    return tf.cast(1e6 * x, tf.int32)


def _crop(images: tf.Tensor, boxes: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """Crops of boxes inside the images or starting slightly outside."""
    corner, extent = 0.2 * tf.abs(boxes[:, :2]) - 0.01, 0.1 + 0.1 * tf.abs(boxes[:, 2:])
    return tf.image.crop_and_resize(images, tf.concat([corner, corner + extent], 1), indices, [14, 14])


def _not_overlapping(boxes: tf.Tensor, scores: tf.Tensor) -> Any:
    corners = tf.concat([boxes[..., :2], boxes[..., :2] + tf.abs(boxes[..., 2:])], -1)
    return tf.image.non_max_suppression_padded(corners, scores, 100, pad_to_max_output_size=True)


def sorts() -> list[OpCase]:
    rows, matrix, images = (256, 512), (2048, 512), (4, 50, 50, 64)
    return [
        OpCase("sort", lambda x: tf.sort(x, -1), (rows,)),
        OpCase("sort descending", lambda x: tf.sort(x, -1, "DESCENDING"), (rows,)),
        OpCase("sort columns", lambda x: tf.sort(x, 0), (rows,)),
        OpCase("sort", lambda x: tf.sort(x, -1), (rows,), tf.bfloat16),
        OpCase("sort whole numbers", lambda x: tf.sort(_whole(x), -1), (rows,)),
        OpCase("sort", lambda x: tf.sort(x, -1), ((64, 8192),)),
        OpCase("sort", lambda x: tf.sort(x, -1), ((1 << 20,),)),
        OpCase("sort", lambda x: tf.sort(x, -1), ((8192, 10),)),
        OpCase("argsort", lambda x: tf.argsort(x, -1, stable=True), (rows,)),
        OpCase("argsort descending", lambda x: tf.argsort(x, -1, "DESCENDING", stable=True), (rows,)),
        OpCase("argsort", lambda x: tf.argsort(x, -1, stable=True), ((1 << 20,),)),
        OpCase("top 5", lambda x: tf.math.top_k(x, 5), (matrix,)),
        OpCase("top 5", lambda x: tf.math.top_k(x, 5), (matrix,), tf.bfloat16),
        OpCase("top 1", lambda x: tf.math.top_k(x, 1), (matrix,)),
        OpCase("top 100", lambda x: tf.math.top_k(x, 100), (matrix,)),
        OpCase("top 512", lambda x: tf.math.top_k(x, 512), (matrix,)),
        OpCase("top 100", lambda x: tf.math.top_k(x, 100), ((1 << 20,),)),
        OpCase("in top 5", lambda x, targets: tf.math.in_top_k(targets, x, 5), (matrix, (2048,)), indices_below=512),
        OpCase("search sorted", lambda x: tf.searchsorted(tf.linspace(-3.0, 3.0, 1000), x), ((131072,),)),
        OpCase(
            "search sorted rows", lambda x, y: tf.searchsorted(tf.cumsum(tf.abs(x), -1), 50 * tf.abs(y)), (rows, rows)
        ),
        OpCase(
            "sums by unique index",
            lambda x, indices: tf.math.unsorted_segment_sum(x, tf.unique(indices)[1], 8192),
            ((8192, 64), (8192,)),
            indices_below=512,
        ),
        OpCase("crop and resize", _crop, (images, (64, 4), (64,)), indices_below=4),
        OpCase(
            "crop and resize gradients",
            indexed_gradient(_crop),
            (images, (64, 4), (64, 14, 14, 64), (64,)),
            indices_below=4,
        ),
        OpCase(
            "crop and resize gradients",
            indexed_gradient(_crop),
            ((4, 64, 64, 256), (100, 4), (100, 14, 14, 256), (100,)),
            indices_below=4,
        ),
        OpCase("boxes that do not overlap", _not_overlapping, ((2, 1000, 4), (2, 1000))),
    ]
