"""Shapes of nodes in the Synapse double's graphs (rule 11; rule 9 for kernels). Sizes are FCD first."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.gaudi.kernel_library import BF16
from tests.gaudi.synapse_graph import (
    Graph,
    Machine,
    axis,
    convolution,
    convolution_3d,
    gemm,
    only_1_18,
    slices,
    strided,
    transpose,
)
from tests.gaudi.synapse_library import FAIL, INVALID_ARGUMENT, Double

TPC, SHAPES = 9, 11
Sizes = Sequence[int]


@dataclasses.dataclass(frozen=True)
class Case:
    """A node with right sizes, and sizes of operands or results that it must refuse."""

    guid: str
    inputs: Sequence[Sizes]
    outputs: Sequence[Sizes]
    params: bytes = b""
    wrong_inputs: Sequence[Sequence[Sizes]] = ()
    wrong_outputs: Sequence[Sequence[Sizes]] = ()
    wrong_params: Sequence[bytes] = ()


POOL = struct.pack("11i", 1, 1, 0, 0, 3, 2, 2, 2, 1, 1, 0)
CASES = [
    Case("gemm", [[3, 2], [4, 3]], [[4, 2]], wrong_inputs=[[[2, 3], [4, 3]]], wrong_outputs=[[[2, 4]], [[4, 3]]]),
    Case("gemm", [[2, 3], [4, 3]], [[4, 2]], gemm(True), wrong_inputs=[[[3, 2], [4, 3]]]),
    Case("gemm", [[3, 2], [3, 4]], [[4, 2]], gemm(False, True), wrong_params=[gemm()]),
    Case("gemm", [[3, 2], [4, 3], [4]], [[4, 2]], wrong_inputs=[[[3, 2], [4, 3], [2]]]),
    Case("gemm", [[3, 2], [4, 3]], [[4, 2]], wrong_inputs=[[[3, 2, 5], [4, 3, 5]]]),
    Case(
        "batch_gemm",
        [[3, 2, 5, 1], [4, 3, 1, 6]],
        [[4, 2, 5, 6]],
        wrong_inputs=[[[3, 2, 5, 1], [4, 3, 2, 6]]],
        wrong_outputs=[[[4, 2, 5, 1]]],
    ),
    Case("batch_gemm", [[3, 2, 5], [4, 3]], [[4, 2, 5]], wrong_outputs=[[[4, 2]]]),
    Case("gemm_dedx", [[4, 2], [4, 3]], [[3, 2]], wrong_outputs=[[[4, 2]]]),
    Case("gemm_dedw", [[4, 2], [3, 2]], [[4, 3]], wrong_outputs=[[[3, 4]]]),
    Case(
        "spatial_convolution",
        [[2, 9, 8, 3], [4, 2, 3, 2]],
        [[4, 5, 4, 3]],
        convolution((3, 2), (2, 2), (1, 1, 0, 0)),
        wrong_inputs=[[[3, 9, 8, 3], [4, 2, 3, 2]], [[2, 9, 8, 2], [4, 2, 3, 2]], [[2, 9, 8, 3], [4, 2, 2, 2]]],
        wrong_outputs=[[[4, 4, 4, 3]], [[5, 5, 4, 3]]],
        wrong_params=[
            convolution((3, 2), (2, 2)),
            convolution((3, 2), (0, 2), (1, 1, 0, 0)),
            convolution((3, 2), (2, 2), (1, 1, 0, 0), groups=2),
            convolution((3, 2), (2, 2), (1, 1, 0, 0), groups=0),
            convolution((3, 2), (2, 2), (1, 1, 0, 0), dilation=(2, 1)),
        ],
    ),
    Case("spatial_convolution", [[4, 5, 5, 1], [6, 2, 1, 1]], [[6, 5, 5, 1]], convolution((1, 1), groups=2)),
    Case(
        "spatial_convolution",
        [[1, 300, 1, 1], [1, 1, 255, 1]],
        [[1, 46, 1, 1]],
        convolution((255, 1)),
        wrong_params=[convolution((254, 1))],
    ),
    Case(
        "dedx",
        [[4, 5, 4, 3], [4, 2, 3, 2]],
        [[2, 9, 8, 3]],
        convolution((3, 2), (2, 2), (1, 1, 0, 0)),
        wrong_outputs=[[[2, 9, 10, 3]], [[3, 9, 8, 3]]],
    ),
    Case(
        "dedw",
        [[4, 5, 4, 3], [2, 9, 8, 3]],
        [[4, 2, 3, 2]],
        convolution((3, 2), (2, 2), (1, 1, 0, 0)),
        wrong_outputs=[[[4, 2, 2, 2]], [[2, 4, 3, 2]]],
    ),
    Case(
        "spatial_convolution3d",
        [[2, 5, 5, 5, 1], [4, 2, 3, 2, 1]],
        [[4, 3, 4, 5, 1]],
        convolution_3d((3, 2, 1)),
        wrong_outputs=[[[4, 3, 4, 4, 1]]],
    ),
    Case("transpose", [[2, 3, 4]], [[4, 2, 3]], transpose([2, 0, 1]), wrong_outputs=[[[3, 4, 2]]]),
    Case(
        "transpose",
        [[2, 3]],
        [[3, 2]],
        transpose([1, 0], size=24),
        wrong_params=[transpose([0, 1], size=24), transpose([1, 1], size=24), transpose([1, 0, 2], size=24)],
    ),
    Case(
        "concat",
        [[2, 3], [2, 4]],
        [[2, 7]],
        axis(1),
        wrong_inputs=[[[2, 3], [2, 3]], [[2, 3], [1, 4]]],
        wrong_params=[axis(0), axis(2)],
    ),
    Case("split", [[2, 7]], [[2, 3], [2, 4]], axis(1), wrong_outputs=[[[2, 3], [2, 3]], [[2, 3], [1, 4]]]),
    Case(
        "slice",
        [[8, 3]],
        [[3, 3]],
        slices([(0, 1, 6, 2)]),
        wrong_outputs=[[[2, 3]], [[3, 2]]],
        wrong_params=[slices([(0, 1, 9, 2)]), slices([(0, 6, 6, 1)]), slices([(2, 1, 6, 2)]), slices([(0, 1, 6, 0)])],
    ),
    Case("slice", [[8, 3]], [[8, 1]], slices([(1, 2, 3, 1)], size=80), wrong_outputs=[[[8, 2]]]),
    Case("slice_insert", [[8, 3], [3, 3]], [[8, 3]], slices([(0, 1, 6, 2)]), wrong_inputs=[[[8, 3], [2, 3]]]),
    Case("strided_slice_grad", [[3, 3]], [[8, 3]], slices([(0, 1, 6, 2)]), wrong_outputs=[[[8, 4]], [[5, 3]]]),
    Case(
        "strided_view",
        [[24]],
        [[3, 4]],
        strided(1, [2, 5]),
        wrong_params=[strided(5, [2, 5]), strided(1, [2, 7]), strided(2**40, [1, 1]), strided(0, [2**63, 2**63])],
    ),
    Case("strided_insert", [[24], [3, 4]], [[24]], strided(4, [2, 5]), wrong_params=[strided(5, [2, 5])]),
    Case("reshape", [[2, 6]], [[3, 4]], wrong_outputs=[[[3, 3]]]),
    Case("squeeze", [[2, 1, 3]], [[2, 3]], axis(1), wrong_params=[axis(0), axis(3)], wrong_outputs=[[[2, 1, 3]]]),
    Case("expand_dims", [[2, 3]], [[2, 1, 3]], axis(1), wrong_params=[axis(0), axis(3)]),
    Case(
        "broadcast",
        [[2, 1, 3]],
        [[2, 5, 3]],
        wrong_inputs=[[[2, 2, 3]], [[2, 1, 3, 2]]],
        wrong_outputs=[[[2, 5, 1]]],
    ),
    Case("memcpy", [[2, 3]], [[2, 3]], wrong_outputs=[[[3, 2]], [[6]]]),
    Case("identity", [[2, 3]], [[2, 3]], wrong_outputs=[[[3, 2]]]),
    Case("moments_fwd", [[4, 3, 3, 2]], [[4], [4]], wrong_outputs=[[[3], [3]], [[4], [3]]]),
    Case(
        "tf_batch_normalization_fwd",
        [[4, 3, 3, 2], [4], [4], [4], [4]],
        [[4, 3, 3, 2]],
        struct.pack("f", 1e-3),
        wrong_inputs=[[[4, 3, 3, 2], [3], [4], [4], [4]]],
    ),
    # Kernels.
    Case("add_fwd_f32", [[4, 2], [1]], [[4, 2]], wrong_inputs=[[[4, 2], [2]]], wrong_outputs=[[[1]]]),
    Case("add_fwd_f32", [[4, 1], [1, 2]], [[4, 2]], wrong_outputs=[[[4, 1]]]),
    Case("relu_bwd_f32", [[4], [4]], [[4]], wrong_inputs=[[[4], [1]]], wrong_outputs=[[[5]]]),
    Case("reduce_sum_fwd_f32", [[4, 3]], [[4, 1]], struct.pack("I", 1), wrong_outputs=[[[4]], [[1, 3]]]),
    Case("softmax_fwd_f32", [[4, 3]], [[4, 3]], bytes(4), wrong_params=[struct.pack("i", 2)]),
    Case("cumsum_fwd_f32", [[4, 3]], [[4, 3]], bytes(12), wrong_params=[struct.pack("3i", 2, 0, 0)]),
    Case("avg_pool_2d_fwd_f32", [[2, 9, 8, 3]], [[2, 5, 4, 3]], POOL + bytes(4), wrong_outputs=[[[2, 4, 4, 3]]]),
    Case("pad_fwd_f32", [[4, 3]], [[7, 3]], struct.pack("f10I", 0, 1, *[0] * 4, 2, *[0] * 4), wrong_outputs=[[[6, 3]]]),
    Case(
        "batch_norm_inf_f32",
        [[4, 3, 3, 2], [4], [4], [4], [4]],
        [[4, 3, 3, 2]],
        struct.pack("3f", 0, 0, 1e-3),
        wrong_outputs=[[[4, 3, 3, 1]]],
    ),
]


def _tensors(graph: Graph, sizes: Sequence[Sizes]) -> list[object]:
    return [graph.tensor(size) for size in sizes]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.guid} {case.inputs}".replace(" ", ""))
def test_shapes(double: Double, case: Case) -> None:
    double.ok("synInitialize")
    graph = Graph(double)
    params = case.params
    inputs, outputs = _tensors(graph, case.inputs), _tensors(graph, case.outputs)
    wrong = [(_tensors(graph, sizes), outputs, params) for sizes in case.wrong_inputs]
    wrong += [(inputs, _tensors(graph, sizes), params) for sizes in case.wrong_outputs]
    wrong += [(inputs, outputs, wrong_params) for wrong_params in case.wrong_params]
    status, rule = (FAIL, TPC) if case.guid.endswith("_f32") else (INVALID_ARGUMENT, SHAPES)
    for arguments in wrong:
        graph.refuses_node(status, rule, case.guid, *arguments)
    graph.node(case.guid, inputs, outputs, params)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.guid} {case.inputs}".replace(" ", ""))
def test_kernels_take_the_shapes(double: Double, device: int, case: Case) -> None:
    """Each kernel has its own shape check, which accepts the shapes that the graph accepts."""
    machine, graph = Machine(double, device), Graph(double)
    operands = {f"operand{i}": sizes for i, sizes in enumerate(case.inputs)}
    results = {f"result{i}": sizes for i, sizes in enumerate(case.outputs)}
    inputs, outputs = ([graph.persistent(*item) for item in named.items()] for named in (operands, results))
    graph.node(case.guid, inputs, outputs, case.params)
    machine.run(
        graph.compile(),
        {name: np.ones(sizes[::-1], np.float32) for name, sizes in operands.items()},
        {name: (sizes[::-1], np.float32) for name, sizes in results.items()},
    )


def test_reinterpret_cast(double: Double) -> None:
    double.ok("synInitialize")
    graph = Graph(double)
    x = graph.tensor([4, 3], np.int32)
    graph.node("reinterpret_cast", [x], [graph.tensor([4, 3], np.float32)])
    graph.node("reinterpret_cast", [x], [graph.tensor([8, 3], np.int16)])
    for sizes, dtype in (([4, 3], np.int16), ([4, 6], np.int16), ([24], np.int16), ([8, 3], np.int8)):
        graph.refuses_node(INVALID_ARGUMENT, SHAPES, "reinterpret_cast", [x], [graph.tensor(sizes, dtype)])


def test_gather(double: Double) -> None:
    double.ok("synInitialize")
    graph = Graph(double)
    x, indices = graph.tensor([8, 30]), graph.tensor([5], np.int32)
    params = struct.pack("2i", 1, 0)
    graph.refuses_node(FAIL, TPC, "gather_fwd_f32", [x, indices], [graph.tensor([5, 30])], params)
    graph.refuses_node(FAIL, TPC, "gather_fwd_f32", [x, indices], [graph.tensor([8, 5])], struct.pack("2i", 2, 0))
    graph.node("gather_fwd_f32", [x, indices], [graph.tensor([8, 5])], params)


def test_max_pool(double: Double) -> None:
    double.ok("synInitialize")
    graph = Graph(double)
    x, y = graph.tensor([2, 9, 8, 3]), graph.tensor([2, 5, 4, 3])
    indices = graph.tensor([2, 5, 4, 3], np.uint8)
    graph.refuses_node(FAIL, TPC, "maxpool_2d_fwd_f32", [x], [indices, graph.tensor([2, 4, 4, 3])], POOL)
    graph.node("maxpool_2d_fwd_f32", [x], [indices, y], POOL)
    graph.refuses_node(FAIL, TPC, "maxpool_2d_bwd_f32", [y, indices], [graph.tensor([2, 9, 9, 1])], POOL)
    graph.node("maxpool_2d_bwd_f32", [y, indices], [graph.tensor([2, 9, 8, 3])], POOL)


@pytest.mark.parametrize(("dtype", "right", "wrong"), [(np.float32, np.uint8, np.int16), (BF16, np.int16, np.uint8)])
def test_indices_of_max_pool(double: Double, dtype: Any, right: Any, wrong: Any) -> None:
    double.ok("synInitialize")
    graph = Graph(double)
    suffix = "bf16" if dtype is BF16 else "f32"
    x, y = graph.tensor([2, 9, 8, 3], dtype), graph.tensor([2, 5, 4, 3], dtype)
    for index_type in (wrong, right):
        indices, dx = graph.tensor([2, 5, 4, 3], index_type), graph.tensor([2, 9, 8, 3], dtype)
        for arguments in (
            (f"maxpool_2d_fwd_{suffix}", [x], [indices, y], POOL),
            (f"maxpool_2d_bwd_{suffix}", [y, indices], [dx], POOL),
        ):
            if index_type is right:
                graph.node(*arguments)
            else:
                graph.refuses_node(FAIL, TPC, *arguments)


def test_layer_norm(double: Double) -> None:
    double.ok("synInitialize")
    graph = Graph(double)
    x, beta, gamma, y = (graph.tensor(sizes) for sizes in ([8, 1, 1, 3], [8], [8], [8, 1, 1, 3]))
    mean, istd = graph.tensor([1, 1, 1, 3]), graph.tensor([1, 1, 1, 3])
    params = struct.pack("?3xf", True, 1e-5)
    for wrong in ([x, beta, graph.tensor([3])], [x, graph.tensor([1]), gamma]):
        graph.refuses_node(FAIL, TPC, "layer_norm_fwd_f32", wrong, [y, mean, istd], params)
    graph.refuses_node(FAIL, TPC, "layer_norm_fwd_f32", [x, beta, gamma], [y, mean, graph.tensor([8])], params)
    graph.node("layer_norm_fwd_f32", [x, beta, gamma], [y, mean, istd], params)


@only_1_18
def test_same_padding(double: Double) -> None:
    double.ok("synInitialize")
    graph = Graph(double)
    x, w, y = graph.tensor([2, 9, 8, 3]), graph.tensor([4, 2, 1, 1]), graph.tensor([4, 9, 8, 3])
    for padding_type in (1, 0):
        params = convolution((1, 1), size=112, padding_type=padding_type)
        if padding_type:
            graph.refuses_node(INVALID_ARGUMENT, SHAPES, "spatial_convolution", [x, w], [y], params)
        else:
            graph.node("spatial_convolution", [x, w], [y], params)
