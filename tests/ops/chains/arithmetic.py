"""Element-wise steps of random programs: arithmetic, comparisons, casts, selections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tests.ops.chains.kinds import kind
from tests.ops.chains.program import Step
from tests.ops.chains.scope import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMBERS,
    WIDE_FLOATS,
    Scope,
    Value,
    anything,
    bounded,
    exact,
    of,
)

Function = Callable[..., Any]


def _not_zero(x: tf.Tensor) -> tf.Tensor:
    """Returns a divisor that is neither 0 nor -1, so that integer division raises no error."""
    return tf.maximum(x, tf.ones_like(x)) if x.dtype.is_unsigned else tf.abs(tf.math.floormod(x, 5)) + 1


def _shift(y: tf.Tensor) -> tf.Tensor:
    """Returns a shift count below the bit width of any dtype."""
    return tf.bitwise.bitwise_and(y, tf.ones_like(y) * 7)


def _at_least_one(x: tf.Tensor) -> tf.Tensor:
    return tf.abs(x) + 1


BINARY: dict[str, tuple[tuple[str, ...], Function, bool]] = {
    "add": (NUMBERS, tf.add, True),
    "subtract": (NUMBERS, tf.subtract, True),
    "multiply": (NUMBERS, tf.multiply, False),
    "maximum": ((*FLOATS, *INTEGERS), tf.maximum, True),
    "minimum": ((*FLOATS, *INTEGERS), tf.minimum, True),
    "squared_difference": ((*FLOATS, "int32", "int64"), tf.math.squared_difference, False),
    "floordiv": (INTEGERS, lambda x, y: tf.math.floordiv(x, _not_zero(y)), True),
    "floormod": (INTEGERS, lambda x, y: tf.math.floormod(x, _not_zero(y)), True),
    "truncatediv": (INTEGERS, lambda x, y: tf.truncatediv(x, _not_zero(y)), True),
    "bitwise_and": (INTEGERS, tf.bitwise.bitwise_and, True),
    "bitwise_xor": (INTEGERS, tf.bitwise.bitwise_xor, True),
    "left_shift": (
        INTEGERS,
        lambda x, y: tf.bitwise.left_shift(x, tf.bitwise.bitwise_and(y, tf.ones_like(y) * 7)),
        True,
    ),
    "right_shift": (INTEGERS, lambda x, y: tf.bitwise.right_shift(x, _shift(y)), True),
    "divide": (FLOATS, lambda x, y: tf.divide(x, _at_least_one(y)), False),
    "divide_no_nan": (WIDE_FLOATS, lambda x, y: tf.math.divide_no_nan(x, _at_least_one(y)), False),
    "logical_and": (("bool",), tf.logical_and, True),
    "logical_or": (("bool",), tf.logical_or, True),
    "logical_xor": (("bool",), tf.math.logical_xor, True),
}

UNARY: dict[str, tuple[tuple[str, ...], Function, bool]] = {
    "negative": ((*FLOATS, *COMPLEX, "int32", "int64", "int8", "int16"), tf.negative, True),
    "abs": ((*FLOATS, "int32", "int64", "int8", "int16"), tf.abs, True),
    "square": ((*FLOATS, *COMPLEX, "int32", "int64"), tf.square, False),
    "sign": (("int32", "int64"), tf.sign, True),
    "invert": (INTEGERS, tf.bitwise.invert, True),
    "relu": ((*FLOATS, "int32", "int64", "uint8", "int8"), tf.nn.relu, True),
    "tanh": (FLOATS, tf.tanh, False),
    "sigmoid": (FLOATS, tf.sigmoid, False),
    "sin": ((*FLOATS,), tf.sin, False),
    "exp": (FLOATS, lambda x: tf.exp(tf.minimum(x, tf.ones_like(x))), False),
    "sqrt": (FLOATS, lambda x: tf.sqrt(_at_least_one(x)), False),
    "rsqrt": (FLOATS, lambda x: tf.math.rsqrt(_at_least_one(x)), False),
    "log1p": (FLOATS, lambda x: tf.math.log1p(tf.abs(x)), False),
    "softplus": (FLOATS, tf.nn.softplus, False),
    "logical_not": (("bool",), tf.logical_not, True),
    "conj": (COMPLEX, tf.math.conj, False),
    "identity": ((*NUMBERS, "bool", "string"), tf.identity, True),
    "stop_gradient": ((*NUMBERS, "bool"), tf.stop_gradient, True),
    "zeros_like": ((*NUMBERS, "bool", "string"), tf.zeros_like, True),
    "ones_like": ((*NUMBERS, "bool"), tf.ones_like, True),
    "population_count": (INTEGERS, lambda x: tf.raw_ops.PopulationCount(x=x), True),
}

DISCRETE: dict[str, Function] = {
    "floor": tf.floor,
    "ceil": tf.math.ceil,
    "round": tf.round,
    "rint": tf.math.rint,
    "sign": tf.sign,
}
COMPARE: dict[str, Function] = {
    "less": tf.less,
    "less_equal": tf.less_equal,
    "greater": tf.greater,
    "equal": tf.equal,
    "not_equal": tf.not_equal,
}


def fits(left: Value) -> Callable[[Value], bool]:
    """Returns a filter for values of the same dtype whose shape can be broadcast with `left`."""

    def check(value: Value) -> bool:
        if not value.same_type(left):
            return False
        try:
            tf.broadcast_static_shape(left.shape, value.shape)
        except ValueError:
            return False
        return value.shape.rank is not None and left.shape.rank is not None

    return check


def _second(step: Step, scope: Scope, left: Value) -> Value:
    found = None if step.chance("again", 15) else scope.pick(step, "right", fits(left))
    return found or scope.need(step, "right", left.dtype, [])


@kind(weight=10)
def binary(step: Step, scope: Scope) -> None:
    left = scope.pick(step, "left", of(*NUMBERS, "bool"))
    if left is None:
        return
    names = [name for name, (types, _, _) in BINARY.items() if left.dtype in types]
    name = step.choose("op", names)
    _, function, keeps = BINARY[name]
    right = _second(step, scope, left)
    scope.apply(
        step, name, lambda x, y: bounded(function(x, y)), left, right, exact=keeps and left.exact and right.exact
    )


@kind(weight=8)
def unary(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x")
    if value is None:
        return
    names = [name for name, (types, _, _) in UNARY.items() if value.dtype in types]
    name = step.choose("op", names)
    _, function, keeps = UNARY[name]
    scope.apply(step, name, lambda x: bounded(function(x)), value, exact=keeps and value.exact)


@kind(weight=2)
def discrete(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", exact(*WIDE_FLOATS))
    if value is not None:
        name = step.choose("op", list(DISCRETE))
        scope.apply(step, name, DISCRETE[name], value)


@kind(weight=5)
def compare(step: Step, scope: Scope) -> None:
    left = scope.pick(step, "left", exact(*WIDE_FLOATS, *INTEGERS))
    if left is not None:
        name = step.choose("op", list(COMPARE))
        right = scope.pick(step, "right", lambda value: value.exact and fits(left)(value)) or left
        scope.apply(step, name, COMPARE[name], left, right)


@kind(weight=4)
def cast(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: anything(v) and v.dtype != "string")
    if value is None:
        return
    # Rounding may change the integer part of a fraction, and results for numbers out of range are arbitrary.
    whole = value.exact and value.dtype not in FLOATS
    types = [dtype for dtype in scope.program.types if dtype != "string" and (whole or dtype in (*FLOATS, *COMPLEX))]
    if value.dtype in COMPLEX or not types:
        types = [value.dtype]
    to = step.choose("to", types)
    # Floats cannot represent large integers exactly.
    scope.apply(
        step, f"cast to {to}", lambda x: tf.cast(x, to), value, exact=value.dtype in WIDE_FLOATS and value.exact
    )


@kind(weight=2)
def cast_to_integer(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", exact(*WIDE_FLOATS))
    if value is not None:
        to = step.choose("to", ("int32", "int64", "int8", "bool"))
        scope.apply(step, f"cast to {to}", lambda x: tf.cast(x, to), value)


@kind(weight=2)
def bitcast(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", of("int32", "uint32", "int64", "uint64", "int8", "uint8", "int16", "uint16"))
    if value is not None:
        signed = value.dtype.startswith("i")
        to = f"u{value.dtype}" if signed else value.dtype[1:]
        scope.apply(step, f"bitcast to {to}", lambda x: tf.bitcast(x, to), value)


@kind(weight=4)
def select(step: Step, scope: Scope) -> None:
    left = scope.pick(step, "left")
    condition = scope.pick(step, "condition", exact("bool"))
    if left is None or condition is None:
        return
    right = _second(step, scope, left)
    scope.apply(step, "where", tf.where, condition, left, right, exact=left.exact and right.exact)


@kind(weight=2)
def add_n(step: Step, scope: Scope) -> None:
    left = scope.pick(step, "left", of(*NUMBERS))
    if left is not None:
        more = [scope.pick(step, i, lambda v: v.same_type(left) and v.shape == left.shape) or left for i in range(2)]
        scope.apply(step, "add_n", lambda *xs: bounded(tf.add_n(xs)), left, *more)


@kind(weight=2)
def complex_parts(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", of(*COMPLEX))
    if value is not None:
        name = step.choose("op", ("real", "imag", "abs"))
        scope.apply(step, name, {"real": tf.math.real, "imag": tf.math.imag, "abs": tf.abs}[name], value, exact=False)
        return
    value = scope.pick(step, "x", of(*WIDE_FLOATS))
    if value is not None and "complex64" in scope.program.types:
        scope.apply(step, "complex", lambda x: tf.complex(x, tf.zeros_like(x)), value, exact=False)
