"""Gathers, slices and scatters of random programs, with rare indices out of range."""

from __future__ import annotations

import tensorflow as tf

from tests.ops.chains.kinds import kind
from tests.ops.chains.program import Step
from tests.ops.chains.scope import NUMBERS, Scope, Value, bounded, exact, known, of
from tests.ops.chains.shapes import ranked


def indices(step: Step, scope: Scope, size: int) -> Value:
    """Returns integers below the size. Rarely, one of them is out of range."""
    found = scope.pick(step, "indices", exact("int32", "int64"))
    if found is None or step.chance("constant", 40) or size == 0:
        to = step.choose("type", ("int32", "int64"))
        drawn = [step.draw(("index", i), max(1, size)) for i in range(2)]
        if step.chance("wrong", 6):
            drawn[1] = size + 3
        return Value(f"{to}({drawn})", step.number, tf.constant(drawn, to), True)
    return Value(
        f"({found.name} mod {size})", found.number, tf.math.floormod(found.tensor, tf.constant(size, found.dtype)), True
    )


@kind(weight=4)
def gather(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: ranked(1)(v) and known(v))
    if value is not None:
        scope.apply(step, "gather", tf.gather, value, indices(step, scope, value.shape[0]), exact=value.exact)


@kind(weight=2)
def gather_nd(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: ranked(1)(v) and known(v))
    if value is not None:
        at = indices(step, scope, value.shape[0])
        scope.apply(step, "gather_nd", lambda x, i: tf.gather_nd(x, i[..., None]), value, at, exact=value.exact)


@kind(weight=5)
def sliced(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", ranked(1))
    if value is None:
        return
    size = value.shape[0] or 1
    form = step.choose("form", ("first", "last", "from", "step", "reversed", "new axis", "at"))
    at = scope.pick(step, "at", lambda v: exact("int32", "int64")(v) and v.shape.rank == 0)
    if form == "at" and at is not None:
        scope.apply(step, "x[i mod size]", lambda x, i: x[tf.math.floormod(i, size)], value, at, exact=value.exact)
        return
    start = step.draw("start", size)
    forms = {
        "first": (slice(0, max(1, start)),),
        "from": (slice(start, None),),
        "step": (slice(None, None, 2),),
        "reversed": (slice(None, None, -1),),
        "new axis": (slice(None), tf.newaxis),
        "last": (-1,),
    }
    index = forms.get(form, forms["from"])
    scope.apply(step, f"slice {form} {start}", lambda x: x[index], value)


@kind(weight=2)
def one_hot(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: exact("int32", "int64", "uint8")(v) and v.shape.rank in (0, 1))
    types = [dtype for dtype in scope.program.types if dtype in NUMBERS]
    if value is not None and types:
        to = step.choose("type", types)
        scope.apply(step, f"one_hot 3 {to}", lambda x: tf.one_hot(x, 3, dtype=to), value, exact=True)


@kind(weight=2)
def scatter_nd(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of(*NUMBERS)(v) and known(v) and v.shape.rank == 1)
    if value is None:
        return
    at = scope.need(step, "at", "int32", list(value.shape), small=True)
    scope.apply(
        step, "scatter_nd 4", lambda i, x: bounded(tf.scatter_nd(i[:, None], x, [4])), at, value, exact=value.exact
    )


@kind(weight=1)
def stitched(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: known(v) and v.shape.rank == 1 and not v.element)
    if value is not None:
        rows = value.shape[0]
        scope.apply(
            step,
            "dynamic_stitch",
            lambda x: tf.dynamic_stitch([tf.range(rows), tf.range(rows)[::-1]], [x, x]),
            value,
        )
