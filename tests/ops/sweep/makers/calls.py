"""Shared helpers of makers: calls of raw ops with drawn arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.registry import call_of as raw

__all__ = ["FLOATS", "call", "constant", "float_type", "pick", "raw", "run", "whole"]

FLOATS = (tf.float32, tf.float64, tf.float16, tf.bfloat16)


def pick(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def float_type(rng: np.random.Generator) -> tf.DType:
    return tf.float32 if rng.random() < 0.6 else pick(rng, *FLOATS)


def call(
    op: str, arguments: Mapping[str, Array], variables: Mapping[str, Array] | None = None, **attributes: Any
) -> Program:
    """Returns a call of the raw op with named arguments and variables. The variables' handles come first."""
    held = dict(variables or {})
    names = [*held, *arguments]

    def function(*tensors: Any) -> Any:
        return raw(op)(**dict(zip(names, tensors)), **attributes)

    return Program(
        op, function, tuple(arguments.values()), tuple(held.values()), frozenset(), tuple(arguments), attributes
    )


def run(function: Callable[..., Any], /, variables: Mapping[str, Array] | None = None, **arguments: Array) -> Program:
    """Returns a program for a function of the variables' handles and the arguments, in this order."""
    held = dict(variables or {})
    return Program("", function, tuple(arguments.values()), tuple(held.values()), frozenset(), tuple(arguments))


def constant(program: Program, *names: str) -> Program:
    """Returns the program with the named arguments as constants in graphs."""
    import dataclasses

    places = frozenset(i for i, name in enumerate(program.names) if name in names)
    return dataclasses.replace(program, constants=program.constants | places)


def whole(values: Any, dtype: tf.DType = tf.int32) -> Array:
    return np.asarray(values).astype(dtype.as_numpy_dtype)
