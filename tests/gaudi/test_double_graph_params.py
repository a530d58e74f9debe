"""Params of nodes in the Synapse double's graphs: padding (rule 12), and values that no kernel supports."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.gaudi import synapse_graph
from tests.gaudi.kernel_library import BF16
from tests.gaudi.synapse_graph import Graph
from tests.gaudi.synapse_library import FAIL, INVALID_ARGUMENT, SUCCESS, Double

PARAMS = 12


@pytest.fixture
def graph(double: Double) -> Graph:
    double.ok("synInitialize")
    return Graph(double, "gaudi2")


def corrupt(params: bytes, at: int) -> bytes:
    return params[:at] + b"\1" + params[at + 1 :]


LOSS = ([[4, 3], [3]], [[1], [4, 3]])
POOL = ([[2, 9, 9, 1]], [[2, 9, 9, 1]])


def average_pool(pad: int) -> bytes:
    return struct.pack("12i", pad, 1 - pad, 0, 0, 2, 1, *[1] * 4, 0, 0)


@pytest.mark.parametrize(
    ("guid", "sizes", "right", "wrong", "status"),
    [
        # Round mode: stochastic, unknown.
        ("cast_f32_to_bf16", ([[2]], [[2]]), struct.pack("I", 4), struct.pack("I", 3), synapse_graph.UNSUPPORTED),
        ("cast_f32_to_bf16", ([[2]], [[2]]), struct.pack("I", 6), struct.pack("I", 7), synapse_graph.UNSUPPORTED),
        ("pad_fwd_f32", ([[2]], [[2]]), bytes(48), bytes(44) + b"\1\0\0\0", synapse_graph.UNSUPPORTED),
        # Cross entropy: axis, isTfMode, mode.
        ("softmax_cross_entropy_fwd_f32", LOSS, struct.pack("3i", 1, 3, 0), struct.pack("3i", 1, 3, 1),
         synapse_graph.UNSUPPORTED),
        ("softmax_cross_entropy_fwd_f32", LOSS, struct.pack("3i?3x", 1, 3, 0, False),
         struct.pack("3i?3x", 1, 3, 0, True), synapse_graph.UNSUPPORTED),
        ("softmax_cross_entropy_fwd_f32", LOSS, struct.pack("2i", 1, 3), struct.pack("2i", 3, 3),
         synapse_graph.UNSUPPORTED),
        ("constant_f32", ([], [[2]]), bytes(4), bytes(8), INVALID_ARGUMENT),
        ("bitshift_fwd_i32", ([[2], [2]], [[2]]), struct.pack("I", 1), struct.pack("I", 2), synapse_graph.UNSUPPORTED),
        ("dropout_fwd_f32", ([[2], [1]], [[2], [2]]), struct.pack("fI", 1, 0), struct.pack("fI", 1.5, 0), FAIL),
        ("avg_pool_2d_fwd_f32", POOL, average_pool(0), average_pool(-1), FAIL),
        ("avg_pool_2d_fwd_f32", POOL, average_pool(1), average_pool(2), FAIL),
    ],
    ids=range(11),
)  # fmt: skip
def test_params_that_kernels_cannot_compute(
    graph: Graph, guid: str, sizes: Sequence[Sequence[Sequence[int]]], right: bytes, wrong: bytes, status: int
) -> None:
    types: dict[str, list[Any]] = {
        "softmax_cross_entropy_fwd_f32": [np.float32, np.int32, np.float32, np.float32],
        "bitshift_fwd_i32": [np.int32] * 3,
        "dropout_fwd_f32": [np.float32, np.int32, np.float32, np.int8],
        "cast_f32_to_bf16": [np.float32, BF16],
    }
    dtypes = types.get(guid, [np.float32] * 2)
    tensors = [graph.tensor(size, dtype) for size, dtype in zip([*sizes[0], *sizes[1]], dtypes)]
    inputs, outputs = tensors[: len(sizes[0])], tensors[len(sizes[0]) :]
    found, log = graph.node_status(guid, inputs, outputs, wrong)
    assert found == status, log
    graph.node(guid, inputs, outputs, right)


def test_indices_of_large_windows(graph: Graph) -> None:
    for width, status in ((257, synapse_graph.UNSUPPORTED), (256, SUCCESS)):
        x, y = graph.tensor([1, width, 1, 1]), graph.tensor([1, 1, 1, 1])
        params = struct.pack("11i", *[0] * 4, width, 1, *[1] * 4, 0)
        indices = graph.tensor([1, 1, 1, 1], np.uint8)
        assert graph.node_status("maxpool_2d_fwd_f32", [x], [indices, y], params)[0] == status


F4, F_IMAGE = ([4], np.float32), ([4, 1, 1, 3], np.float32)
ROW_MOMENT = ([1, 1, 1, 3], np.float32)
LAYER_NORM = ([F_IMAGE, F4, F4], [F_IMAGE, ROW_MOMENT, ROW_MOMENT])
TOPK = ([([4], np.float32)], [([2], np.float32), ([2], np.int32)])
NO_EVIDENCE = ([F4], [F4])


@pytest.mark.parametrize(
    ("guid", "tensors", "params", "padding"),
    [
        ("topk", TOPK, struct.pack("2I?3x", 2, 0, False), (9, 11)),
        ("topk", TOPK, struct.pack("2I?3x?3x", 2, 0, False, False), (9, 11, 13, 15)),
        ("layer_norm_fwd_f32", LAYER_NORM, struct.pack("?3xf2i", True, 1e-5, 1, 1), (1, 3)),
        ("batch_norm_fwd_f32", ([F_IMAGE, *[F4] * 4], [F_IMAGE, F4, F4]), struct.pack("3f?3x", 0, 0.9, 1e-3, True),
         (13, 15)),
        ("softmax_cross_entropy_fwd_f32", ([([4, 3], np.float32), ([3], np.int32)],
         [([1], np.float32), ([4, 3], np.float32)]), struct.pack("3i?3x", 1, 3, 0, False), (13, 15)),
        ("dropout_fwd_f32", ([F4, ([1], np.int32)], [F4, ([4], np.int8)]), struct.pack("fI?3xi", 0.5, 0, False, 1),
         (9, 11)),
        # Unproven guids: their operands are not checked.
        ("optimizer_sgd_bwd_f32", NO_EVIDENCE, struct.pack("3f?3x", 0, 0, 0, False), (13, 15)),
        ("resize_fwd_f32", ([F_IMAGE], [F_IMAGE]), bytes(44), (26, 27)),
        ("scatter_reduce_fwd_f32", NO_EVIDENCE, bytes(8), (5, 7)),
    ],
    ids=range(9),
)  # fmt: skip
def test_padding_of_kernel_params(
    graph: Graph,
    monkeypatch: pytest.MonkeyPatch,
    guid: str,
    tensors: tuple[Sequence[Any], Sequence[Any]],
    params: bytes,
    padding: Sequence[int],
) -> None:
    monkeypatch.setenv("HPU_GAUDI_UNPROVEN", "1")
    inputs, outputs = ([graph.tensor(*tensor) for tensor in side] for side in tensors)
    for at in padding:
        log = graph.refuses_node(INVALID_ARGUMENT, PARAMS, guid, inputs, outputs, corrupt(params, at))
        assert f"byte {at} " in log
    graph.node(guid, inputs, outputs, params)
