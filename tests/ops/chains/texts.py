"""Strings, which live on the CPU, between device ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tests.ops.chains.kinds import kind
from tests.ops.chains.program import Step
from tests.ops.chains.scope import INTEGERS, WIDE_FLOATS, Scope, anything, exact, of
from tests.ops.chains.shapes import small


@kind(weight=3)
def text_of(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", exact("bool", "int32", "int64", "uint8", "int8", *WIDE_FLOATS))
    if value is not None:
        scope.apply(step, "as_string", tf.strings.as_string, value)


@kind(weight=3)
def text_changed(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of("string")(v) and small(v))
    if value is None:
        return
    functions: dict[str, Callable[..., Any]] = {
        "join": lambda x: tf.strings.join([x, "_", x]),
        "substr": lambda x: tf.strings.substr(x, 0, 1),
        "upper": tf.strings.upper,
        "reduce_join": tf.strings.reduce_join,
        "strip": tf.strings.strip,
    }
    name = step.choose("op", list(functions))
    scope.apply(step, name, functions[name], value)


@kind(weight=3)
def number_of(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", of("string"))
    if value is None:
        return
    functions: dict[str, Callable[..., Any]] = {
        "length": tf.strings.length,
        "to_hash_bucket_fast": lambda x: tf.strings.to_hash_bucket_fast(x, 7),
        "equal": lambda x: tf.equal(x, "a"),
    }
    if step.chance("parsed", 20):
        scope.apply(step, "to_number", lambda x: tf.strings.to_number(x, tf.int32), value)
        return
    name = step.choose("op", list(functions))
    scope.apply(step, name, functions[name], value)


@kind(weight=1)
def encoded(step: Step, scope: Scope) -> None:
    """Encodes numbers as bytes and decodes them."""
    value = scope.pick(step, "x", lambda v: of(*INTEGERS, "float32")(v) and v.exact and v.shape.rank is not None)
    if value is not None:
        scope.apply(
            step,
            "parse_tensor of serialize_tensor",
            lambda x: tf.ensure_shape(tf.io.parse_tensor(tf.io.serialize_tensor(x), x.dtype), x.shape),
            value,
        )


@kind(weight=2)
def table(step: Step, scope: Scope) -> None:
    """Creates, fills and queries a table from strings or integers to integers, in one step."""
    value = scope.pick(step, "x", lambda v: anything(v) and v.dtype in ("string", "int64"))
    if value is None or not tf.executing_eagerly():
        return

    def lookup(x: tf.Tensor) -> tf.Tensor:
        made = tf.lookup.experimental.MutableHashTable(x.dtype, tf.int64, default_value=-1)
        flat = tf.reshape(x, [-1])
        made.insert(flat, tf.ones_like(flat, tf.int64))
        return made.lookup(x) + made.size()

    scope.apply(step, "MutableHashTable", lookup, value, exact=True)
