"""Makers for ops of layers: normalisation, biases, space to depth, images, quantisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import call, pick, raw, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.values import TYPES, Style, draw_array, draw_shape, draw_style

Rng = np.random.Generator


def _image(rng: Rng, dtype: tf.DType, channels: int) -> Array:
    return draw_array(rng, dtype, (*draw_shape(rng, 3), channels))


def _norm(op: str, gradient: bool) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        dtype = tf.float32 if not op.endswith(("V2", "V3")) else pick(rng, tf.float32, tf.bfloat16, tf.float16)
        channels = int(rng.integers(1, 4))
        x = _image(rng, dtype, channels)
        training = bool(rng.integers(2))
        vectors = {name: draw_array(rng, tf.float32, [channels], Style.UNIT) for name in ("scale", "offset")}
        vectors |= {name: draw_array(rng, tf.float32, [channels], Style.UNIT) for name in ("mean", "variance")}
        if not gradient:
            if training:
                vectors |= {"mean": np.zeros(0, np.float32), "variance": np.zeros(0, np.float32)}
            program = {"x": x, **vectors}
            return run(lambda *t: raw(op)(**dict(zip(program, t)), is_training=training)[:3], None, **program)
        saved = {"reserve_space_1": vectors["mean"], "reserve_space_2": vectors["variance"]}
        if op.endswith("V3"):
            saved["reserve_space_3"] = np.zeros(0, np.float32)
        backprop = draw_array(rng, dtype, x.shape)
        arguments = {"y_backprop": backprop, "x": x, "scale": vectors["scale"], **saved}
        return run(lambda *t: raw(op)(**dict(zip(arguments, t)), is_training=training)[:3], None, **arguments)


for _suffix in ("", "V2", "V3"):
    _norm(f"FusedBatchNorm{_suffix}", False)
    _norm(f"FusedBatchNormGrad{_suffix}", True)


def _bias(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        dtype, style = pick(rng, tf.float32, tf.bfloat16, tf.float16, tf.float64, tf.int32, tf.int64), draw_style(rng)
        shape = draw_shape(rng, int(rng.integers(2, 6)))
        layout = pick(rng, "NHWC", "NCHW")
        place = 1 if layout == "NCHW" else -1
        attributes = {} if op == "BiasAddV1" else {"data_format": layout}
        size = shape[-1 if op == "BiasAddV1" else place]
        return call(
            op,
            {"value": draw_array(rng, dtype, shape, style), "bias": draw_array(rng, dtype, [size], style)},
            **attributes,
        )


_bias("BiasAdd")
_bias("BiasAddV1")


def _blocks(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        block, dtype = int(rng.integers(2, 4)), pick(rng, *TYPES)
        rows, columns, channels = (int(size) for size in rng.integers(1, 4, 3))
        crops = whole(rng.integers(0, 2, (2, 2)))
        more: dict[str, Array] = {}
        if op == "DepthToSpace":
            shape = (2, rows, columns, channels * block * block)
        elif op == "SpaceToDepth":
            shape = (2, rows * block, columns * block, channels)
        elif op == "BatchToSpace":
            shape, more = (2 * block * block, rows, columns, channels), {"crops": crops}
        else:
            padded = [size * block - int(around.sum()) for size, around in zip((rows + 1, columns + 1), crops)]
            shape, more = (2, padded[0], padded[1], channels), {"paddings": crops}
        return call(op, {"input": draw_array(rng, dtype, shape), **more}, block_size=block)


for _op in ("DepthToSpace", "SpaceToDepth", "BatchToSpace", "SpaceToBatch"):
    _blocks(_op)


@maker("DataFormatVecPermute")
def make_permute(rng: Rng) -> Program:
    shape = pick(rng, (4,), (2,), (4, 2), (2, 2))
    layouts = {"src_format": pick(rng, "NHWC", "NCHW"), "dst_format": pick(rng, "NCHW", "NHWC", "HWNC")}
    return call("DataFormatVecPermute", {"x": draw_array(rng, pick(rng, tf.int32, tf.int64), shape)}, **layouts)


def _channel_quant(op: str, gradient: bool) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        x = draw_array(rng, tf.float32, draw_shape(rng, int(rng.integers(1, 4))), draw_style(rng))
        depth = x.shape[-1]
        low, high = (
            -draw_array(rng, tf.float32, [depth], Style.UNIT),
            draw_array(rng, tf.float32, [depth], Style.UNIT) * 4,
        )
        arguments: dict[str, Array] = {"inputs": x, "min": low, "max": high.astype(np.float32)}
        if gradient:
            arguments = {"gradients": draw_array(rng, tf.float32, x.shape), **arguments}
        return call(op, arguments, num_bits=int(rng.integers(2, 9)), narrow_range=bool(rng.integers(2)))


_channel_quant("FakeQuantWithMinMaxVarsPerChannel", False)
_channel_quant("FakeQuantWithMinMaxVarsPerChannelGradient", True)


@maker("LRNGrad")
def make_lrn_gradient(rng: Rng) -> Program:
    dtype = pick(rng, tf.float32, tf.bfloat16, tf.float16)
    x = _image(rng, dtype, 5)

    def function(gradient: Any, x: Any) -> Any:
        return raw("LRNGrad")(input_grads=gradient, input_image=x, output_image=raw("LRN")(input=x))

    return run(function, gradient=draw_array(rng, dtype, x.shape), x=x)


@maker("ResizeBilinear", "ResizeNearestNeighbor")
def make_resize(rng: Rng) -> Program:
    dtype = pick(rng, tf.float32, tf.bfloat16, tf.float16, tf.float64)
    corners, centers = pick(rng, (False, False), (True, False), (False, True), (True, True))

    def function(images: Any, size: Any) -> Any:
        options = {"images": images, "size": size, "align_corners": corners, "half_pixel_centers": centers}
        return raw("ResizeBilinear")(**options), raw("ResizeNearestNeighbor")(**options)

    return run(function, images=_image(rng, dtype, 2), size=whole(rng.integers(1, 9, 2)))


@maker("ResizeBilinearGrad")
def make_resize_gradient(rng: Rng) -> Program:
    images = _image(rng, pick(rng, tf.float32, tf.float16), 2)
    grads = draw_array(rng, tf.float32, (len(images), *rng.integers(1, 6, 2).tolist(), 2))
    return call("ResizeBilinearGrad", {"grads": grads, "original_image": images}, align_corners=bool(rng.integers(2)))


@maker("UniformQuantize", "UniformDequantize", "UniformRequantize", "UniformQuantizedAdd",
       "UniformQuantizedClipByValue")  # fmt: skip
def make_uniform(rng: Rng) -> Program:
    limits = {"quantization_min_val": -128, "quantization_max_val": 127}
    wide = {"quantization_min_val": -(2**31), "quantization_max_val": 2**31 - 1}

    def function(x: Any, scale: Any, zero: Any) -> Any:
        small = raw("UniformQuantize")(input=x, scales=scale, zero_points=zero, Tout=tf.qint8, **limits)
        back = raw("UniformDequantize")(input=small, scales=scale, zero_points=zero, Tout=tf.float32, **limits)
        large = raw("UniformQuantize")(input=x, scales=scale, zero_points=zero, Tout=tf.qint32, **wide)
        clipped = raw("UniformQuantizedClipByValue")(
            operand=large, min=tf.bitcast(tf.constant(-9), tf.qint32), max=tf.bitcast(tf.constant(9), tf.qint32),
            scales=scale, zero_points=zero, **wide,
        )  # fmt: skip
        return back, raw("UniformDequantize")(input=clipped, scales=scale, zero_points=zero, Tout=tf.float32, **wide)

    x = draw_array(rng, tf.float32, draw_shape(rng))
    return run(function, x=x, scale=np.float32(0.25) * np.ones([], np.float32), zero=whole(rng.integers(-3, 4)))


@maker("NonMaxSuppressionV3", "NonMaxSuppressionV4")
def make_suppression(rng: Rng) -> Program:
    boxes = int(rng.integers(0, 8))
    corners = np.sort(rng.random((boxes, 2, 2)).astype(np.float32), 1).reshape(boxes, 4)

    def function(boxes: Any, scores: Any, size: Any, overlap: Any, score: Any) -> Any:
        options = {"boxes": boxes, "scores": scores, "max_output_size": size, "iou_threshold": overlap}
        padded = raw("NonMaxSuppressionV4")(**options, score_threshold=score, pad_to_max_output_size=True)
        return raw("NonMaxSuppressionV3")(**options, score_threshold=score), padded

    scores = rng.permutation(boxes).astype(np.float32) / 8
    limits = {"overlap": np.float32(0.5) * np.ones([], np.float32), "score": np.zeros([], np.float32)}
    return run(function, None, boxes=corners, scores=scores, size=whole(rng.integers(0, 6)), **limits)
