"""Shapes of nodes with tensors of several types in the double's graphs (rules 9 and 11). Sizes are FCD first."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.gaudi.synapse_graph import Graph, convolution_3d
from tests.gaudi.synapse_library import FAIL, INVALID_ARGUMENT, Double

TPC, SHAPES = 9, 11
_TYPES: dict[str, Any] = {"f32": np.float32, "i32": np.int32}


@dataclasses.dataclass(frozen=True)
class Case:
    """A node with right tensors, such as "i32 4 2", and wrong tensors or params that it must refuse."""

    guid: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    params: bytes = b""
    wrong_inputs: Sequence[tuple[int, str]] = ()
    """Position of an operand, and a wrong operand for it."""
    wrong_outputs: Sequence[tuple[int, str]] = ()
    wrong_params: Sequence[bytes] = ()


def _loss(mode: int, batch: int) -> bytes:
    return struct.pack("2i", mode, batch)


def _mask(mask: int, keeps: bool) -> bytes:
    return struct.pack("I?3x", mask, keeps)


_IMAGE, _CHANNELS = "f32 4 3 2 5", "f32 4"
_ROWS = "f32 1 1 1 5"
_LAYER = "f32 4 1 1 5"
CASES = [
    Case(
        "gather_elements_fwd_f32",
        ["f32 4 3", "i32 4 2"],
        ["f32 4 2"],
        struct.pack("i", 1),
        wrong_inputs=[(1, "i32 5 2"), (1, "i32 4")],
        wrong_outputs=[(0, "f32 4 3")],
        wrong_params=[struct.pack("i", 2), struct.pack("i", -1)],
    ),
    Case(
        "scatter_nd_onnx_fwd_f32",
        ["f32 4 3 2", "i32 1 5", "f32 4 3 5"],
        ["f32 4 3 2"],
        wrong_inputs=[(1, "i32 4 5"), (1, "i32 1 6"), (2, "f32 4 2 5")],
        wrong_outputs=[(0, "f32 4 3 3")],
    ),
    Case(
        "unsorted_segment_sum_fwd_f32",
        ["f32 4 3", "i32 3"],
        ["f32 4 7"],
        struct.pack("i", 7),
        wrong_inputs=[(1, "i32 4"), (1, "i32 4 3 1")],
        wrong_outputs=[(0, "f32 4 6")],
        wrong_params=[struct.pack("i", 6), struct.pack("i", 0)],
    ),
    Case(
        "topk",
        ["f32 4 3"],
        ["f32 2 3", "i32 2 3"],
        struct.pack("2I", 2, 0),
        wrong_outputs=[(0, "f32 4 3"), (1, "i32 2 2")],
        wrong_params=[struct.pack("2I", 0, 0), struct.pack("2I", 5, 0), struct.pack("2I", 2, 2)],
    ),
    Case(
        "softmax_cross_entropy_fwd_f32",
        ["f32 4 3", "i32 3"],
        ["f32 1", "f32 4 3"],
        _loss(1, 3),
        wrong_inputs=[(0, "f32 4 3 1"), (1, "i32 4")],
        wrong_outputs=[(0, "f32 3"), (1, "f32 3 4")],
        wrong_params=[_loss(1, 4), _loss(2, 3)],
    ),
    Case("softmax_cross_entropy_fwd_f32", ["f32 4 3", "i32 3"], ["f32 3", "f32 4 3"], _loss(2, 3)),
    Case(
        "layer_norm_bwd_f32",
        [_LAYER, _LAYER, _ROWS, _ROWS, _CHANNELS],
        [_LAYER, _CHANNELS, _CHANNELS],
        struct.pack("?3xf", True, 1e-5),
        wrong_inputs=[(1, "f32 4 1 1 6"), (2, "f32 1 1 1 6"), (3, _CHANNELS), (4, "f32 5")],
        wrong_outputs=[(0, "f32 4 1 5 1"), (1, "f32 5"), (2, "f32 1")],
    ),
    Case("add_bwd_f32", ["f32 4 3"], ["f32 4", "f32 1 3"], wrong_outputs=[(0, "f32 3"), (1, "f32 4 3 2")]),
    Case(
        "range_f32",
        [],
        ["f32 3"],
        struct.pack("3f", 1, 6, 2),
        wrong_outputs=[(0, "f32 2"), (0, "f32 4")],
        wrong_params=[struct.pack("3f", 1, 6, 0), struct.pack("3f", 1, 6, 1), struct.pack("3f", 1, 6, -2)],
    ),
    Case(
        "reverse_f32",
        ["f32 4 3", "i32 1"],
        ["f32 4 3"],
        wrong_inputs=[(1, "i32 2")],
        wrong_outputs=[(0, "f32 3 4")],
    ),
    Case(
        "dedw3d",
        ["f32 4 3 4 5 1", "f32 2 5 5 5 1"],
        ["f32 4 2 3 2 1"],
        convolution_3d((3, 2, 1)),
        wrong_inputs=[(0, "f32 4 3 4 4 1"), (1, "f32 3 5 5 5 1")],
        wrong_outputs=[(0, "f32 4 2 3 2 2"), (0, "f32 2 4 3 2 1")],
    ),
    Case(
        "tf_fused_batch_norm_grad",
        [_IMAGE, _IMAGE, _CHANNELS, _CHANNELS, _CHANNELS],
        [_IMAGE, _CHANNELS, _CHANNELS],
        struct.pack("f", 1e-3),
        wrong_inputs=[(1, "f32 4 3 2 6"), (2, "f32 3"), (4, "f32 5")],
        wrong_outputs=[(0, "f32 4 3 5 2"), (1, "f32 3"), (2, "f32 5")],
    ),
    *(
        case
        for guid in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "argmax", "argmin")
        for result in ["i32" if guid.startswith("arg") else "f32"]
        for case in (
            Case(
                f"{guid}_multi_dim_fwd_f32",
                ["f32 4 3 2"],
                [f"{result} 1 3 1"],
                _mask(5, True),
                wrong_outputs=[(0, f"{result} 3"), (0, f"{result} 4 1 2")],
                wrong_params=[_mask(5, False), _mask(4, True), _mask(8, True), _mask(0, True)],
            ),
            Case(f"{guid}_multi_dim_fwd_f32", ["f32 4 3 2"], [f"{result} 3"], _mask(5, False)),
        )
    ),
]


def _tensor(graph: Graph, text: str) -> Any:
    name, *sizes = text.split()
    return graph.tensor([int(size) for size in sizes], _TYPES[name])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.guid}-{case.outputs[0]}".replace(" ", "-"))
def test_shapes(double: Double, case: Case) -> None:
    double.ok("synInitialize")
    graph = Graph(double, "gaudi2")
    inputs, outputs = ([_tensor(graph, text) for text in side] for side in (case.inputs, case.outputs))
    status, rule = (FAIL, TPC) if case.guid.endswith("_f32") else (INVALID_ARGUMENT, SHAPES)
    for i, text in case.wrong_inputs:
        wrong = [*inputs[:i], _tensor(graph, text), *inputs[i + 1 :]]
        graph.refuses_node(status, rule, case.guid, wrong, outputs, case.params)
    for i, text in case.wrong_outputs:
        wrong = [*outputs[:i], _tensor(graph, text), *outputs[i + 1 :]]
        graph.refuses_node(status, rule, case.guid, inputs, wrong, case.params)
    for params in case.wrong_params:
        graph.refuses_node(status, rule, case.guid, inputs, outputs, params)
    graph.node(case.guid, inputs, outputs, case.params)
