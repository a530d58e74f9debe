"""Makers for convolutions and pooling with gradients. Some windows do not fit the image."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import call, constant, float_type, pick, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.values import draw_array, draw_style

Rng = np.random.Generator


@dataclasses.dataclass
class _Window:
    """Sizes of a convolution over `spatial` dimensions, channels last."""

    batch: int
    sizes: list[int]
    channels: int
    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    padding: str
    explicit: list[int]

    @property
    def input(self) -> tuple[int, ...]:
        return (self.batch, *self.sizes, self.channels)

    def output(self) -> list[int]:
        """Returns the spatial sizes of the result."""
        found = []
        for i, size in enumerate(self.sizes):
            reach = (self.kernel[i] - 1) * self.dilations[i] + 1
            around = sum(self.explicit[2 * i + 2 : 2 * i + 4]) if self.padding == "EXPLICIT" else 0
            rest = size if self.padding == "SAME" else size + around - reach + 1
            found.append(max(0, -(-rest // max(1, self.strides[i]))))
        return found


def _draw(rng: Rng, spatial: int, explicit: bool = False, dilated: bool = True) -> _Window:
    padding = pick(rng, "SAME", "VALID", *(["EXPLICIT"] if explicit else []))
    around = [0, 0, *rng.integers(0, 3, 2 * spatial).tolist(), 0, 0] if padding == "EXPLICIT" else []
    strides = rng.integers(1, 4, spatial).tolist()
    dilations = rng.integers(1, 3, spatial).tolist() if dilated and rng.random() < 0.4 else [1] * spatial
    if rng.random() < 0.08:
        (strides if rng.random() < 0.5 else dilations)[0] = int(pick(rng, 0, -1, 2**31 - 1, 1000003))
    return _Window(
        int(rng.integers(0, 3)) if rng.random() < 0.2 else 2,
        rng.integers(1, 9, spatial).tolist(),
        int(pick(rng, 1, 2, 3, 4)),
        rng.integers(1, 4, spatial).tolist(),
        strides,
        dilations,
        padding,
        around,
    )


def _attributes(window: _Window, spatial: int, **more: Any) -> dict[str, Any]:
    attributes = {"strides": [1, *window.strides, 1], "padding": window.padding, "dilations": [1, *window.dilations, 1]}
    if spatial == 2:
        attributes["explicit_paddings"] = window.explicit
    return {**attributes, **more}


def _convolution(op: str, spatial: int, depthwise: bool, of: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        window = _draw(rng, spatial, explicit=spatial == 2)
        dtype, style = float_type(rng), draw_style(rng)
        groups = 2 if not depthwise and spatial == 2 and window.channels == 4 and rng.random() < 0.3 else 1
        outputs = int(rng.integers(1, 4)) * groups
        kernel = (*window.kernel, window.channels // groups, outputs)
        channels = window.channels * outputs if depthwise else outputs
        result = (window.batch, *window.output(), channels)
        attributes = _attributes(window, spatial)
        if of == "":
            first, first_shape = ("input", window.input)
            arguments = {
                first: draw_array(rng, dtype, first_shape, style),
                "filter": draw_array(rng, dtype, kernel, style),
            }
            return call(op, arguments, **attributes)
        backprop = draw_array(rng, dtype, result, style)
        if of == "input":
            arguments = {
                "input_sizes": whole(window.input),
                "filter": draw_array(rng, dtype, kernel, style),
                "out_backprop": backprop,
            }
        else:
            arguments = {
                "input": draw_array(rng, dtype, window.input, style),
                "filter_sizes": whole(kernel),
                "out_backprop": backprop,
            }
        program = call(op, arguments, **attributes)
        return constant(program, "input_sizes", "filter_sizes") if rng.random() < 0.5 else program


for _op, _spatial, _depthwise, _of in (
    ("Conv2D", 2, False, ""),
    ("Conv2DBackpropInput", 2, False, "input"),
    ("Conv2DBackpropFilter", 2, False, "filter"),
    ("Conv3D", 3, False, ""),
    ("Conv3DBackpropInputV2", 3, False, "input"),
    ("Conv3DBackpropFilterV2", 3, False, "filter"),
    ("DepthwiseConv2dNative", 2, True, ""),
    ("DepthwiseConv2dNativeBackpropInput", 2, True, "input"),
    ("DepthwiseConv2dNativeBackpropFilter", 2, True, "filter"),
):
    _convolution(_op, _spatial, _depthwise, _of)


@maker("Conv")
def make_conv(rng: Rng) -> Program:
    spatial = int(pick(rng, 2, 3))
    window = _draw(rng, spatial)
    dtype, style = float_type(rng), draw_style(rng)
    kernel = (*window.kernel, window.channels, 3)
    arguments = {"input": draw_array(rng, dtype, window.input, style), "filter": draw_array(rng, dtype, kernel, style)}
    return call("Conv", arguments, strides=[1, *window.strides, 1], padding=window.padding)


def _pool(op: str, spatial: int, of: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        window = _draw(rng, spatial, dilated=False)
        dtype, style = float_type(rng), draw_style(rng)
        sizes, strides = [1, *window.kernel, 1], [1, *window.strides, 1]
        attributes: dict[str, Any] = {"padding": window.padding}
        lengths: dict[str, Any] = {"ksize": sizes, "strides": strides}
        image = draw_array(rng, dtype, window.input, style)
        pooled = (window.batch, *window.output(), window.channels)
        gradient = draw_array(rng, dtype, pooled, style)
        if of == "":
            arguments = {"value" if op == "AvgPool" else "input": image}
        elif of == "average":
            arguments = {"orig_input_shape": whole(window.input), "grad": gradient}
        else:
            output = _max_pool(image, sizes, strides, window.padding, spatial)
            if output.shape != pooled or rng.random() < 0.05:
                output = draw_array(rng, dtype, pooled, style)
            shape = window.input if of == "second" else pooled
            arguments = {"orig_input": image, "orig_output": output, "grad": draw_array(rng, dtype, shape, style)}
        if op.endswith("V2"):
            arguments |= {name: whole(values) for name, values in lengths.items()}
            return constant(call(op, arguments, **attributes), "ksize", "strides")
        return call(op, arguments, **lengths, **attributes)


def _max_pool(image: Any, sizes: list[int], strides: list[int], padding: str, spatial: int) -> Any:
    pool = tf.nn.max_pool2d if spatial == 2 else tf.nn.max_pool3d
    try:
        with tf.device("/device:CPU:0"), tf.init_scope():
            return pool(image, sizes, strides, padding).numpy()
    except Exception:
        return np.zeros(0, image.dtype)


for _op, _spatial, _of in (
    ("AvgPool", 2, ""),
    ("AvgPool3D", 3, ""),
    ("MaxPool", 2, ""),
    ("MaxPoolV2", 2, ""),
    ("MaxPool3D", 3, ""),
    ("AvgPoolGrad", 2, "average"),
    ("AvgPool3DGrad", 3, "average"),
    ("MaxPoolGrad", 2, "first"),
    ("MaxPoolGradV2", 2, "first"),
    ("MaxPool3DGrad", 3, "first"),
    ("MaxPoolGradGrad", 2, "second"),
    ("MaxPoolGradGradV2", 2, "second"),
    ("MaxPool3DGradGrad", 3, "second"),
):
    _pool(_op, _spatial, _of)
