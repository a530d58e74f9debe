"""Generic argument generator for any op, from its OpDef. Prefers arguments that shape inference accepts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from tests.ops.sweep import registry
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.roles import Drawer
from tests.ops.sweep.values import TYPES, draw_dimension, draw_style

_TRIES = 16
_STRINGS = {
    "equation": ("ij,jk->ik", "ij->ji", "ij,ij->", "i,j->ij"),
    "data_format": ("NHWC", "NCHW"),
    "src_format": ("NHWC", "NCHW"),
    "dst_format": ("NCHW", "NHWC"),
    "padding": ("SAME", "VALID"),
    "reduction": ("sum", "mean", "max"),
}


class NoMakerError(Exception):
    """The op is not callable, or needs arguments that only a hand-written maker can create."""


def draw(op: str, rng: np.random.Generator) -> Program:
    """Returns arguments that shape inference accepts, or else the last attempt."""
    for _ in range(_TRIES):
        program = _draw_once(op, rng)
        if is_inferable(program):
            break
    return program


def is_inferable(program: Program) -> bool:
    """Whether shape inference accepts the call."""
    with tf.Graph().as_default():
        try:
            tensors = [tf.constant(array) for array in program.arrays]
            handles = [tf.raw_ops.VarHandleOp(dtype=v.dtype, shape=v.shape) for v in program.variables]
            program.function(*handles, *tensors)
        except Exception:
            return False
    return True


def has_gradient(op: str) -> bool:
    try:
        return ops.gradient_registry.lookup(op) is not None
    except LookupError:
        return False


def _draw_once(op: str, rng: np.random.Generator) -> Program:
    definition = registry.definition(op)
    if not registry.is_callable(op):
        raise NoMakerError(f"{op} is not callable from Python")
    if any(tf.as_dtype(a.type) in (tf.resource, tf.variant) for a in definition.input_arg if a.type):
        raise NoMakerError(f"{op} has resource or variant arguments: write a maker")
    types = draw_types(op, rng)
    drawer = Drawer(rng, draw_style(rng))
    public = _public_names(op)
    numbers = {a.name: _draw_length(a, rng) for a in definition.attr if _is_length(definition, a.name)}
    arrays: list[Array] = []
    names: list[str] = []
    lengths: dict[str, int | None] = {}
    for argument in definition.input_arg:
        dtypes = _dtypes(argument, types, numbers)
        lengths[public[argument.name]] = len(dtypes) if argument.number_attr or argument.type_list_attr else None
        for dtype in dtypes:
            names.append(argument.name)
            arrays.append(drawer.argument(argument.name, dtype, not argument.type_attr))
    attributes = {
        public[attr.name]: value
        for attr in definition.attr
        if attr.name in public and (value := _draw_attribute(attr, types, drawer, rng)) is not None
    }
    function = _caller(registry.call_of(op), list(lengths.items()), attributes)
    constants = frozenset(
        i for i, array in enumerate(arrays) if array.dtype.kind in "iu" and array.size <= 16 and rng.random() < 0.5
    )
    return Program(op, function, tuple(arrays), (), constants, tuple(names), attributes)


def _public_names(op: str) -> dict[str, str]:
    """Maps names of the OpDef's arguments and attributes to the parameter names of TensorFlow's Python function."""
    definition = registry.definition(op)
    inferred = {attr for a in definition.input_arg for attr in (a.type_attr, a.number_attr, a.type_list_attr)}
    names = [named.name for named in (*definition.input_arg, *definition.attr)]
    parameters = [name for name in inspect.signature(registry.call_of(op)).parameters if name != "name"]
    renamed = [name for name in names if name not in parameters and name not in inferred]
    others = [name for name in parameters if name not in names]
    return {name: name for name in names if name in parameters} | dict(zip(renamed, others))


def _caller(
    call: Callable[..., Any], lengths: list[tuple[str, int | None]], attributes: dict[str, Any]
) -> Callable[..., Any]:
    def function(*tensors: Any) -> Any:
        rest = list(tensors)
        arguments: dict[str, Any] = {}
        for name, length in lengths:
            if length is None:
                arguments[name] = rest.pop(0)
            else:
                arguments[name], rest = rest[:length], rest[length:]
        return call(**arguments, **attributes)

    return function


def draw_types(op: str, rng: np.random.Generator) -> dict[str, tf.DType]:
    """Draws a dtype for each attribute. A CPU kernel supports the combination, if one supports drawable dtypes."""
    listed = {attr.name: _listed(attr) for attr in registry.definition(op).attr}
    found = [
        kernel
        for kernel in registry.cpu_kernels(op)
        if all(set(_usable(types)) & set(listed.get(name, ())) for name, types in kernel.types.items())
    ]
    kernel = found[int(rng.integers(len(found)))] if found else registry.Kernel({})
    if rng.random() < 0.35:
        floats = [k for k in found if any(tf.float32 in allowed for allowed in k.types.values())]
        kernel = floats[int(rng.integers(len(floats)))] if floats else kernel
    types = {}
    for attr in registry.definition(op).attr:
        if attr.type not in ("type", "list(type)"):
            continue
        allowed = [dtype for dtype in kernel.types.get(attr.name) or TYPES if dtype in listed[attr.name]]
        usable = _usable(allowed)
        if not usable:
            raise NoMakerError(f"{op}: {attr.name} allows no dtype for generated arrays: write a maker")
        known = tf.as_dtype(attr.default_value.type) if attr.HasField("default_value") else None
        prefers = known in usable and rng.random() < 0.5
        types[attr.name] = known if prefers else usable[int(rng.integers(len(usable)))]
    return types


def _listed(attr: Any) -> tuple[tf.DType, ...]:
    """Returns the dtypes that the OpDef allows."""
    return tuple(map(tf.as_dtype, attr.allowed_values.list.type)) or (*TYPES, tf.string)


def _usable(types: Sequence[tf.DType]) -> list[tf.DType]:
    """Returns the dtypes of which arrays can be drawn."""
    return [dtype for dtype in types if dtype in TYPES or dtype == tf.string]


def _is_length(definition: Any, name: str) -> bool:
    return any(argument.number_attr == name for argument in definition.input_arg)


def _draw_length(attr: Any, rng: np.random.Generator) -> int:
    return int(max(attr.minimum if attr.has_minimum else 0, rng.integers(1, 4)))


def _dtypes(argument: Any, types: dict[str, tf.DType], numbers: dict[str, int]) -> list[tf.DType]:
    if argument.type_list_attr:
        return [types[argument.type_list_attr]] * 2
    dtype = types[argument.type_attr] if argument.type_attr else tf.as_dtype(argument.type)
    return [dtype] * (numbers[argument.number_attr] if argument.number_attr else 1)


def _draw_attribute(attr: Any, types: dict[str, tf.DType], drawer: Drawer, rng: np.random.Generator) -> Any:
    """Draws an attribute's value; None means the default."""
    has_default = attr.HasField("default_value")
    if attr.name in ("container", "shared_name", "T", "dtype_hint") or (has_default and rng.random() < 0.45):
        return types.get(attr.name) if not has_default else None
    allowed = [text.decode() for text in attr.allowed_values.list.s]
    if allowed and attr.type == "string":
        return str(rng.choice(allowed))
    return _draw_value(attr, types, drawer, rng)


def _draw_value(attr: Any, types: dict[str, tf.DType], drawer: Drawer, rng: np.random.Generator) -> Any:
    if attr.type == "type":
        return types[attr.name]
    if attr.type == "list(type)":
        return [types[attr.name]] * 2
    if attr.type == "bool":
        return bool(rng.integers(2))
    if attr.type == "int":
        low = int(attr.minimum) if attr.has_minimum else 0
        # List lengths stay small, because they determine the number of arguments.
        usual = rng.random() < 0.93 or attr.name.startswith("num") or attr.name == "N"
        return int(rng.integers(low, max(low, 3) + 2)) if usual else int(rng.choice([2**31 - 1, -1, -2, 2**62]))
    if attr.type == "float":
        return float(rng.choice([0.0, 0.1, 0.5, 1.0, 1.5, -1.0, 2.0]))
    if attr.type == "string":
        return str(rng.choice(np.array(_STRINGS.get(attr.name, ("", "a")))))
    if attr.type == "shape":
        return drawer.base
    if attr.type == "list(int)":
        return _draw_integers(attr, drawer, rng)
    if attr.type == "list(shape)":
        return [drawer.base]
    if attr.type == "list(float)":
        return [float(x) for x in rng.normal(0, 1, 2)]
    return None


def _draw_integers(attr: Any, drawer: Drawer, rng: np.random.Generator) -> list[int]:
    if re.search("ksize|strides|dilations|rates", attr.name):
        inner = [int(rng.integers(1, 4)) for _ in range(max(2, len(drawer.base) - 2))]
        return [1, *inner, 1]
    if "dim" in attr.name or "axis" in attr.name:
        rank = len(drawer.base)
        return sorted({int(rng.integers(-rank, rank)) for _ in range(int(rng.integers(0, 3)))}) if rank else []
    return [draw_dimension(rng) for _ in range(int(rng.integers(0, 4)))]
