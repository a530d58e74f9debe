"""Compilation by the Synapse double: structure, order of memory, size registers (rules 15 to 17), duplicates."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest

from tests.gaudi import synapse_graph
from tests.gaudi.kernel_library import BF16
from tests.gaudi.synapse_graph import Graph
from tests.gaudi.synapse_library import FAIL, INVALID_ARGUMENT, Double

STRUCTURE, ORDER, REGISTERS = 15, 16, 17


@pytest.fixture
def graph(double: Double) -> Graph:
    double.ok("synInitialize")
    return Graph(double)


def relu(graph: Graph, x: object, y: object, name: str | None = None) -> int:
    return graph.node("relu_fwd_f32", [x], [y], name=name)


def test_inputs_have_data(graph: Graph) -> None:
    relu(graph, graph.tensor([2]), graph.persistent("y", [2]))
    assert "neither written" in graph.refuses_compile(FAIL, STRUCTURE)


def test_inputs_in_sections_of_the_workspace_have_no_data(graph: Graph) -> None:
    relu(graph, graph.tensor([2], section=graph.section(persistent=False)), graph.persistent("y", [2]))
    graph.refuses_compile(FAIL, STRUCTURE)


def test_inputs_that_have_data(graph: Graph) -> None:
    between = graph.tensor([2])
    relu(graph, graph.persistent("x", [2]), between)
    relu(graph, between, graph.persistent("y", [2]))
    relu(graph, graph.constant(np.zeros(2, np.float32)), graph.persistent("z", [2]))
    graph.compile()


def test_cycles_of_tensors(graph: Graph) -> None:
    x, y = graph.persistent("x", [2]), graph.tensor([2])
    relu(graph, x, y)
    relu(graph, y, graph.persistent("z", [2]))
    loop, back = graph.tensor([2]), graph.tensor([2])
    relu(graph, loop, back)
    relu(graph, back, loop)
    assert "cycle" in graph.refuses_compile(FAIL, STRUCTURE)


def test_cycles_of_dependencies(graph: Graph) -> None:
    x, y, z = graph.persistent("x", [2]), graph.persistent("y", [2]), graph.persistent("z", [2])
    first, second = relu(graph, x, y), relu(graph, y, z)
    graph.order([first], [second])
    graph.compile()
    graph.order([second], [first])
    assert "cycle" in graph.refuses_compile(FAIL, STRUCTURE)


def test_two_producers(graph: Graph) -> None:
    x, y = graph.persistent("x", [2]), graph.persistent("y", [2])
    relu(graph, x, y)
    graph.compile()
    relu(graph, x, y)
    assert "two nodes write" in graph.refuses_compile(FAIL, STRUCTURE)


def test_constants_are_not_written(graph: Graph) -> None:
    relu(graph, graph.persistent("x", [2]), graph.constant(np.zeros(2, np.float32)))
    assert "constant" in graph.refuses_compile(FAIL, STRUCTURE)


def test_unwritten_outputs(graph: Graph) -> None:
    relu(graph, graph.persistent("x", [2]), graph.persistent("y", [2]))
    graph.tensor([2], name="unused")
    graph.compile()
    graph.persistent("z", [2])
    assert "no node" in graph.refuses_compile(FAIL, STRUCTURE)


def test_empty_graphs(graph: Graph) -> None:
    graph.refuses_compile(FAIL, STRUCTURE)


class Alias:
    """x and its new value y in one section; a node reads x, another one writes y from z."""

    def __init__(self, graph: Graph, persistent: bool = True, offset: int = 0) -> None:
        self.graph = graph
        section = graph.section(persistent)
        self.x = graph.tensor([32], name="x", section=section)
        self.y = graph.tensor([32], name="y", section=section, offset=offset)
        if not persistent:
            self.first = relu(graph, graph.persistent("input", [32]), self.x, "first")
        self.read = graph.tensor([32])
        self.reader = relu(graph, self.x, self.read, "reader")
        self.z = graph.persistent("z", [32])
        relu(graph, self.read, graph.persistent("read", [32]))


def test_overlap_without_order(graph: Graph) -> None:
    alias = Alias(graph)
    relu(graph, alias.z, alias.y, "writer")
    log = graph.refuses_compile(FAIL, ORDER)
    assert "reader" in log
    assert "writer" in log


def test_overlap_with_a_dependency(graph: Graph) -> None:
    alias = Alias(graph)
    writer = relu(graph, alias.z, alias.y)
    graph.order([alias.reader], [writer])
    graph.compile()


def test_overlap_with_a_path_of_tensors(graph: Graph) -> None:
    alias = Alias(graph)
    graph.node("add_fwd_f32", [alias.z, alias.read], [alias.y])
    graph.compile()


def test_overlap_of_one_byte(graph: Graph) -> None:
    alias = Alias(graph, offset=127)
    relu(graph, alias.z, alias.y)
    graph.refuses_compile(FAIL, ORDER)


def test_neighbours_do_not_overlap(graph: Graph) -> None:
    alias = Alias(graph, offset=128)
    relu(graph, alias.z, alias.y)
    graph.compile()


def test_overlap_in_the_workspace(graph: Graph) -> None:
    alias = Alias(graph, persistent=False)
    writer = relu(graph, alias.z, alias.y)
    graph.refuses_compile(FAIL, ORDER)
    graph.order([alias.reader], [writer])
    graph.compile()


def test_every_reader_of_the_old_value_needs_a_path(graph: Graph) -> None:
    alias = Alias(graph)
    other = relu(graph, alias.x, graph.persistent("other", [32]), "other reader")
    writer = relu(graph, alias.z, alias.y)
    graph.order([alias.reader], [writer])
    assert "other reader" in graph.refuses_compile(FAIL, ORDER)
    graph.order([other], [writer])
    graph.compile()


def test_a_node_may_update_in_place(graph: Graph) -> None:
    section = graph.section()
    relu(graph, graph.tensor([2], name="x", section=section), graph.tensor([2], name="y", section=section))
    graph.compile()


def test_readers_may_share_memory(graph: Graph) -> None:
    section = graph.section()
    a, b = (graph.tensor([2], name=name, section=section) for name in "ab")
    graph.node("add_fwd_f32", [a, b], [graph.persistent("c", [2])])
    relu(graph, a, graph.persistent("d", [2]))
    graph.compile()


def copies(double: Double, guid: str, generation: str, sizes: list[int], dtype: object = np.float32) -> Graph:
    """A graph of one node from x to y, of equal sizes."""
    graph = Graph(double, generation)
    x, y = graph.persistent("x", sizes, dtype), graph.persistent("y", sizes, dtype)
    params = synapse_graph.transpose(range(len(sizes))) if guid == "transpose" else b""
    graph.node(guid, [x], [y], params)
    return graph


def test_registers_of_tpc(double: Double) -> None:
    double.ok("synInitialize")
    copies(double, "relu_fwd_f32", "gaudi", [2**29 - 1, 2]).compile()
    log = copies(double, "relu_fwd_f32", "gaudi", [2**29, 2]).refuses_compile(FAIL, REGISTERS)
    assert "dimension 0" in log
    copies(double, "relu_fwd_f32", "gaudi", [2**29]).compile()  # the outermost dimension
    copies(double, "relu_fwd_f32", "gaudi2", [2**29, 2]).compile()
    copies(double, "relu_fwd_f32", "gaudi2", [2**21, 2**20, 2]).compile()
    copies(double, "relu_fwd_f32", "gaudi2", [2**21, 2**20 + 1, 2]).refuses_compile(FAIL, REGISTERS)
    copies(double, "relu_fwd_f32", "gaudi2", [2**20, 2**20, 2**5 - 1]).compile()
    copies(double, "relu_fwd_f32", "gaudi2", [2**20, 2**20, 2**5]).refuses_compile(FAIL, REGISTERS)


def test_registers_of_dma(double: Double) -> None:
    double.ok("synInitialize")
    copies(double, "memcpy", "gaudi", [2**30]).compile()
    copies(double, "memcpy", "gaudi", [2**30 + 1]).refuses_compile(FAIL, REGISTERS)
    copies(double, "transpose", "gaudi", [2**30 + 1]).refuses_compile(FAIL, REGISTERS)
    copies(double, "reshape", "gaudi", [2**30 + 1]).compile()
    copies(double, "memcpy", "gaudi2", [2**30 + 1]).compile()


@pytest.mark.parametrize("dtype, limit", [(np.float32, 2**31), (BF16, 2**32)])
def test_registers_of_mme(double: Double, dtype: object, limit: int) -> None:
    double.ok("synInitialize")
    for generation, rows, fits in (
        ("gaudi", limit // 2**16 - 1, True),
        ("gaudi", limit // 2**16, False),
        ("gaudi2", limit // 2**16, True),
    ):
        graph = Graph(double, generation)
        a, b = graph.persistent("a", [1, rows], dtype), graph.persistent("b", [2**16, 1], dtype)
        graph.node("gemm", [a, b], [graph.persistent("c", [2**16, rows], dtype)])
        if fits:
            graph.compile()
        else:
            graph.refuses_compile(FAIL, REGISTERS)


def test_nodes_without_kernels(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_GAUDI_UNPROVEN", "1")
    x, y = graph.persistent("x", [2]), graph.persistent("y", [2])
    graph.node("frobenius_norm_fwd", [x], [y])
    recipe = ctypes.c_void_p()
    status = graph.double.call("synGraphCompile", ctypes.byref(recipe), graph.handle, b"recipe", None)
    assert status == synapse_graph.UNSUPPORTED


def duplicate(graph: Graph) -> tuple[Graph, dict[int, int], dict[int, int]]:
    """Returns a copy of a graph, and the handles of its tensors and nodes."""
    double = graph.double
    tensor_count, node_count = ctypes.c_uint32(), ctypes.c_uint32()
    counts = (ctypes.byref(tensor_count), ctypes.byref(node_count))
    double.ok("synGraphDuplicate", graph.handle, None, None, counts[0], None, counts[1])
    tensors = ((ctypes.c_uint64 * 2) * tensor_count.value)()
    nodes = ((ctypes.c_uint64 * 2) * node_count.value)()
    handle = ctypes.c_void_p()
    arguments = (graph.handle, ctypes.byref(handle), tensors, counts[0], nodes, counts[1])
    if tensor_count.value:
        tensor_count.value -= 1
        double.refuses(INVALID_ARGUMENT, None, "synGraphDuplicate", *arguments)
        tensor_count.value += 1
    double.ok("synGraphDuplicate", *arguments)
    copy = Graph.__new__(Graph)
    copy.double, copy.handle = double, handle.value
    return copy, {old: new for old, new in tensors}, {old: new for old, new in nodes}  # noqa: C416


def test_duplicates(graph: Graph) -> None:
    x, y = graph.persistent("x", [2]), graph.persistent("y", [2])
    between = graph.tensor([2])
    first = relu(graph, x, between)
    relu(graph, between, y)
    copy, tensors, nodes = duplicate(graph)
    assert set(tensors) == {x, y, between}
    assert len(nodes) == 2
    # The copy has tensors of its own, with sizes that may change.
    graph.double.ok("synGraphDestroy", graph.handle)
    copy.set_sizes(tensors[x], [3])
    copy.double.refuses(FAIL, 9, "synGraphInferShapes", copy.handle)
    copy.refuses_compile(FAIL, 9)
    for tensor in (y, between):
        copy.set_sizes(tensors[tensor], [3])
    copy.double.ok("synGraphInferShapes", copy.handle)
    assert sorted(copy.compile().names()) == ["x", "y"]
    copy.order([nodes[first]], [node for old, node in nodes.items() if old != first])


def test_duplicates_keep_dependencies(graph: Graph) -> None:
    alias = Alias(graph)
    writer = relu(graph, alias.z, alias.y)
    copy, _, _ = duplicate(graph)
    copy.refuses_compile(FAIL, ORDER)
    graph.order([alias.reader], [writer])
    copy, _, _ = duplicate(graph)
    copy.compile()


def test_graph_attributes(graph: Graph) -> None:
    for attribute, value, status in ((0, 1, 0), (1, 0, 0), (1, 1, synapse_graph.UNSUPPORTED), (2, 0, 0)):
        arguments = (ctypes.byref(ctypes.c_uint32(attribute)), struct.pack("Q", value), 1)
        assert graph.double.call("synGraphSetAttributes", graph.handle, *arguments) == status
    unknown = ctypes.byref(ctypes.c_uint32(3))
    graph.double.refuses(INVALID_ARGUMENT, None, "synGraphSetAttributes", graph.handle, unknown, bytes(8), 1)


def test_tensors_without_a_node_take_no_workspace(graph: Graph) -> None:
    section = graph.section(persistent=False)
    graph.tensor([2], name="unused", section=section, offset=2**64 - 128)
    y = graph.tensor([32], name="y", section=section)
    graph.node("relu_fwd_f32", [graph.persistent("x", [32])], [y])
    graph.node("neg_fwd_f32", [y], [graph.persistent("z", [32])])
    assert graph.compile().workspace_size() == 128
