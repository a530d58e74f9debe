"""Tensors and sections of the Synapse double's graphs: handles, properties, names, constants (rules 2 to 7, 13)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.gaudi import synapse_graph
from tests.gaudi.kernel_library import BF16
from tests.gaudi.synapse_graph import Graph
from tests.gaudi.synapse_library import INVALID_ARGUMENT, SUCCESS, Double

HANDLES, LOCKED, PROPERTIES, NAMES, CONSTANTS, SECTIONS, RANK = 2, 3, 4, 5, 6, 7, 13
MIB = 1 << 20


@pytest.fixture
def graph(double: Double) -> Graph:
    double.ok("synInitialize")
    return Graph(double)


def relu(graph: Graph, x: object) -> tuple[int, str]:
    """Creates a node that reads x, a tensor f32{2,3}. Returns status and log."""
    return graph.node_status("relu_fwd_f32", [x], [graph.tensor([2, 3])])


def test_lifecycle(double: Double) -> None:
    graph = ctypes.c_void_p()
    double.refuses(28, 1, "synGraphCreate", ctypes.byref(graph), 2)
    double.refuses(28, 1, "synGraphDestroy", None)
    double.ok("synInitialize")
    Graph(double)


def test_device_types(double: Double) -> None:
    double.ok("synInitialize")
    for generation, number in synapse_graph.DEVICE_TYPES[double.release].items():
        graph = Graph(double, generation)
        found = ctypes.c_uint32()
        double.ok("synGraphGetDeviceType", graph.handle, ctypes.byref(found))
        assert found.value == number
    # Greco and the emulator; Gaudi3 is younger than release 1.5.
    for number in (5,) if double.is_1_5 else (0, 1, 6, 7):
        double.refuses(INVALID_ARGUMENT, None, "synGraphCreate", ctypes.byref(ctypes.c_void_p()), number)


def test_handles_die_with_their_graph(graph: Graph) -> None:
    double = graph.double
    tensor, section = graph.tensor([2]), graph.section()
    double.ok("synGraphDestroy", graph.handle)
    double.refuses(INVALID_ARGUMENT, HANDLES, "synGraphDestroy", graph.handle)
    double.refuses(INVALID_ARGUMENT, HANDLES, "synTensorDestroy", tensor)
    double.refuses(INVALID_ARGUMENT, HANDLES, "synSectionDestroy", section)
    double.refuses(INVALID_ARGUMENT, HANDLES, "synTensorSetExternal", tensor, True)


def test_tensors_of_other_graphs(graph: Graph) -> None:
    other = Graph(graph.double)
    x, y = graph.tensor([2, 3]), other.tensor([2, 3])
    graph.refuses_node(INVALID_ARGUMENT, HANDLES, "relu_fwd_f32", [x], [y])
    graph.refuses_node(INVALID_ARGUMENT, HANDLES, "relu_fwd_f32", [y], [x])
    graph.refuses_node(INVALID_ARGUMENT, HANDLES, "relu_fwd_f32", [graph.handle], [x])
    graph.node("relu_fwd_f32", [x], [graph.tensor([2, 3])])


def test_sections_of_other_graphs(graph: Graph) -> None:
    tensor = graph.tensor([2])
    section = Graph(graph.double).section()
    graph.double.refuses(INVALID_ARGUMENT, SECTIONS, "synTensorAssignToSection", tensor, section, 0)
    graph.double.ok("synTensorAssignToSection", tensor, graph.section(), 0)


def test_nodes_lock_their_tensors(graph: Graph) -> None:
    double = graph.double
    section = graph.section()
    x = graph.tensor([2, 3], name="x", section=section)
    graph.set_sizes(x, [2, 3])  # still free
    graph.node("relu_fwd_f32", [x], [graph.tensor([2, 3])])
    sizes = synapse_graph.geometry(double, [2, 3])
    layout = synapse_graph.full_layout(double, synapse_graph.code(np.float32))
    order = synapse_graph.permutation(double, [1, 0])
    data = np.zeros(6, np.float32)
    setters: list[tuple[object, ...]] = [
        ("synTensorSetGeometry", x, ctypes.byref(sizes), 1),
        ("synTensorSetDeviceFullLayout", x, ctypes.byref(layout)),
        ("synTensorAssignToSection", x, section, 0),
        ("synTensorSetHostPtr", x, data.ctypes.data, data.nbytes, synapse_graph.code(np.float32), True),
        ("synTensorSetPermutation", x, ctypes.byref(order)),
        ("synTensorSetAllowPermutation", x, 1),
        ("synTensorSetExternal", x, True),
        ("synTensorSetQuantizationData", x, 0, ctypes.byref(ctypes.c_double()), 8),
        ("synSectionSetPersistent", section, False),
        ("synSectionSetGroup", section, 1),
        ("synSectionSetRMW", section, False),
    ]
    if not double.is_1_5:
        setters += [("synTensorSetDeviceDataType", x, 4), ("synSectionSetConst", section, False)]
    for name, *arguments in setters:
        double.refuses(synapse_graph.OBJECT_ALREADY_INITIALIZED, LOCKED, str(name), *arguments)
    double.refuses(synapse_graph.OBJECT_ALREADY_INITIALIZED, LOCKED, "synTensorDestroy", x)


def test_setters_of_free_tensors(graph: Graph) -> None:
    double = graph.double
    x = graph.tensor([2, 3], name="x", section=graph.section())
    double.ok("synTensorSetPermutation", x, ctypes.byref(synapse_graph.permutation(double, [1, 0])))
    double.ok("synTensorSetAllowPermutation", x, 1)
    double.ok("synTensorSetExternal", x, True)
    double.ok("synTensorSetQuantizationData", x, 0, ctypes.byref(ctypes.c_double()), 8)
    assert relu(graph, x) == (SUCCESS, "")


def test_destroyed_tensors_free_their_name(graph: Graph) -> None:
    x = graph.tensor([2, 3], name="x")
    graph.double.ok("synTensorDestroy", x)
    graph.double.refuses(INVALID_ARGUMENT, HANDLES, "synTensorSetExternal", x, True)
    graph.tensor([2, 3], name="x")


def test_names_are_unique(graph: Graph) -> None:
    double = graph.double
    x = graph.tensor([2], name="x")
    again = ctypes.c_void_p()
    arguments = (ctypes.byref(again), graph.handle, 0, b"x")
    double.refuses(synapse_graph.NAME_IS_ALREADY_USED, NAMES, "synTensorHandleCreate", *arguments)
    assert again.value == x
    # Other graphs, other names and no names.
    Graph(double).tensor([2], name="x")
    graph.tensor([2], name="y")
    graph.tensor([2])
    graph.tensor([2])


def test_properties_that_every_tensor_needs(graph: Graph) -> None:
    sizeless = graph.bare()
    graph.set_type(sizeless, np.float32)
    graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [sizeless], [graph.tensor([2, 3])])
    typeless = graph.bare()
    graph.set_sizes(typeless, [2, 3])
    graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [typeless], [graph.tensor([2, 3])])
    graph.set_type(typeless, np.float32)
    assert relu(graph, typeless) == (SUCCESS, "")


def test_geometries(graph: Graph) -> None:
    double = graph.double
    tensor = graph.bare()

    def sizes(values: list[int]) -> object:
        return ctypes.byref(synapse_graph.geometry(double, values))

    double.refuses(INVALID_ARGUMENT, PROPERTIES, "synTensorSetGeometry", tensor, sizes([]), 1)
    double.refuses(INVALID_ARGUMENT, PROPERTIES, "synTensorSetGeometry", tensor, sizes([1]), 3)
    above = 6 if double.is_1_5 else 26
    dimensions = synapse_graph.INVALID_TENSOR_DIMENSIONS
    double.refuses(dimensions, RANK, "synTensorSetGeometry", tensor, sizes([1] * above), 1)
    double.refuses(INVALID_ARGUMENT, None, "synTensorSetGeometry", tensor, None, 1)
    double.ok("synTensorSetGeometry", tensor, sizes([1]), 1)
    double.refuses(INVALID_ARGUMENT, PROPERTIES, "synTensorSetGeometry", tensor, sizes([1, 1]), 0)


def test_dynamic_shapes_are_not_modelled(graph: Graph) -> None:
    x = graph.tensor([2, 3])
    graph.set_sizes(x, [2, 3], synapse_graph.MIN_SIZES)
    assert relu(graph, x)[0] == SUCCESS
    y = graph.tensor([2, 3])
    graph.set_sizes(y, [1, 3], synapse_graph.MIN_SIZES)
    assert relu(graph, y)[0] == synapse_graph.UNSUPPORTED


def test_huge_tensors(graph: Graph) -> None:
    if graph.double.is_1_5:
        huge, fits = [2**31, 2**31], [2**30, 2**30]
    else:
        huge, fits = [2**61], [2**60]
    for sizes, expected in ((huge, INVALID_ARGUMENT), (fits, SUCCESS)):
        x, y = graph.tensor(sizes), graph.tensor(sizes)
        assert graph.node_status("reshape", [x], [y])[0] == expected


@pytest.mark.parametrize("persistent", [True, False])
def test_offsets_in_sections(graph: Graph, persistent: bool) -> None:
    section = graph.section(persistent)
    end = 1 << 62
    for offset in (2**64 - 24, 2**64 - 1, end - 23):
        x = graph.tensor([2, 3], name=f"x{offset}", section=section, offset=offset)
        log = graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [x], [graph.tensor([2, 3])])
        assert f"offset {offset}" in log
    assert relu(graph, graph.tensor([2, 3], name="fits", section=section, offset=end - 24))[0] == SUCCESS


@pytest.mark.parametrize("type_code", [0, 1 << 6, 1 << 11, 3])
def test_unknown_types(graph: Graph, type_code: int) -> None:
    layout = ctypes.byref(synapse_graph.full_layout(graph.double, type_code))
    graph.double.refuses(INVALID_ARGUMENT, PROPERTIES, "synTensorSetDeviceFullLayout", graph.bare(), layout)


def test_strides_of_layouts_are_not_modelled(graph: Graph) -> None:
    layout = synapse_graph.full_layout(graph.double, 4, [1])
    status = graph.double.call("synTensorSetDeviceFullLayout", graph.bare(), ctypes.byref(layout))
    assert status == synapse_graph.UNSUPPORTED


def test_persistent_tensors_have_names(graph: Graph) -> None:
    nameless = graph.tensor([2, 3], section=graph.section())
    graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [nameless], [graph.tensor([2, 3])])
    # In a section of the workspace, tensors need no name.
    assert relu(graph, graph.tensor([2, 3], section=graph.section(persistent=False)))[0] == SUCCESS


def test_permutations(graph: Graph) -> None:
    double = graph.double
    swap = synapse_graph.permutation(double, [1, 0])
    x = graph.tensor([2, 3])
    double.ok("synTensorSetPermutation", x, ctypes.byref(swap))
    assert "without persistence" in graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [x], [x])
    persistent = graph.persistent("x", [2, 3])
    twice = synapse_graph.permutation(double, [1, 1])
    double.refuses(INVALID_ARGUMENT, PROPERTIES, "synTensorSetPermutation", persistent, ctypes.byref(twice))
    longer = synapse_graph.permutation(double, [1, 0, 2])
    double.ok("synTensorSetPermutation", persistent, ctypes.byref(longer))
    graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [persistent], [graph.tensor([2, 3])])
    double.ok("synTensorSetPermutation", persistent, ctypes.byref(swap))
    assert relu(graph, persistent)[0] == SUCCESS


def test_external_tensors_are_persistent(graph: Graph) -> None:
    x = graph.tensor([2, 3])
    graph.double.ok("synTensorSetExternal", x, True)
    assert "without persistence" in graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [x], [x])
    persistent = graph.persistent("x", [2, 3])
    graph.double.ok("synTensorSetExternal", persistent, True)
    assert relu(graph, persistent)[0] == SUCCESS


def test_constants(graph: Graph) -> None:
    data = np.zeros((3, 2), np.float32)
    assert relu(graph, graph.constant(data))[0] == SUCCESS
    y = graph.tensor([2, 3])
    for section in (graph.section(persistent=True), graph.section(persistent=False)):
        x = graph.tensor([2, 3], name=f"x{section}", section=section)
        graph.set_data(x, data)
        assert "not const" in graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [x], [y])
    null = ("synTensorSetHostPtr", y, None, 24, 4, True)
    graph.double.refuses(INVALID_ARGUMENT, PROPERTIES, *null)


def test_sizes_of_constants(graph: Graph) -> None:
    data = np.zeros((3, 2), np.float32)
    for size in (20, 23):
        x = graph.tensor([2, 3])
        graph.set_data(x, data, size=size)
        graph.refuses_node(INVALID_ARGUMENT, CONSTANTS, "relu_fwd_f32", [x], [graph.tensor([2, 3])])
    x = graph.tensor([2, 3])
    graph.set_data(x, data.astype(BF16))
    graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [x], [graph.tensor([2, 3])])


def test_large_constants(graph: Graph) -> None:
    count = MIB // 4
    large = np.zeros(count + 1, np.float32)
    fits = graph.constant(large[:count])
    graph.node("relu_fwd_f32", [fits], [graph.tensor([count])])
    x = graph.constant(large)
    graph.refuses_node(INVALID_ARGUMENT, CONSTANTS, "relu_fwd_f32", [x], [graph.tensor([count + 1])])
    if not graph.double.is_1_5:
        in_section = graph.constant(large, graph.section(persistent=False, const=True))
        graph.node("relu_fwd_f32", [in_section], [graph.tensor([count + 1])])


@synapse_graph.only_1_18
def test_const_sections_hold_constants(graph: Graph) -> None:
    section = graph.section(const=True)
    x = graph.tensor([2, 3], name="x", section=section)
    graph.refuses_node(INVALID_ARGUMENT, PROPERTIES, "relu_fwd_f32", [x], [graph.tensor([2, 3])])
    graph.set_data(x, np.zeros((3, 2), np.float32))
    assert relu(graph, x)[0] == SUCCESS


def test_groups(graph: Graph) -> None:
    section = graph.section()
    graph.double.ok("synSectionSetGroup", section, 255)
    graph.double.refuses(INVALID_ARGUMENT, SECTIONS, "synSectionSetGroup", section, 256)


def test_persistent_sections_are_not_read_modify_write(graph: Graph) -> None:
    double = graph.double
    persistent = graph.section()
    double.refuses(synapse_graph.UNSUPPORTED, SECTIONS, "synSectionSetRMW", persistent, True)
    workspace = graph.section(persistent=False)
    double.ok("synSectionSetRMW", workspace, True)
    double.refuses(synapse_graph.UNSUPPORTED, SECTIONS, "synSectionSetPersistent", workspace, True)


def test_sections_with_tensors_are_not_destroyed(graph: Graph) -> None:
    section = graph.section()
    x = graph.tensor([2], name="x", section=section)
    graph.double.refuses(INVALID_ARGUMENT, SECTIONS, "synSectionDestroy", section)
    graph.double.ok("synTensorDestroy", x)
    graph.double.ok("synSectionDestroy", section)


def test_section_descriptors(graph: Graph) -> None:
    created = ctypes.byref(ctypes.c_void_p())
    graph.double.refuses(INVALID_ARGUMENT, None, "synSectionCreate", created, 1, graph.handle)


def test_tensor_kinds(graph: Graph) -> None:
    created = ctypes.byref(ctypes.c_void_p())
    graph.double.refuses(INVALID_ARGUMENT, None, "synTensorHandleCreate", created, graph.handle, 7, b"x")
    dynamic = graph.bare(kind=3)
    graph.set_sizes(dynamic, [2, 3])
    graph.set_type(dynamic, np.float32)
    assert relu(graph, dynamic)[0] == synapse_graph.UNSUPPORTED
