"""Nodes of the Synapse double's graphs: guids, counts, types, ranks and params (rules 8 to 10, 12 to 14)."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.gaudi import synapse_graph
from tests.gaudi.kernel_library import BF16, F16
from tests.gaudi.synapse_graph import Graph
from tests.gaudi.synapse_library import FAIL, INVALID_ARGUMENT, SUCCESS, Double

HANDLES, INTERNAL, TPC, COMPILER, PARAMS, RANK, WIDE = 2, 8, 9, 10, 12, 13, 14
DIMENSIONS = synapse_graph.INVALID_TENSOR_DIMENSIONS


@pytest.fixture
def graph(double: Double) -> Graph:
    double.ok("synInitialize")
    return Graph(double, "gaudi2")


@pytest.fixture
def gaudi(double: Double) -> Graph:
    """A graph for the first generation."""
    double.ok("synInitialize")
    return Graph(double, "gaudi")


@pytest.mark.parametrize("guid", ["tensor_view", "reverse", "memcpy_dma", "reduction", "transposed_dedx"])
def test_internal_guids(graph: Graph, guid: str) -> None:
    graph.refuses_node(FAIL, INTERNAL, guid, [graph.tensor([2])], [graph.tensor([2])])


def test_unknown_guids(graph: Graph) -> None:
    x, y = graph.tensor([2]), graph.tensor([2])
    for guid in ("add", "add_fwd", "add_fwd_f64", "no_such_fwd_f32", "gemm_f32", "relu_fwd_i32"):
        graph.refuses_node(FAIL, TPC, guid, [x, x], [y])
    graph.node("add_fwd_f32", [x, x], [y])


def test_lengths_of_guids(graph: Graph) -> None:
    x, y = graph.tensor([2]), graph.tensor([2])
    limit = 30 if graph.double.is_1_5 else 63
    assert f"more than {limit} characters" in graph.refuses_node(FAIL, TPC, "x" * (limit + 1), [x, x], [y])
    assert "no such guid" in graph.refuses_node(FAIL, TPC, "x" * limit, [x, x], [y])


def test_guids_without_evidence(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = graph.tensor([2]), graph.tensor([2])
    monkeypatch.delenv("HPU_GAUDI_UNPROVEN", raising=False)
    assert "uncertain" in graph.refuses_node(FAIL, TPC, "floor_divide_fwd_f32", [x, x], [y])
    monkeypatch.setenv("HPU_GAUDI_UNPROVEN", "1")
    graph.node("floor_divide_fwd_f32", [x, x], [y])
    graph.refuses_node(FAIL, TPC, "floor_divide_fwd_f32", [x], [y])
    # The words of plugin/base/flags/parse.h.
    for word, is_on in (("true", True), ("YES", True), ("On", True), ("0", False), ("off", False), ("", False)):
        monkeypatch.setenv("HPU_GAUDI_UNPROVEN", word)
        status, log = graph.node_status("floor_divide_fwd_f32", [x, x], [graph.tensor([2])])
        assert status == (SUCCESS if is_on else FAIL), log


@pytest.mark.parametrize("exist", [True, False])
def test_complex_guids(double: Double, monkeypatch: pytest.MonkeyPatch, exist: bool) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_COMPLEX_GUIDS", str(int(exist)))
    double.ok("synInitialize")
    graph = Graph(double)
    arguments = ("reduce_sum_multi_dim_fwd_f32", [graph.tensor([2, 3])], [graph.tensor([1, 1])])
    mask = struct.pack("I?3x", 3, True)
    if exist:
        graph.node(*arguments, mask)
    else:
        graph.refuses_node(FAIL, TPC, *arguments, mask)
    # The plain kernel exists in any case.
    graph.node("reduce_sum_fwd_f32", [graph.tensor([2, 3])], [graph.tensor([1, 3])], struct.pack("I", 0))


def test_counts_of_tpc_operands(graph: Graph) -> None:
    x, y = graph.tensor([2]), graph.tensor([2])
    cases: list[tuple[list[Any], list[Any]]] = [([x], [y]), ([x, x, x], [y]), ([x, None], [y]), ([x, x], [])]
    for inputs, outputs in cases:
        graph.refuses_node(FAIL, TPC, "add_fwd_f32", inputs, outputs)
    graph.node("add_fwd_f32", [x, x], [y])


def test_counts_of_compiler_operands(graph: Graph) -> None:
    a, b, c = graph.tensor([2, 2]), graph.tensor([2, 2]), graph.tensor([2, 2])
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "gemm", [a], [c])
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "gemm", [a, b, None, a], [c])
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "gemm", [a, None], [c])
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "gemm", [a, b], [c, c])
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "concat", [], [c], synapse_graph.axis(0))
    graph.node("gemm", [a, b, None], [c])
    graph.node("gemm", [a, b, graph.tensor([2])], [c])


def test_shape_tensors(graph: Graph) -> None:
    dy, w = graph.tensor([4, 3, 3, 1]), graph.tensor([4, 2, 1, 1])
    dx = graph.tensor([2, 3, 3, 1])
    params = synapse_graph.convolution((1, 1))
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "dedx", [dy, w, graph.tensor([2, 3, 3, 1])], [dx], params)
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "dedx", [dy, graph.shape([4, 2, 1, 1])], [dx], params)
    graph.node("dedx", [dy, w, graph.shape([2, 3, 3, 1])], [dx], params)


def test_types_of_tpc_operands(graph: Graph) -> None:
    f32, i32, i8 = (graph.tensor([2], dtype) for dtype in (np.float32, np.int32, np.int8))
    graph.refuses_node(FAIL, TPC, "add_fwd_f32", [f32, i32], [f32])
    graph.refuses_node(FAIL, TPC, "add_fwd_f32", [f32, f32], [i32])
    graph.refuses_node(FAIL, TPC, "add_fwd_i32", [f32, f32], [f32])
    graph.refuses_node(FAIL, TPC, "equal_fwd_f32", [f32, f32], [f32])
    graph.refuses_node(FAIL, TPC, "cast_f32_to_i32", [i32], [i32])
    graph.node("equal_fwd_f32", [f32, f32], [i8])
    graph.node("cast_f32_to_i32", [f32], [i32])
    graph.node("where_fwd_f32", [i8, f32, f32], [f32])
    graph.node("mult_fwd_f32", [f32, i8], [f32])


def test_types_by_generation(double: Double) -> None:
    double.ok("synInitialize")
    for generation, status in (("gaudi", FAIL), ("gaudi2", SUCCESS)):
        graph = Graph(double, generation)
        x, y = graph.tensor([2], F16), graph.tensor([2], F16)
        assert graph.node_status("add_fwd_f16", [x, x], [y])[0] == status
        a, c = graph.tensor([2, 2], F16), graph.tensor([2, 2], F16)
        expected = INVALID_ARGUMENT if status else SUCCESS
        assert graph.node_status("gemm", [a, a], [c])[0] == expected


def test_direct_casts(double: Double) -> None:
    double.ok("synInitialize")
    gaudi, gaudi2 = Graph(double, "gaudi"), Graph(double, "gaudi2")
    for graph, source, target, is_direct in (
        (gaudi, np.float32, np.int16, False),
        (gaudi2, np.float32, np.int16, True),
        (gaudi, np.float32, np.int32, True),
        (gaudi2, np.int16, np.int8, False),
        (gaudi, np.int16, np.int8, True),
    ):
        x, y = graph.tensor([2], source), graph.tensor([2], target)
        guid = f"cast_{_suffix(source)}_to_{_suffix(target)}"
        if is_direct:
            graph.node(guid, [x], [y])
        else:
            assert "cast through i32" in graph.refuses_node(FAIL, TPC, guid, [x], [y])


def _suffix(dtype: Any) -> str:
    dtype = np.dtype(dtype)
    return f"{dtype.kind}{8 * dtype.itemsize}"


def test_types_of_compiler_operands(graph: Graph) -> None:
    f32, bf16, i32 = (graph.tensor([2, 2], dtype) for dtype in (np.float32, BF16, np.int32))
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "gemm", [i32, i32], [i32])
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "gemm", [f32, f32], [i32])
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "reshape", [f32], [i32])
    # The result may have another precision.
    graph.node("gemm", [bf16, bf16], [f32])


def test_products_of_two_types(graph: Graph) -> None:
    f32, bf16, i32 = (graph.tensor([2, 2], dtype) for dtype in (np.float32, BF16, np.int32))
    x, w, y = graph.tensor([2, 3, 3, 1]), graph.tensor([4, 2, 1, 1], BF16), graph.tensor([4, 3, 3, 1])
    convolution = ("spatial_convolution", [x, w], [y], synapse_graph.convolution((1, 1)))
    for guid in ("gemm", "batch_gemm"):
        log = graph.refuses_node(INVALID_ARGUMENT, COMPILER, guid, [bf16, f32], [f32])
        assert "training graphs need equal ones" in log
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, *convolution)
    set_inference(graph)
    graph.node("gemm", [bf16, f32], [f32])
    graph.node("batch_gemm", [bf16, f32], [graph.tensor([2, 2])])
    graph.node(*convolution)
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "gemm", [f32, i32], [f32])


def set_inference(graph: Graph) -> None:
    attribute, value = ctypes.c_uint32(0), ctypes.c_uint64(1)
    graph.double.ok("synGraphSetAttributes", graph.handle, ctypes.byref(attribute), ctypes.byref(value), 1)


def test_training_nodes_in_inference(graph: Graph) -> None:
    x, mean = graph.tensor([2, 3, 3, 1]), graph.tensor([2])
    graph.node("moments_fwd", [x], [mean, graph.tensor([2])])
    set_inference(graph)
    log = graph.refuses_node(INVALID_ARGUMENT, COMPILER, "moments_fwd", [x], [mean, graph.tensor([2])])
    assert "INFERENCE" in log
    # Earlier nodes also count.
    graph.refuses_compile(INVALID_ARGUMENT, COMPILER)


def test_wide_types(graph: Graph) -> None:
    wide = graph.tensor([2, 2], np.int64)
    graph.refuses_node(INVALID_ARGUMENT, WIDE, "gemm", [wide, wide], [wide])
    f32 = graph.tensor([2, 2])
    graph.refuses_node(INVALID_ARGUMENT, WIDE, "gemm", [f32, f32], [wide])
    graph.refuses_node(INVALID_ARGUMENT, WIDE, "gemm", [f32, wide], [f32])
    graph.refuses_node(INVALID_ARGUMENT, WIDE, "moments_fwd", [wide], [f32, f32])
    count = struct.pack("2I", 2, 0)
    narrow = graph.tensor([2, 2], np.int32)
    graph.refuses_node(INVALID_ARGUMENT, WIDE, "topk", [wide], [wide, narrow], count)
    graph.refuses_node(INVALID_ARGUMENT, WIDE, "topk", [f32], [graph.tensor([2, 2]), wide], count)
    graph.node("topk", [f32], [graph.tensor([2, 2]), narrow], count)
    graph.node("reshape", [wide], [graph.tensor([4], np.int64)])
    graph.node("transpose", [wide], [graph.tensor([2, 2], np.int64)], synapse_graph.transpose([1, 0]))
    graph.node("add_fwd_i64", [wide, wide], [graph.tensor([2, 2], np.int64)])


def test_wide_types_of_the_first_generation(gaudi: Graph) -> None:
    wide = gaudi.tensor([2], np.int64)
    gaudi.refuses_node(FAIL, TPC, "add_fwd_i64", [wide, wide], [wide])
    gaudi.node("concat", [wide, wide], [gaudi.tensor([4], np.int64)], synapse_graph.axis(0))
    # Types that the table lists for an operand also depend on the generation.
    table, y = gaudi.tensor([3]), gaudi.tensor([2])
    gaudi.refuses_node(FAIL, TPC, "gather_fwd_f32", [table, wide], [y], bytes(8))
    gaudi.node("gather_fwd_f32", [table, gaudi.tensor([2], np.int32)], [y], bytes(8))
    later = Graph(gaudi.double, "gaudi2")
    operands = [later.tensor([3]), later.tensor([2], np.int64)]
    later.node("gather_fwd_f32", operands, [later.tensor([2])], bytes(8))


def test_ranks_of_compiler_nodes(graph: Graph) -> None:
    vector = graph.tensor([2])
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "gemm", [vector, vector], [vector])
    image = graph.tensor([2, 3, 3])
    params = synapse_graph.convolution((1, 1))
    graph.refuses_node(INVALID_ARGUMENT, COMPILER, "spatial_convolution", [image, image], [image], params)


def test_ranks_of_tpc_nodes(graph: Graph) -> None:
    x = graph.tensor([2, 3])
    params = struct.pack("11i", *[0] * 4, *[1] * 6, 0)
    y, indices = graph.tensor([2, 3]), graph.tensor([2, 3], np.uint8)
    graph.refuses_node(FAIL, TPC, "maxpool_2d_fwd_f32", [x], [indices, y], params)


def test_ranks_above_5(double: Double) -> None:
    double.ok("synInitialize")
    graph = Graph(double)
    if double.is_1_5:
        graph.node("relu_fwd_f32", [graph.tensor([1] * 5)], [graph.tensor([1] * 5)])
        return
    for rank in (5, 6, 8):
        x, y = graph.tensor([1] * rank), graph.tensor([1] * rank)
        graph.node("transpose", [x], [y], synapse_graph.transpose(range(rank)))
        if rank == 5:
            graph.node("relu_fwd_f32", [x], [y])
            graph.node("batch_gemm", [x, x], [graph.tensor([1] * rank)])
        else:
            graph.refuses_node(DIMENSIONS, RANK, "relu_fwd_f32", [x], [y])
            graph.refuses_node(DIMENSIONS, RANK, "batch_gemm", [x, x], [y])
    x, y = graph.tensor([1] * 9), graph.tensor([1] * 9)
    graph.refuses_node(DIMENSIONS, RANK, "transpose", [x], [y], synapse_graph.transpose(range(9)))


def test_params_are_there(graph: Graph) -> None:
    x, y = graph.tensor([2, 2]), graph.tensor([4, 2])
    graph.refuses_node(INVALID_ARGUMENT, PARAMS, "concat", [x, x], [y])
    graph.refuses_node(INVALID_ARGUMENT, PARAMS, "relu_fwd_f32", [x], [x], bytes(1))
    graph.refuses_node(INVALID_ARGUMENT, PARAMS, "reshape", [x], [graph.tensor([4])], bytes(4))
    graph.node("concat", [x, x], [y], synapse_graph.axis(0))
    # gemm has a version without params.
    graph.node("gemm", [x, x], [graph.tensor([2, 2])])
    null = (graph.handle, (ctypes.c_void_p * 1)(x), (ctypes.c_void_p * 1)(y), 1, 1, None, 4)
    rest = (b"concat", None, ctypes.byref(ctypes.c_uint64()), None, None)
    graph.double.refuses(INVALID_ARGUMENT, PARAMS, "synNodeCreateWithId", *null, *rest)


def check_version(
    graph: Graph, is_in_1_5: bool, guid: str, inputs: Sequence[Any], outputs: Sequence[Any], params: bytes
) -> None:
    """Creates a node; release 1.5 refuses later versions of params."""
    if is_in_1_5 or not graph.double.is_1_5:
        graph.node(guid, inputs, outputs, params)
    else:
        graph.refuses_node(INVALID_ARGUMENT, PARAMS, guid, inputs, outputs, params)


@pytest.mark.parametrize("size", [72, 88, 104, 112])
def test_versions_of_convolution_params(graph: Graph, size: int) -> None:
    x, w, y = graph.tensor([2, 3, 3, 1]), graph.tensor([4, 2, 1, 1]), graph.tensor([4, 3, 3, 1])
    params = synapse_graph.convolution((1, 1), size=size)
    check_version(graph, size == 72, "spatial_convolution", [x, w], [y], params)
    for wrong in (params[:-4], params + bytes(4)):
        graph.refuses_node(INVALID_ARGUMENT, PARAMS, "spatial_convolution", [x, w], [y], wrong)


@pytest.mark.parametrize("size", [80, 400, 704])
def test_versions_of_slice_params(graph: Graph, size: int) -> None:
    x, y = graph.tensor([4]), graph.tensor([2])
    params = synapse_graph.slices([(0, 1, 3, 1)], size)
    check_version(graph, size == 80, "slice", [x], [y], params)
    graph.refuses_node(INVALID_ARGUMENT, PARAMS, "slice", [x], [y], params + bytes(8))


@pytest.mark.parametrize("size", [24, 104])
def test_versions_of_transpose_params(graph: Graph, size: int) -> None:
    x, y = graph.tensor([2, 3]), graph.tensor([3, 2])
    check_version(graph, size == 24, "transpose", [x], [y], synapse_graph.transpose([1, 0], size))


@pytest.mark.parametrize("size", [96, 128])
def test_versions_of_3d_convolution_params(graph: Graph, size: int) -> None:
    x, w, y = (graph.tensor(sizes) for sizes in ([2, 3, 3, 3, 1], [4, 2, 1, 1, 1], [4, 3, 3, 3, 1]))
    params = synapse_graph.convolution_3d((1, 1, 1), size=size)
    check_version(graph, size == 96, "spatial_convolution3d", [x, w], [y], params)


def corrupt(params: bytes, at: int) -> bytes:
    return params[:at] + b"\1" + params[at + 1 :]


def test_padding_of_convolution_params(graph: Graph) -> None:
    x, w, y = graph.tensor([2, 3, 3, 1]), graph.tensor([4, 2, 1, 1]), graph.tensor([4, 3, 3, 1])
    for size, padding in ((72, (42, 43, 68, 71)), (88, (42, 68, 76, 87)), (104, (103,)), (112, (42, 68, 76, 111))):
        if size > 72 and graph.double.is_1_5:
            continue
        params = synapse_graph.convolution((1, 1), size=size)
        for at in padding:
            log = graph.refuses_node(INVALID_ARGUMENT, PARAMS, "spatial_convolution", [x, w], [y], corrupt(params, at))
            assert f"byte {at} " in log
        graph.node("spatial_convolution", [x, w], [y], params)


@pytest.mark.parametrize(
    "guid, inputs, outputs, params, padding",
    [
        ("slice", [[4]], [[2]], synapse_graph.slices([(0, 1, 3, 1)], 704), (100, 103)),
        ("reduce_sum_multi_dim_fwd_f32", [[2, 3]], [[1, 1]], struct.pack("I?3x", 3, True), (5, 7)),
        ("cast_f32_to_bf16", [[2]], [[2]], struct.pack("III?3x", 0, 0, 0, False), (13, 15)),
        ("layer_norm_fwd_f32", [[4, 1, 1, 3], [4], [4]], [[4, 1, 1, 3], [1, 1, 1, 3], [1, 1, 1, 3]],
         struct.pack("?3xf", True, 1e-5), (1, 3)),
        ("spatial_convolution3d", [[2, 3, 3, 3, 1], [4, 2, 1, 1, 1]], [[4, 3, 3, 3, 1]],
         synapse_graph.convolution_3d((1, 1, 1), size=128), (60, 66, 92, 127)),
    ],
)  # fmt: skip
def test_padding_of_params(
    graph: Graph,
    guid: str,
    inputs: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
    params: bytes,
    padding: Sequence[int],
) -> None:
    if graph.double.is_1_5 and len(params) in (128, 704):
        return  # versions of 1.18
    operands = [graph.tensor(sizes) for sizes in inputs]
    results = [graph.tensor(sizes, BF16 if guid.endswith("to_bf16") else np.float32) for sizes in outputs]
    for at in padding:
        graph.refuses_node(INVALID_ARGUMENT, PARAMS, guid, operands, results, corrupt(params, at))
    graph.node(guid, operands, results, params)


@synapse_graph.only_1_18
def test_changed_params(graph: Graph) -> None:
    double = graph.double
    node = graph.node("concat", [graph.tensor([2, 2])] * 2, [graph.tensor([4, 2])], synapse_graph.axis(0))
    arguments = ("synNodeSetUserParams", graph.handle, node)
    double.refuses(INVALID_ARGUMENT, PARAMS, *arguments, bytes(8), 8)
    double.refuses(INVALID_ARGUMENT, 11, *arguments, synapse_graph.axis(1), 4)
    double.ok(*arguments, synapse_graph.axis(0), 4)
    double.refuses(INVALID_ARGUMENT, HANDLES, "synNodeSetUserParams", graph.handle, node + 1, bytes(4), 4)


@synapse_graph.only_1_18
def test_node_settings(graph: Graph) -> None:
    double = graph.double
    node = graph.node("relu_fwd_f32", [graph.tensor([2])], [graph.tensor([2])])
    double.ok("synNodeSetDeterministic", graph.handle, node, True)
    double.ok("synNodeSetRoundingMode", graph.handle, node, 0)
    assert double.call("synNodeSetRoundingMode", graph.handle, node, 4) == synapse_graph.UNSUPPORTED
    for name, value in (("synNodeSetDeterministic", True), ("synNodeSetRoundingMode", 0)):
        double.refuses(INVALID_ARGUMENT, HANDLES, name, graph.handle, node + 1, value)
        double.refuses(INVALID_ARGUMENT, HANDLES, name, Graph(double).handle, node, value)


def test_dependencies_name_nodes_of_the_graph(graph: Graph) -> None:
    double = graph.double
    first = graph.node("relu_fwd_f32", [graph.tensor([2])], [graph.tensor([2])])
    second = graph.node("relu_fwd_f32", [graph.tensor([2])], [graph.tensor([2])])
    foreign = Graph(double)
    other = foreign.node("relu_fwd_f32", [foreign.tensor([2])], [foreign.tensor([2])])
    for pair in ((first, other), (other, first), (first, 0)):
        ids = [(ctypes.c_uint64 * 1)(number) for number in pair]
        double.refuses(INVALID_ARGUMENT, HANDLES, "synNodeDependencySet", graph.handle, *ids, 1, 1)
    graph.order([first], [second])


Layouts = tuple[Any, ...]


def layout_status(
    graph: Graph, guid: bytes, inputs: Sequence[Any], output: Any, params: bytes, layouts: Layouts, result: Any = None
) -> int:
    """Creates a node with layouts of its operands and of its result. Returns the status."""
    tensors = ((ctypes.c_void_p * len(inputs))(*inputs), (ctypes.c_void_p * 1)(output))
    names = ((ctypes.c_char_p * len(inputs))(*layouts), (ctypes.c_char_p * 1)(result))
    arguments = (*tensors, len(inputs), 1, params, len(params), guid, b"node", *names)
    return graph.double.call("synNodeCreate", graph.handle, *arguments)


@pytest.mark.parametrize(
    ("layouts", "result", "is_natural"),
    [
        ((b"CWHN", b"KCSR"), b"CWHN", True),
        ((b"", b"KCSR"), None, True),
        ((None, None), None, True),
        ((b"WHCN", b"KCSR"), b"CWHN", False),
        # Natural layouts of other tensors.
        ((b"KCSR", b"KCSR"), b"CWHN", False),
        ((b"CWHN", b"CWHN"), b"CWHN", False),
        ((b"CWHDN", b"KCSR"), b"CWHN", False),
        ((b"CWHN", b"KCSR"), b"KCSR", False),
    ],
)
def test_layouts(graph: Graph, layouts: Layouts, result: Any, is_natural: bool) -> None:
    x, w, y = graph.tensor([2, 3, 3, 1]), graph.tensor([4, 2, 1, 1]), graph.tensor([4, 3, 3, 1])
    params = synapse_graph.convolution((1, 1))
    status = layout_status(graph, b"spatial_convolution", [x, w], y, params, layouts, result)
    assert status == (SUCCESS if is_natural else synapse_graph.UNSUPPORTED)


def test_layouts_of_gradients(graph: Graph) -> None:
    x, w, dy = graph.tensor([2, 3, 3, 1]), graph.tensor([4, 2, 1, 1]), graph.tensor([4, 3, 3, 1])
    params = synapse_graph.convolution((1, 1))
    for guid, operands, output, layouts, result in (
        (b"dedw", [dy, x], w, (b"CWHN", b"CWHN"), b"KCSR"),
        (b"dedx", [dy, w], x, (b"CWHN", b"KCSR"), b"CWHN"),
    ):
        wrong = (layouts[0], b"CWHN" if guid == b"dedx" else b"KCSR")
        unsupported = synapse_graph.UNSUPPORTED
        assert layout_status(graph, guid, operands, output, params, wrong, result) == unsupported
        assert layout_status(graph, guid, operands, output, params, layouts, result) == SUCCESS


def test_nodes_without_layouts(graph: Graph) -> None:
    x, y = graph.tensor([2, 3, 3, 1]), graph.tensor([2, 3, 3, 1])
    assert layout_status(graph, b"relu_fwd_f32", [x], y, b"", (b"CWHN",)) == synapse_graph.UNSUPPORTED
    assert layout_status(graph, b"relu_fwd_f32", [x], y, b"", (None,)) == SUCCESS
    average = struct.pack("12i", *[0] * 4, *[1] * 6, 0, 0)
    assert layout_status(graph, b"avg_pool_2d_fwd_f32", [x], y, average, (b"CWHN",), b"CWHN") == SUCCESS


def test_precision_is_not_modelled(graph: Graph) -> None:
    assert graph.double.call("synNodeTypeSetPrecision", graph.handle, b"gemm", 2) == synapse_graph.UNSUPPORTED
