"""Makers for image ops: crops, resizing, transforms, dilation, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import call, pick, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.registry import call_of as raw
from tests.ops.sweep.values import draw_array

Rng = np.random.Generator


def _image(rng: Rng, dtype: tf.DType = tf.float32) -> Array:
    return draw_array(rng, dtype, (*rng.integers(1, 6, 3).tolist(), 2))


def _crops(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        image, boxes, size = _image(rng), int(rng.integers(0, 4)), rng.integers(1, 5, 2).tolist()
        arguments: dict[str, Array] = {}
        if op == "CropAndResize":
            arguments["image"] = image
        else:
            arguments["grads"] = draw_array(rng, tf.float32, (boxes, *size, 2))
        if op == "CropAndResizeGradBoxes":
            arguments["image"] = image
        arguments["boxes"] = rng.random((boxes, 4)).astype(np.float32)
        arguments["box_ind"] = whole(rng.integers(0, len(image), boxes))
        if op == "CropAndResize":
            return call(op, {**arguments, "crop_size": whole(size)}, method=pick(rng, "bilinear", "nearest"))
        if op == "CropAndResizeGradImage":
            return call(op, {**arguments, "image_size": whole(image.shape)}, T=tf.float32)
        return call(op, arguments)


for _op in ("CropAndResize", "CropAndResizeGradImage", "CropAndResizeGradBoxes"):
    _crops(_op)


def _dilation(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        dtype = pick(rng, tf.float32, tf.bfloat16, tf.float64, tf.int32)
        image, filters = _image(rng, dtype), draw_array(rng, dtype, (*rng.integers(1, 3, 2).tolist(), 2))
        strides, rates = [1, *rng.integers(1, 3, 2).tolist(), 1], [1, *rng.integers(1, 3, 2).tolist(), 1]
        options: dict[str, Any] = {"strides": strides, "rates": rates, "padding": pick(rng, "SAME", "VALID")}

        def function(x: Any, y: Any) -> Any:
            result = raw("Dilation2D")(input=x, filter=y, **options)
            return result if op == "Dilation2D" else raw(op)(input=x, filter=y, out_backprop=result, **options)

        return run(function, x=image, y=filters)


for _op in ("Dilation2D", "Dilation2DBackpropFilter", "Dilation2DBackpropInput"):
    _dilation(_op)


@maker("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def make_transform(rng: Rng) -> Program:
    dtype = pick(rng, tf.float32, tf.float64, tf.uint8, tf.int32)
    image = _image(rng, dtype)
    turns = np.zeros((len(image), 8), np.float32) + np.array([1, 0, 0, 0, 1, 0, 0, 0], np.float32)
    turns[:, :6] += rng.normal(0, 0.2, (len(image), 6)).astype(np.float32)
    arguments = {"images": image, "transforms": turns, "output_shape": whole(rng.integers(1, 6, 2))}
    modes = {"interpolation": pick(rng, "NEAREST", "BILINEAR"), "fill_mode": pick(rng, "CONSTANT", "REFLECT", "WRAP")}
    if rng.random() < 0.5:
        return call("ImageProjectiveTransformV2", arguments, **modes)
    return call("ImageProjectiveTransformV3", {**arguments, "fill_value": np.ones([], np.float32)}, **modes)


@maker("MaxPoolWithArgmax", "MaxPoolGradWithArgmax")
def make_argmax_gradient(rng: Rng) -> Program:
    sizes, strides = [1, *rng.integers(1, 3, 2).tolist(), 1], [1, *rng.integers(1, 3, 2).tolist(), 1]
    options = {"ksize": sizes, "strides": strides, "padding": pick(rng, "SAME", "VALID")}

    def function(x: Any) -> Any:
        pooled = raw("MaxPoolWithArgmax")(input=x, **options)
        grad = tf.ones_like(pooled.output)
        return pooled, raw("MaxPoolGradWithArgmax")(input=x, grad=grad, argmax=pooled.argmax, **options)

    return run(function, x=_image(rng))


def _resize_gradient(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        image = _image(rng)
        grads = draw_array(rng, tf.float32, (len(image), *rng.integers(1, 6, 2).tolist(), 2))
        options: dict[str, Any] = {"align_corners": bool(rng.integers(2)), "half_pixel_centers": False}
        if op == "ResizeBicubicGrad":
            return call(op, {"grads": grads, "original_image": image}, **options)
        return call(op, {"grads": grads, "size": whole(image.shape[1:3])}, **options)


_resize_gradient("ResizeBicubicGrad")
_resize_gradient("ResizeNearestNeighborGrad")


def _scale(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        image, size = _image(rng), rng.integers(1, 6, 2)
        moves = {
            "scale": rng.uniform(0.5, 2, 2).astype(np.float32), "translation": rng.normal(0, 1, 2).astype(np.float32),
        }  # fmt: skip
        options = {
            "kernel_type": pick(rng, "lanczos3", "gaussian", "box", "triangle"),
            "antialias": bool(rng.integers(2)),
        }
        if op == "ScaleAndTranslate":
            return call(op, {"images": image, "size": whole(size), **moves}, **options)
        grads = draw_array(rng, tf.float32, (len(image), *size.tolist(), 2))
        return call(op, {"grads": grads, "original_image": image, **moves}, **options)


_scale("ScaleAndTranslate")
_scale("ScaleAndTranslateGrad")
