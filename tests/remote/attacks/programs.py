"""Programs of attacks on device servers, and one program of an honest client."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tensorflow.compiler.xla import xla_data_pb2 as xla

from tests.remote.attacks.hlo import Computation, Module, shape, slice_dimensions, tuple_shape

ROW_BYTES = 65600


def train_step(size: int) -> bytes:
    """Returns the program w, x -> w - 0.01 x^T (tanh(x w) - x) for `size` x `size` matrices."""
    module = Module("train_step")
    entry = module.computation("main")
    kind = shape("F32", [size, size])
    weights, data = entry.parameter(kind), entry.parameter(kind)
    product = xla.DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])
    transposed = xla.DotDimensionNumbers(lhs_contracting_dimensions=[0], rhs_contracting_dimensions=[0])
    hidden = entry.add("tanh", kind, entry.add("dot", kind, data, weights, dot_dimension_numbers=product))
    error = entry.add("subtract", kind, hidden, data)
    gradient = entry.add("dot", kind, data, error, dot_dimension_numbers=transposed)
    rate = entry.add("broadcast", kind, entry.constant(shape("F32"), f32s=[0.01]))
    step = entry.add("multiply", kind, gradient, rate)
    result = entry.add("subtract", kind, weights, step)
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(kind), result)))


def partitions(*counts: int) -> bytes:
    """Returns the backend_config with which XLA:CPU records a loop's split among threads."""
    return json.dumps({"outer_dimension_partitions": [str(count) for count in counts]}).encode()


def cross_read(rows: int) -> bytes:
    """Two calls of a slice that claims a split into 3 parts of 2 rows. The third part is far beyond the array."""
    module = Module()
    result, operand = shape("U8", [1, 2, ROW_BYTES]), shape("U8", [1, rows + 1, ROW_BYTES])
    work = module.computation("work")
    ranges = slice_dimensions((0, 1, 1), (0, rows + 1, rows), (0, ROW_BYTES, 1))
    source = work.parameter(operand)
    work.finish(work.add("slice", result, source, slice_dimensions=ranges, backend_config=partitions(-1, -3)))
    entry = module.computation("main")
    calls = [
        entry.add("call", result, parameter, called_computation_ids=[work.id])
        for parameter in (entry.parameter(operand), entry.parameter(operand))
    ]
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(result, result), *calls)))


def falsely_split(opcode: str, dims: Sequence[int], *counts: int) -> bytes:
    """Two calls of an operation that claims a split of its outer dimensions into `counts` parts."""
    module = Module()
    kind = shape("F32", dims)
    work = module.computation("work")
    operands = [work.parameter(kind), work.parameter(kind)]
    fields: dict[str, Any] = {"dimensions": [len(dims) - 1]} if opcode == "reverse" else {}
    used = operands if opcode in ("power", "remainder", "atan2") else operands[:1]
    work.finish(work.add(opcode, kind, *used, backend_config=partitions(*counts), **fields))
    entry = module.computation("main")
    source = entry.parameter(kind)
    first = entry.add("call", kind, source, source, called_computation_ids=[work.id])
    second = entry.add("call", kind, first, source, called_computation_ids=[work.id])
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(kind, kind), first, second)))


def endless_loop() -> bytes:
    """A loop over a number that changes in each iteration, so that XLA cannot remove the loop."""
    module = Module()
    number, flag = shape("S32"), shape("PRED")
    condition = module.computation("condition")
    last = condition.constant(number, s32s=[-1])
    fields = {"comparison_direction": "NE", "comparison_type": "SIGNED"}
    condition.finish(condition.add("compare", flag, condition.parameter(number), last, **fields))
    body = module.computation("body")
    mask = body.constant(number, s32s=[2])
    body.finish(body.add("xor", number, body.parameter(number), mask))
    entry = module.computation("main")
    loop = entry.add("while", number, entry.parameter(number), called_computation_ids=[body.id, condition.id])
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(number), loop)))


def nested(depth: int, opcode: str = "tanh") -> bytes:
    """Nested calls with the given depth."""
    module = Module()
    kind = shape("F32", [4])
    inner: Computation | None = None
    for level in range(depth):
        computation = module.computation(f"level{level}")
        operand = computation.parameter(kind)
        if inner is None:
            computation.finish(computation.add(opcode, kind, operand))
        else:
            computation.finish(computation.add("call", kind, operand, called_computation_ids=[inner.id]))
        inner = computation
    assert inner is not None
    entry = module.computation("main")
    call = entry.add("call", kind, entry.parameter(kind), called_computation_ids=[inner.id])
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(kind), call)))


def without_root() -> bytes:
    """A program whose result is a missing instruction, which XLA detects only after the server's checks."""
    module = Module()
    entry = module.computation("main")
    result = entry.add("tuple", tuple_shape(shape("F32")), entry.parameter(shape("F32")))
    entry.finish(result).message.root_id = result.id + 1
    return module.serialize(entry)
