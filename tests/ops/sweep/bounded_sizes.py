"""Runs a program with several sizes of its arguments. On the HPU, one recipe serves the sizes of a bucket."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep import modes
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array, BoundedRun, Outcome

# By bucket. The first size has a static recipe.
_SIZES = ((4, 9, 11, 12), (9, 5, 6, 5), (5, 7, 8, 7))
_MAX_SINGLES = 3  # dimensions that change alone


@dataclasses.dataclass(frozen=True)
class Variant:
    """The sizes that change together: dimensions, and integers of a shape operand, which are `size` in the case."""

    name: str
    size: int
    dimensions: Sequence[tuple[int, int]]  # argument and dimension
    elements: Sequence[tuple[int, int]] = ()  # argument and flat index
    gradient: bool = False


def variants(program: Program, gradient: bool) -> Iterator[Variant]:
    """Yields variants: all dimensions of a size, also with all integers of this size, and single dimensions.

    Arrays without elements have no bounded recipes, apart from arrays whose dynamic size is 0.
    """
    if any(array.size == 0 for array in program.arrays):
        return
    dimensions = [(i, d) for i, array in enumerate(program.arrays) for d in range(array.ndim) if array.dtype != object]
    integers = [
        (i, k)
        for i, array in enumerate(program.arrays)
        if array.dtype in (np.int32, np.int64) and array.ndim <= 1 and array.size <= 8
        for k in range(array.size)
    ]
    for size in sorted({program.arrays[i].shape[d] for i, d in dimensions} - {0}):
        changing = [(i, d) for i, d in dimensions if program.arrays[i].shape[d] == size]
        elements = [(i, k) for i, k in integers if program.arrays[i].flat[k] == size and (i, 0) not in changing]
        name = f"all of size {size}"
        yield Variant(name, size, changing)
        if elements:
            yield Variant(f"{name} and integers", size, changing, elements)
        if gradient:
            yield Variant(f"gradient, {name}", size, changing, elements, gradient=True)
        for i, d in changing[:_MAX_SINGLES] if len(changing) > 1 else ():
            yield Variant(f"dimension {d} of argument {i}", size, [(i, d)])


def _arrays(program: Program, variant: Variant, size: int) -> list[Array]:
    """Returns the program's arrays, repeated or cut to a size."""
    arrays = list(program.arrays)
    for i, d in variant.dimensions:
        arrays[i] = np.take(arrays[i], np.arange(size) % variant.size, axis=d)
    for i, k in variant.elements:
        arrays[i] = np.array(arrays[i])
        arrays[i].flat[k] = size
    return arrays


def _function(program: Program, variant: Variant, device: str) -> Any:
    """Returns a function of arrays, which runs the program."""
    with tf.device(device):
        variables = [tf.Variable(value) for value in program.variables]

    def body(*fed: Any) -> Any:
        given = list(fed)
        if not variant.gradient:
            return modes.tensors_of(program.function(*[v.handle for v in variables], *given))
        floats = [t for t in given if t.dtype.is_floating or t.dtype.is_complex]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            results = modes.tensors_of(program.function(*given))
            targets = [r for r in results if r.dtype.is_floating or r.dtype.is_complex]
        gradients = [part for part in tape.gradient(targets, floats) if part is not None]
        if not gradients:
            raise ValueError("the op has no gradient")
        return gradients

    specs = []
    for i, array in enumerate(program.arrays):
        shape = [None if (i, d) in variant.dimensions else size for d, size in enumerate(array.shape)]
        specs.append(tf.TensorSpec(shape, tf.as_dtype(array.dtype) if array.dtype != object else tf.string))
    function = tf.function(body, autograph=False, input_signature=specs)

    def run(arrays: Sequence[Array]) -> Outcome:
        def call() -> Any:
            for variable, value in zip(variables, program.variables):
                variable.assign(value)
            with tf.device(device):
                results = function(*map(tf.constant, arrays))
            arrays_of_results = modes.to_arrays(results)
            return arrays_of_results if variant.gradient else [arrays_of_results, [v.numpy() for v in variables]]

        return modes.outcome(call)

    return run


def run_apart(program: Program, variant: Variant, device: str, bucket: int) -> list[Outcome]:
    """Returns the outcomes for the sizes, each of a new function."""
    return [_function(program, variant, device)(_arrays(program, variant, size)) for size in _SIZES[bucket]]


def run(program: Program, variant: Variant, device: str, bucket: int) -> list[Outcome]:
    """Returns the outcomes of one function for the sizes."""
    function = _function(program, variant, device)
    return [function(_arrays(program, variant, size)) for size in _SIZES[bucket]]


def run_bounded(program: Program, variant: Variant, device: str, bucket: int) -> BoundedRun:
    """Returns the outcomes of one function, and whether a recipe served several sizes."""
    from habana_frameworks.tensorflow import statistics

    statistics.reset()
    outcomes = run(program, variant, device, bucket)
    clusters = statistics.get().launched_clusters
    return BoundedRun(tuple(outcomes), bool(clusters), all(2 * one.recipes <= one.launches for one in clusters))
