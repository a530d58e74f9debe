"""Gradients of the HPU's fused ops, for calls of these ops through `habana_ops`, as in the layers of ops/.

Fused ops of the graph pass (docs/developer/patterns.md) do not need these gradients. The pass runs after TensorFlow has
built the gradients, and also fuses the gradient ops.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_lock = threading.Lock()
_registered = False

Gradient = Callable[..., Any]
_gradients: dict[str, Gradient] = {}


def register() -> None:
    """Registers the gradients with TensorFlow. Later calls do nothing; thread safe."""
    global _registered
    import tensorflow as tf

    with _lock:
        if _registered:
            return
        from habana_frameworks.tensorflow._internal import second_gradients

        for op, gradient in {**_gradients, **second_gradients.GRADIENTS}.items():
            tf.RegisterGradient(op)(gradient)
        _registered = True


def _gradient_of(op: str) -> Callable[[Gradient], Gradient]:
    def keep(gradient: Gradient) -> Gradient:
        _gradients[op] = gradient
        return gradient

    return keep


def _ops() -> Any:
    from habana_frameworks.tensorflow._internal.native.op_wrappers import habana_ops

    return habana_ops


@_gradient_of("HabanaGelu")
def _gelu(op: Any, dy: Any) -> Any:
    return _ops().habana_gelu_grad(dy=dy, x=op.inputs[0], approximate=op.get_attr("approximate"))


@_gradient_of("HabanaLayerNorm")
def _layer_norm(op: Any, dy: Any, *_: Any) -> Any:
    x, _beta, gamma = op.inputs
    _y, mean, istd = op.outputs
    attrs = {name: op.get_attr(name) for name in ("axes", "epsilon")}
    return tuple(_ops().habana_layer_norm_grad(x=x, grad_in=dy, mean=mean, istd=istd, gamma=gamma, **attrs))


@_gradient_of("HabanaLayerNormV2")
def _layer_norm_v2(op: Any, dy: Any, *_: Any) -> Any:
    x, _beta, gamma = op.inputs
    _y, mean, istd = op.outputs
    attrs = {name: op.get_attr(name) for name in ("axes", "epsilon")}
    return tuple(_ops().habana_layer_norm_grad_v2(x=x, grad_in=dy, mean=mean, istd=istd, gamma=gamma, **attrs))


@_gradient_of("HabanaInstanceNorm")
def _instance_norm(op: Any, dy: Any, *_: Any) -> Any:
    x, _beta, gamma = op.inputs
    _y, mean, istd = op.outputs[:3]
    attrs = {name: op.get_attr(name) for name in ("axes", "epsilon")}
    return tuple(_ops().habana_instance_norm_grad(input=x, grad_in=dy, gamma=gamma, mean=mean, istd=istd, **attrs))


@_gradient_of("HabanaDropout")
def _dropout(op: Any, dy: Any, _mask: Any) -> Any:
    return _ops().habana_dropout_grad(dy=dy, mask=op.outputs[1], scale=op.get_attr("scale")), None


@_gradient_of("HabanaDropoutStateful")
def _dropout_stateful(op: Any, dy: Any, _mask: Any) -> Any:
    return _ops().habana_dropout_grad(dy=dy, mask=op.outputs[1], scale=op.get_attr("scale"))


@_gradient_of("HabanaMaskedSoftmax")
def _masked_softmax(op: Any, dy: Any) -> Any:
    import tensorflow as tf

    logits, mask = op.inputs
    dx = _ops().habana_softmax_grad(dy=dy, y=op.outputs[0])
    axes = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(logits), s1=tf.shape(mask)).r1
    return dx, tf.reshape(tf.reduce_sum(dx, axes), tf.shape(mask))


@_gradient_of("HabanaMaxPool")
def _max_pool(op: Any, dy: Any) -> Any:
    attrs: dict[str, Any] = {name: op.get_attr(name) for name in ("ksize", "strides")}
    return _ops().habana_max_pool_grad(
        orig_input=op.inputs[0], orig_output=op.outputs[0], grad=dy, padding=op.get_attr("padding").decode(), **attrs
    )


@_gradient_of("HabanaResizeNearestNeighbor")
def _resize_nearest_neighbor(op: Any, dy: Any) -> Any:
    import tensorflow as tf

    attrs = {name: op.get_attr(name) for name in ("align_corners", "half_pixel_centers")}
    size = tf.shape(op.inputs[0])[1:3]
    return _ops().habana_resize_nearest_neighbor_grad(grads=dy, size=size, **attrs), None


@_gradient_of("HabanaSparseSegmentSum")
def _sparse_segment_sum(op: Any, dy: Any) -> Any:
    import tensorflow as tf

    data, indices, segment_ids, _segments = op.inputs
    rows = tf.gather(dy, segment_ids)
    return tf.math.unsorted_segment_sum(rows, indices, tf.shape(data)[0]), None, None, None


@_gradient_of("HabanaCorrelation")
def _correlation(op: Any, dy: Any, *_: Any) -> Any:
    _out, interp, grid = op.outputs
    gradients = _ops().habana_correlation_grad(grad_in=dy, cntr=op.inputs[0], interp=interp, grid=grid)
    return gradients.cntr_grad, gradients.srnd_grad, None, None, None


_ALIGN_ATTRS = ("sampling_ratio", "use_abs_coords", "scale_to_level")


@_gradient_of("PyramidRoiAlign")
def _pyramid_roi_align(op: Any, dy: Any) -> Any:
    *images, num_boxes, boxes, levels = op.inputs
    attrs = {name: op.get_attr(name) for name in _ALIGN_ATTRS}
    gradients = _ops().pyramid_roi_align_grad_images(images, dy, num_boxes, boxes, levels, **attrs)
    return [*gradients, None, None, None]


@_gradient_of("PyramidRoiAlignGradImages")
def _pyramid_roi_align_grad_images(op: Any, *ddys: Any) -> Any:
    # The op is linear in grad_in, and does not depend on the values of the images.
    *images, grad_in, num_boxes, boxes, levels = op.inputs
    attrs = {name: op.get_attr(name) for name in _ALIGN_ATTRS}
    size = grad_in.shape[2:4].as_list()
    features = _ops().pyramid_roi_align(list(ddys), num_boxes, boxes, levels, output_size=size, **attrs)
    return [*(None for _ in images), features, None, None, None]


@_gradient_of("HabanaClampFwd")
def _clamp(op: Any, dy: Any) -> Any:
    return _ops().habana_clamp_bwd(dy=dy, x=op.inputs[0], min=op.get_attr("min"), max=op.get_attr("max"))


@_gradient_of("HabanaConv2DWithPadding")
def _conv2d(op: Any, dy: Any) -> Any:
    import tensorflow as tf

    x, weights = op.inputs
    attrs = {name: op.get_attr(name) for name in ("paddings", "strides", "dilations")}
    attrs["data_format"] = op.get_attr("data_format").decode()
    ops = _ops()
    return (
        ops.habana_conv2d_with_padding_backprop_input(tf.shape(x), weights, dy, **attrs),
        ops.habana_conv2d_with_padding_backprop_filter(x, tf.shape(weights), dy, **attrs),
    )


def _through_activation(op: Any, dy: Any) -> Any:
    """Backpropagates `dy` through the op's activation and returns the gradient of the activation's input."""
    import tensorflow as tf

    y = op.outputs[0]
    activation = op.get_attr("activation").decode()
    if activation == "Relu":
        return tf.raw_ops.ReluGrad(gradients=dy, features=y)
    if activation == "Relu6":
        return tf.raw_ops.Relu6Grad(gradients=dy, features=y)
    if activation == "Tanh":
        return tf.raw_ops.TanhGrad(y=y, dy=dy)
    return tf.raw_ops.SigmoidGrad(y=y, dy=dy)


@_gradient_of("HabanaFusedBatchNormV3")
def _batch_norm(op: Any, dy: Any, *others: Any) -> Any:
    from tensorflow.python.ops import nn_grad

    # The op has the inputs, results and attributes of TensorFlow's FusedBatchNormV3.
    return nn_grad._FusedBatchNormV3Grad(op, _through_activation(op, dy), *others)


@_gradient_of("HabanaBiasAddActivation")
def _bias_add(op: Any, dy: Any) -> Any:
    import tensorflow as tf

    through = _through_activation(op, dy)
    data_format = op.get_attr("data_format").decode()
    return through, tf.raw_ops.BiasAddGrad(out_backprop=through, data_format=data_format)
