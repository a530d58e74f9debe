"""Results whose sizes depend on values, and sizes as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tests.ops.chains.kinds import kind
from tests.ops.chains.program import Step
from tests.ops.chains.scope import INTEGERS, NUMBERS, WIDE_FLOATS, Scope, anything, exact, known, of
from tests.ops.chains.shapes import ranked


@kind(weight=4)
def where(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", exact("bool", "int32", "int64", *WIDE_FLOATS))
    if value is not None and ranked(1)(value):
        scope.apply(step, "where", tf.where, value, exact=True)


@kind(weight=3)
def unique(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", exact("int32", "int64", "uint8", "string", *WIDE_FLOATS))
    if value is None:
        return
    to = step.choose("type", (tf.int32, tf.int64))
    counted = step.chance("counted", 40)
    flat = tf.reshape(value.tensor, [-1])
    scope.note(f"t{step.number}… = unique{'_with_counts' if counted else ''}({value.name})")
    for result in (tf.unique_with_counts if counted else tf.unique)(flat, to):
        scope.add(step, result, value.exact)


@kind(weight=3)
def masked(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: ranked(1)(v) and known(v))
    if value is None:
        return
    rows = value.shape[0]
    mask = scope.need(step, "mask", "bool", [rows])
    scope.apply(step, "boolean_mask", tf.boolean_mask, value, mask, exact=value.exact)


@kind(weight=4)
def size_of(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x")
    if value is None:
        return
    name = step.choose("op", ("shape", "size", "rank"))
    to = step.choose("type", (tf.int32, tf.int64)) if name != "rank" else tf.int32
    functions: dict[str, Callable[..., Any]] = {
        "shape": lambda x: tf.shape(x, to),
        "size": lambda x: tf.size(x, to),
        "rank": tf.rank,
    }
    scope.apply(step, f"{name} {to.name}", functions[name], value, exact=True)


@kind(weight=3)
def counted(step: Step, scope: Scope) -> None:
    """Uses a value as a size: ranges, fills, repeats, slices."""
    count = scope.pick(step, "count", exact("int32", "int64"))
    value = scope.pick(step, "x", lambda v: of(*NUMBERS, "bool")(v) and ranked(1)(v))
    if count is None:
        return
    name = step.choose("op", ("range", "fill", "repeat", "slice") if value else ("range", "fill"))
    functions: dict[str, Callable[..., Any]] = {
        "range": lambda n: tf.range(_few(n)),
        "fill": lambda n: (
            tf.fill([_few(n), 2], tf.constant(step.draw("value", 5), scope.program.types[0]))
            if scope.program.types[0] not in ("string", "bool")
            else tf.fill([_few(n)], True)
        ),
        "repeat": lambda n, x: tf.repeat(x[:3], _few(n)),
        "slice": lambda n, x: x[: _few(n)],
    }
    operands = [count] if value is None or name in ("range", "fill") else [count, value]
    scope.apply(step, name, functions[name], *operands, exact=all(operand.exact for operand in operands))


def _few(n: tf.Tensor) -> tf.Tensor:
    """Returns a number from 0 to 3 that depends on a tensor."""
    return tf.math.floormod(tf.reduce_sum(n), 4)


@kind(weight=2)
def partition(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: ranked(1)(v) and known(v) and v.shape.rank == 1)
    if value is None:
        return
    targets = scope.need(step, "targets", "int32", list(value.shape), small=True)
    scope.note(f"t{step.number}… = dynamic_partition({value.name}, {targets.name}, 3)")
    for part in tf.dynamic_partition(value.tensor, targets.tensor, 3):
        scope.add(step, part, value.exact)


@kind(weight=2)
def segments(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of("float32", "float64", "int32", "int64")(v) and ranked(1)(v) and known(v))
    if value is None:
        return
    ids = scope.need(step, "ids", "int32", [value.shape[0]], small=True)
    name = step.choose("op", ("unsorted_segment_sum", "unsorted_segment_max", "bincount"))
    functions: dict[str, Callable[..., Any]] = {
        "unsorted_segment_sum": lambda x, i: tf.math.unsorted_segment_sum(x, i, 3),
        "unsorted_segment_max": lambda x, i: tf.math.unsorted_segment_max(x, i, 3),
        "bincount": lambda _, i: tf.math.bincount(i),
    }
    # The maximum of an empty set is the lowest float, with which later steps must not compute.
    if name == "unsorted_segment_max" and value.dtype not in INTEGERS:
        name = "unsorted_segment_sum"
    scope.apply(step, name, functions[name], value, ids, exact=value.exact)


@kind(weight=1)
def set_difference(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", exact("int32", "int64"))
    if value is not None:
        other = scope.need(step, "y", value.dtype, [3])
        scope.note(f"t{step.number}… = setdiff1d({value.name}, {other.name})")
        for result in tf.raw_ops.ListDiff(x=tf.reshape(value.tensor, [-1]), y=other.tensor):
            scope.add(step, result, True)


@kind(weight=2)
def forgotten_shape(step: Step, scope: Scope) -> None:
    """Returns the same value with unknown static shape."""
    value = scope.pick(step, "x", anything)
    if value is not None:
        scope.apply(
            step, "placeholder_with_default", lambda x: tf.raw_ops.PlaceholderWithDefault(input=x, shape=None), value
        )
