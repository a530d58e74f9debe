"""OpCase, an op to measure, and helpers that turn gradients into ops."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class OpCase:
    """An op as a function of tensors, with their shapes.

    Inputs are normally distributed, or between 0 and 1 if `uniform`. If `indices_below` is set, the last tensor
    contains indices below it.
    """

    name: str
    function: Callable[..., Any]
    shapes: tuple[Shape, ...]
    dtype: tf.DType = tf.float32
    indices_below: int = 0
    uniform: bool = False

    @property
    def label(self) -> str:
        suffix = "" if self.dtype == tf.float32 else f" {self.dtype.name}"
        return f"{self.name} {' '.join('x'.join(map(str, shape)) for shape in self.shapes)}{suffix}"

    def inputs(self, device: str) -> list[tf.Tensor]:
        generator = np.random.default_rng(0)
        draw = generator.random if self.uniform else generator.standard_normal
        floats = self.shapes[:-1] if self.indices_below else self.shapes
        with tf.device(device):
            tensors = [tf.cast(tf.constant(draw(shape, dtype=np.float32)), self.dtype) for shape in floats]
            if self.indices_below:
                tensors.append(tf.constant(generator.integers(0, self.indices_below, self.shapes[-1], np.int32)))
        return tensors


def gradient(function: Callable[..., Any], *watched: int) -> Callable[..., Any]:
    """Returns a function that computes gradients of `function`, with respect to the tensors `watched` or all tensors.

    Its arguments are the function's tensors and the gradient of the result.
    """

    def run(*tensors: tf.Tensor) -> Any:
        *inputs, dy = tensors
        sources = [inputs[number] for number in watched] if watched else inputs
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = function(*inputs)
        return tape.gradient(y, sources, output_gradients=dy)

    return run


def indexed_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that computes gradients of `function` with respect to all tensors except the indices.

    Its arguments are the function's tensors without indices, the gradient of the result, and the indices.
    """

    def run(*tensors: tf.Tensor) -> Any:
        *sources, dy, indices = tensors
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = function(*sources, indices)
        gradients = tape.gradient(y, sources, output_gradients=dy)
        return [tf.convert_to_tensor(one) for one in gradients]  # sums up the rows of IndexedSlices

    return run


def gradients(
    name: str,
    function: Callable[[tf.Tensor], Any],
    shape: Shape,
    out: Shape,
    dtype: tf.DType = tf.float32,
    uniform: bool = False,
) -> Iterator[OpCase]:
    """Yields a case of a one-tensor function, and a case of its gradient."""
    yield OpCase(name, function, (shape,), dtype, uniform=uniform)
    yield OpCase(f"{name} gradient", gradient(function), (shape, out), dtype, uniform=uniform)


def convolution_gradients(
    name: str,
    function: Callable[[tf.Tensor, tf.Tensor], tf.Tensor],
    image: Shape,
    kernel: Shape,
    out: Shape,
    dtype: tf.DType = tf.float32,
) -> Iterator[OpCase]:
    """Yields a case of a function of image and filter, and cases of both gradients."""
    yield OpCase(name, function, (image, kernel), dtype)
    yield OpCase(f"{name} input gradient", gradient(function, 0), (image, kernel, out), dtype)
    yield OpCase(f"{name} filter gradient", gradient(function, 1), (image, kernel, out), dtype)
