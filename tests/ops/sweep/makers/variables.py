"""Makers for ops on resource variables, from their OpDef: handles are variables, and gradients have their shapes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep import registry
from tests.ops.sweep.generic import draw_types
from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import call, pick, raw, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.values import TYPES, Style, draw_array, draw_shape, draw_style

Rng = np.random.Generator


def _shape(rng: Rng, least: int = 0) -> tuple[int, ...]:
    return draw_shape(rng, int(rng.integers(least, 4)))


def _is_update(op: str) -> bool:
    return re.fullmatch(r"Resource(Sparse)?Apply\w+", op) is not None


def _make_update(op: str) -> None:
    definition = registry.definition(op)
    sparse = "Sparse" in op

    @maker(op)
    def make(rng: Rng) -> Program:
        types = draw_types(op, rng)
        shape = _shape(rng, 1 if sparse else 0)
        rows = int(rng.integers(0, 4))
        variables: dict[str, Array] = {}
        arguments: dict[str, Array] = {}
        for argument in definition.input_arg:
            dtype = types["T"] if argument.type == tf.resource.as_datatype_enum else _type(argument, types)
            if argument.type == tf.resource.as_datatype_enum:
                scalar = argument.name.endswith("_power") or argument.name == "beta1_power"
                variables[argument.name] = draw_array(rng, dtype, () if scalar else shape, Style.UNIT)
            elif argument.name == "indices":
                arguments["indices"] = whole(rng.integers(0, max(1, shape[0]), rows), dtype)
            elif argument.name == "grad":
                dims = (rows, *shape[1:]) if sparse else shape
                arguments["grad"] = draw_array(rng, dtype, dims, draw_style(rng))
            elif argument.name == "global_step":
                arguments[argument.name] = whole(rng.integers(1, 5), dtype)
            else:
                scalar_value = draw_array(rng, dtype, (), Style.UNIT)
                arguments[argument.name] = -scalar_value if argument.name == "lr_power" else scalar_value
        attributes = {
            a.name: bool(rng.integers(2)) for a in definition.attr if a.type == "bool" and a.name != "use_locking"
        }
        return call(op, arguments, variables, **attributes)


def _type(argument: Any, types: dict[str, tf.DType]) -> tf.DType:
    return types[argument.type_attr] if argument.type_attr else tf.as_dtype(argument.type)


for _op in dir(tf.raw_ops):
    if _is_update(_op):
        _make_update(_op)


def _make_scatter(op: str, coordinates: bool) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        types = draw_types(op, rng)
        dtype = types.get("dtype") or types["T"]
        index = pick(rng, tf.int32, tf.int64)
        shape, some = _shape(rng, 1), draw_shape(rng, int(rng.integers(0, 3)))
        style = draw_style(rng)
        if coordinates:
            depth = int(rng.integers(1, len(shape) + 1))
            indices = whole(np.stack([rng.integers(0, max(1, size), some) for size in shape[:depth]], -1), index)
            updates = draw_array(rng, dtype, (*some, *shape[depth:]), style)
        else:
            indices = whole(rng.integers(0, max(1, shape[0]), some), index)
            updates = draw_array(rng, dtype, (*some, *shape[1:]), style)
        if "Div" in op and dtype.is_integer:
            updates = np.where(updates == 0, 1, updates).astype(updates.dtype)
        variables = {"ref" if coordinates else "resource": draw_array(rng, dtype, shape, style)}
        return call(op, {"indices": indices, "updates": updates}, variables)


for _kind in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update"):
    _make_scatter(f"ResourceScatter{_kind}", False)
for _kind in ("Add", "Sub", "Min", "Max", "Update"):
    _make_scatter(f"ResourceScatterNd{_kind}", True)


@maker("ResourceGather")
def make_gather(rng: Rng) -> Program:
    dtype, shape = pick(rng, *TYPES), _shape(rng, 1)
    indices = whole(
        rng.integers(0, max(1, shape[0]), draw_shape(rng, int(rng.integers(0, 3)))), pick(rng, tf.int32, tf.int64)
    )
    return call("ResourceGather", {"indices": indices}, {"resource": draw_array(rng, dtype, shape)}, dtype=dtype)


@maker("ResourceGatherNd")
def make_gather_nd(rng: Rng) -> Program:
    dtype, shape, some = pick(rng, *TYPES), _shape(rng, 1), draw_shape(rng, int(rng.integers(0, 2)))
    depth = int(rng.integers(1, len(shape) + 1))
    indices = np.stack([rng.integers(0, max(1, size), some) for size in shape[:depth]], -1)
    arguments = {"indices": whole(indices, pick(rng, tf.int32, tf.int64))}
    return call("ResourceGatherNd", arguments, {"resource": draw_array(rng, dtype, shape)}, dtype=dtype)


def _make_assignment(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        dtype, shape = pick(rng, *[t for t in TYPES if t != tf.bool or op == "AssignVariableOp"]), _shape(rng)
        style = draw_style(rng)
        variables = {"resource": draw_array(rng, dtype, shape, style)}
        return call(op, {"value": draw_array(rng, dtype, shape, style)}, variables)


for _op in ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"):
    _make_assignment(_op)


@maker("ReadVariableOp")
def make_read(rng: Rng) -> Program:
    value = draw_array(rng, pick(rng, *TYPES), _shape(rng), draw_style(rng))
    return call("ReadVariableOp", {}, {"resource": value}, dtype=tf.as_dtype(value.dtype))


@maker("VariableShape", "VarIsInitializedOp", "DisableCopyOnRead")
def make_question(rng: Rng) -> Program:
    value = draw_array(rng, pick(rng, *TYPES), _shape(rng))

    def function(handle: Any) -> Any:
        raw("DisableCopyOnRead")(resource=handle)
        read = raw("ReadVariableOp")(resource=handle, dtype=value.dtype)
        return raw("VariableShape")(input=handle), raw("VarIsInitializedOp")(resource=handle), read

    return run(function, {"resource": value})


@maker("VarHandleOp", "DestroyResourceOp")
def make_handle(rng: Rng) -> Program:
    dtype, shape = pick(rng, *TYPES), _shape(rng)
    name = f"sweep_{rng.integers(1 << 30)}"

    def function(value: Any) -> Any:
        handle = raw("VarHandleOp")(dtype=dtype, shape=shape, shared_name=name)
        with tf.control_dependencies(_done(raw("AssignVariableOp")(resource=handle, value=value))):
            read = raw("ReadVariableOp")(resource=handle, dtype=dtype)
        with tf.control_dependencies([read] if not tf.executing_eagerly() else []):
            after = _done(raw("DestroyResourceOp")(resource=handle, ignore_lookup_error=True))
        with tf.control_dependencies(after):
            return tf.identity(read)

    return run(function, value=draw_array(rng, dtype, shape))


def _done(operation: Any) -> list[Any]:
    return [] if operation is None else [operation]


@maker("ResourceCountUpTo")
def make_count(rng: Rng) -> Program:
    dtype = pick(rng, tf.int32, tf.int64)
    limit = int(rng.integers(0, 4))
    return call("ResourceCountUpTo", {}, {"resource": whole(rng.integers(0, 3), dtype)}, limit=limit, T=dtype)


@maker("ResourceStridedSliceAssign")
def make_slice_assign(rng: Rng) -> Program:
    dtype, shape = pick(rng, *TYPES), _shape(rng, 1)
    index = pick(rng, tf.int32, tf.int64)
    begin = [int(rng.integers(0, size + 1)) for size in shape]
    end = [int(rng.integers(start, size + 1)) for start, size in zip(begin, shape)]
    value = draw_array(rng, dtype, [b - a for a, b in zip(begin, end)])
    places = {"begin": begin, "end": end, "strides": [1] * len(shape)}
    arguments = {name: whole(values, index) for name, values in places.items()} | {"value": value}
    return call("ResourceStridedSliceAssign", arguments, {"ref": draw_array(rng, dtype, shape)})


def _make_random(op: str, extra: dict[str, Any]) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        state = rng.integers(-(2**62), 2**62, 3)
        arguments: dict[str, Array] = {"algorithm": whole(1, tf.int64)}
        if op == "RngReadAndSkip":
            arguments = {"alg": whole(pick(rng, 1, 2), tf.int32), "delta": whole(rng.integers(0, 99), tf.uint64)}
        elif op == "RngSkip":
            arguments["delta"] = whole(rng.integers(0, 99), tf.int64)
        else:
            arguments["shape"] = whole(draw_shape(rng, int(rng.integers(0, 3))), pick(rng, tf.int32, tf.int64))
        arguments |= {name: value for name, value in extra.items() if isinstance(value, np.ndarray)}
        attributes = {name: value for name, value in extra.items() if not isinstance(value, np.ndarray)}
        return call(op, arguments, {"resource": state}, **attributes)


_COUNTS = {"counts": np.float32(9.0), "probs": np.float32(0.4)}
for _op, _extra in (
    ("StatefulStandardNormalV2", {"dtype": tf.float32}),
    ("StatefulTruncatedNormal", {"dtype": tf.float32}),
    ("StatefulUniform", {"dtype": tf.float32}),
    ("StatefulUniformFullInt", {"dtype": tf.uint64}),
    ("StatefulUniformInt", {"minval": np.array(-4), "maxval": np.array(9)}),
    ("StatefulRandomBinomial", {name: np.array(value) for name, value in _COUNTS.items()}),
    ("RngSkip", {}),
    ("RngReadAndSkip", {}),
):
    _make_random(_op, _extra)
