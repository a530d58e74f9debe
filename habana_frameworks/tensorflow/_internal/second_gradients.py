"""Second-order gradients of fused ops, composed of TensorFlow ops, for example for gradient penalties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


def _of(first: Callable[..., Sequence[Any]]) -> Callable[..., Any]:
    """Returns the gradient function of a node that computes the same as `first(node, *inputs)`."""

    def gradient(node: Any, *dys: Any) -> Any:
        with tf.GradientTape() as tape:
            inputs = [tf.identity(argument) for argument in node.inputs]
            tape.watch(inputs)
            results = list(first(node, *inputs))
        return tape.gradient(results, inputs, list(dys), unconnected_gradients=tf.UnconnectedGradients.ZERO)

    return gradient


def _gelu(node: Any, dy: tf.Tensor, x: tf.Tensor) -> Sequence[Any]:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.gelu(x, approximate=node.get_attr("approximate"))
    return [tape.gradient(y, x, dy)]


def _norm(x: tf.Tensor, grad_in: tf.Tensor, gamma: tf.Tensor, axes: Sequence[int], epsilon: float) -> Sequence[Any]:
    # Recomputes mean and variance from x, so that the gradient includes their dependence on x.
    beta = tf.zeros_like(gamma)
    with tf.GradientTape() as tape:
        tape.watch([x, beta, gamma])
        wide = [tf.cast(tensor, tf.float32) for tensor in (x, beta, gamma)]
        mean, variance = tf.nn.moments(wide[0], axes, keepdims=True)
        y = tf.nn.batch_normalization(wide[0], mean, variance, wide[1], wide[2], epsilon)
    return tape.gradient(y, [x, beta, gamma], tf.cast(grad_in, tf.float32))  # type: ignore[no-any-return]


def _layer_norm(
    node: Any, x: tf.Tensor, grad_in: tf.Tensor, _mean: tf.Tensor, _istd: tf.Tensor, gamma: tf.Tensor
) -> Sequence[Any]:
    axes, epsilon = (tf.make_ndarray(node.get_attr(name)) for name in ("axes", "epsilon"))
    return _norm(x, grad_in, gamma, axes.reshape(-1).tolist(), float(epsilon))


def _instance_norm(
    node: Any, x: tf.Tensor, grad_in: tf.Tensor, gamma: tf.Tensor, _mean: tf.Tensor, _istd: tf.Tensor
) -> Sequence[Any]:
    axes = list(node.get_attr("axes")) or list(range(1, x.shape.rank - 1))
    return _norm(x, grad_in, gamma, axes, node.get_attr("epsilon"))


GRADIENTS = {
    "HabanaGeluGrad": _of(_gelu),
    "HabanaLayerNormGrad": _of(_layer_norm),
    "HabanaInstanceNormGrad": _of(_instance_norm),
}
