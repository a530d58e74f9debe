"""Ops that update their operand in place, and similar ops that must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.chains.kinds import GRAPHS, kind
from tests.ops.chains.program import Mode, Step
from tests.ops.chains.scope import NUMBERS, Scope, Value, bounded, known, of
from tests.ops.chains.shapes import ranked, small

ops = tf.raw_ops


def _rows(step: Step, count: int, dtype: str = "int32") -> Value:
    """Returns distinct row indices in random order."""
    drawn = np.random.default_rng(step.hash("rows")).permutation(count)[: 1 + step.draw("count", 2)]
    return Value(f"rows {drawn.tolist()}", step.number, tf.constant(drawn, dtype), True)


@kind(weight=4)
def tensor_scatter(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: ranked(1)(v) and known(v) and v.shape[0] > 0)
    if value is None:
        return
    rows = _rows(step, value.shape[0], step.choose("type", ("int32", "int64")))
    new = scope.need(step, "new", value.dtype, [rows.shape[0], *value.shape[1:]])
    functions: dict[str, Callable[..., Any]] = {"update": tf.tensor_scatter_nd_update}
    if value.dtype in NUMBERS:
        functions |= {"add": tf.tensor_scatter_nd_add, "sub": tf.tensor_scatter_nd_sub}
    if value.dtype in ("int32", "int64", "float32", "float64"):
        functions |= {"max": tf.tensor_scatter_nd_max, "min": tf.tensor_scatter_nd_min}
    name = step.choose("op", list(functions))
    scope.apply(
        step,
        f"tensor_scatter_nd_{name}",
        lambda x, i, n: bounded(functions[name](x, i[:, None], n)),
        value,
        rows,
        new,
        exact=value.exact and new.exact,
    )


@kind(weight=2)
def strided_update(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: ranked(1)(v) and known(v) and v.shape[0] > 0)
    if value is not None:
        new = scope.need(step, "new", value.dtype, [1, *value.shape[1:]])
        scope.apply(
            step,
            "TensorStridedSliceUpdate [:1]",
            lambda x, n: ops.TensorStridedSliceUpdate(input=x, begin=[0], end=[1], strides=[1], value=n),
            value,
            new,
        )


@kind(weight=3)
def written_in_place(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of(*NUMBERS)(v) and ranked(1)(v) and known(v) and v.shape[0] > 0)
    if value is None:
        return
    rows = _rows(step, value.shape[0])
    new = scope.need(step, "new", value.dtype, [rows.shape[0], *value.shape[1:]])
    name = step.choose("op", ("InplaceUpdate", "InplaceAdd", "InplaceSub"))
    # Updates a copy, because other consumers of the buffer may observe the change.
    scope.apply(
        step,
        f"{name} of a copy",
        lambda x, i, n: bounded(getattr(ops, name)(x=ops.DeepCopy(x=x), i=i, v=n)),
        value,
        rows,
        new,
        exact=value.exact and new.exact,
    )


@kind(weight=2)
def deep_copy(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", of(*NUMBERS, "bool"))
    if value is not None:
        scope.apply(step, "DeepCopy", lambda x: ops.DeepCopy(x=x), value)


@kind(weight=1)
def empty(step: Step, scope: Scope) -> None:
    dtype = step.choose("type", scope.program.types)
    scope.apply(step, f"Empty of {dtype}, set to zero", lambda: ops.Empty(shape=[2, 3], dtype=dtype, init=True))


@kind(weight=2, modes=GRAPHS | {Mode.FUNCTION})
def parallel_stack(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: small(v) and known(v))
    if value is None:
        return
    other = scope.need(step, "y", value.dtype, list(value.shape))
    scope.apply(step, "parallel_stack", lambda x, y: tf.parallel_stack([x, y]), value, other)
