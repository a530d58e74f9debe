"""Runs a program compiled, with some of its sizes dynamic. Elements past a size are garbage."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

from tests.ops.sweep import modes
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array, Outcome

_PAST = 2  # elements past a size
_MAX_SINGLES = 4  # dimensions that become dynamic alone
_MAX_VALUES = 3  # elements of integer operands that become dynamic
_MAX_VALUE = 64


@dataclasses.dataclass(frozen=True)
class Variant:
    """The dynamic sizes of a run."""

    name: str
    dimensions: Mapping[int, Sequence[int]] = dataclasses.field(default_factory=dict)  # by argument
    element: tuple[int, int] | None = None  # argument and flat index of an integer that is the size of an array
    past: int = _PAST
    gradient: bool = False


def variants(program: Program, gradient: bool) -> Iterator[Variant]:
    """Yields variants: all dimensions of a size, single dimensions, and integers computed from sizes."""
    singles = [(i, d) for i, array in enumerate(program.arrays) for d in range(array.ndim) if array.dtype != object]
    for size in sorted({program.arrays[i].shape[d] for i, d in singles}):
        dimensions: dict[int, list[int]] = {}
        for i, d in singles:
            if program.arrays[i].shape[d] == size:
                dimensions.setdefault(i, []).append(d)
        yield Variant(f"all of size {size}", dimensions)
        if gradient:
            yield Variant(f"gradient, all of size {size}", dimensions, gradient=True)
        yield Variant(f"all of size {size}, which is the bound", dimensions, past=0)
    for i, d in singles[:_MAX_SINGLES]:
        yield Variant(f"dimension {d} of argument {i}", {i: [d]})
        if gradient:
            yield Variant(f"gradient, dimension {d} of argument {i}", {i: [d]}, gradient=True)
    elements = [
        (i, k)
        for i, array in enumerate(program.arrays)
        if array.dtype in (np.int32, np.int64) and array.size <= 8
        for k in range(array.size)
        if 0 <= array.flat[k] <= _MAX_VALUE
    ]
    for i, k in elements[:_MAX_VALUES]:
        yield Variant(f"element {k} of argument {i}", element=(i, k))


def _padded(array: Array, dimensions: Sequence[int], past: int) -> Array:
    """Returns the array in an array of the bounds, whose other elements are garbage."""
    bounds = [size + (past if d in dimensions else 0) for d, size in enumerate(array.shape)]
    garbage: Any = {"f": np.nan, "c": np.nan, "b": True, "V": np.nan}.get(array.dtype.kind, 77)
    padded = np.full(bounds, garbage, array.dtype)
    padded[tuple(slice(size) for size in array.shape)] = array
    return padded


def run(program: Program, variant: Variant, device: str) -> Outcome:
    """Returns the outcome of one call."""
    feeds: dict[int, Array] = {}
    for i, array in enumerate(program.arrays):
        if i in variant.dimensions:
            feeds[i] = _padded(array, variant.dimensions[i], variant.past)
        elif not (array.dtype.kind in "iu" and array.size <= 16) or array.dtype == object:
            feeds[i] = array

    def tensors(size: Any, counted: Any, fed: Sequence[Any]) -> list[Any]:
        given = dict(zip(feeds, fed))
        found = []
        for i, array in enumerate(program.arrays):
            tensor = given[i] if i in given else tf.constant(array)
            if i in variant.dimensions:
                shape: list[int | None] = list(array.shape)
                for d in variant.dimensions[i]:
                    tensor = xla.set_dynamic_dimension_size(tensor, d, size)
                    shape[d] = None
                tensor.set_shape(shape)
            elif variant.element is not None and variant.element[0] == i:
                parts: list[Any] = [tf.constant(number) for number in array.ravel()]
                parts[variant.element[1]] = tf.shape(
                    xla.set_dynamic_dimension_size(counted, 0, size), array.dtype.type
                )[0]
                tensor = tf.reshape(tf.stack(parts), array.shape)
            found.append(tensor)
        return found

    with tf.device(device):
        variables = [tf.Variable(value) for value in program.variables]

        def body(size: Any, counted: Any, *fed: Any) -> Any:
            given = tensors(size, counted, fed)
            if not variant.gradient:
                return modes.tensors_of(program.function(*[v.handle for v in variables], *given))
            floats = [t for t in given if t.dtype.is_floating or t.dtype.is_complex]
            with tf.GradientTape() as tape:
                tape.watch(floats)
                results = modes.tensors_of(program.function(*given))
                targets = [r for r in results if r.dtype.is_floating or r.dtype.is_complex]
            return tape.gradient(targets, floats)

        if variant.element is not None:
            i, k = variant.element
            size = int(program.arrays[i].flat[k])
        else:
            size = next(program.arrays[i].shape[d] for i, dims in variant.dimensions.items() for d in dims)
        counted = np.zeros([size + variant.past], np.float32)
        function = tf.function(body, autograph=False, jit_compile=True)

        def call() -> Any:
            results = function(tf.constant(np.int32(size)), tf.constant(counted), *map(tf.constant, feeds.values()))
            arrays = modes.to_arrays(results)
            return arrays if variant.gradient else [arrays, [v.numpy() for v in variables]]

        return modes.outcome(call)
