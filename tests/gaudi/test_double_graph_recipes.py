"""Recipes of the Synapse double: attributes, persistent tensors, const sections, files."""

from __future__ import annotations

import ctypes
import pathlib

import numpy as np
import pytest

from tests.gaudi import synapse_graph
from tests.gaudi.kernel_library import BF16
from tests.gaudi.synapse_graph import Graph, Machine, Recipe
from tests.gaudi.synapse_library import FAIL, INVALID_ARGUMENT, Double

HANDLES = 2


@pytest.fixture
def graph(double: Double) -> Graph:
    double.ok("synInitialize")
    return Graph(double)


def add_relu(graph: Graph) -> Recipe:
    """Compiles y = relu(a + b), with the sum in the workspace."""
    a, b = graph.persistent("a", [2, 3]), graph.persistent("b", [2, 1])
    between = graph.tensor([2, 3])
    graph.node("add_fwd_f32", [a, b], [between], name="add")
    graph.node("relu_fwd_f32", [between], [graph.persistent("y", [2, 3])], name="relu")
    return graph.compile("add_relu")


def test_attributes(graph: Graph) -> None:
    recipe = add_relu(graph)
    assert recipe.workspace_size() == 128
    if graph.double.is_1_5:
        assert recipe.attribute(1) == 128
        return
    sizes = [recipe.attribute(number) for number in range(7)]
    assert sizes == [128, 3, 0, 0, 24 + 8 + 24, 0, 128 + 24 + 8 + 24]
    unknown = ctypes.byref(ctypes.c_uint32(7))
    value = ctypes.byref(ctypes.c_uint64())
    graph.double.refuses(INVALID_ARGUMENT, None, "synRecipeGetAttribute", value, unknown, 1, recipe.handle)


def test_no_workspace(graph: Graph) -> None:
    graph.node("relu_fwd_f32", [graph.persistent("x", [2])], [graph.persistent("y", [2])])
    assert graph.compile().workspace_size() == 0


def test_names_and_ids(graph: Graph) -> None:
    recipe = add_relu(graph)
    assert recipe.names() == ["a", "b", "y"]
    ids = recipe.ids(["a", "b", "y"])
    assert len(set(ids)) == 3
    assert synapse_graph.INVALID_ID not in ids
    assert recipe.ids(["y", "no such tensor"]) == [ids[2], synapse_graph.INVALID_ID]


def test_recipes_outlive_their_graph(graph: Graph) -> None:
    recipe = add_relu(graph)
    graph.double.ok("synGraphDestroy", graph.handle)
    assert recipe.names() == ["a", "b", "y"]
    graph.double.ok("synRecipeDestroy", recipe.handle)
    graph.double.refuses(INVALID_ARGUMENT, HANDLES, "synRecipeDestroy", recipe.handle)


@synapse_graph.only_1_18
def test_launch_infos(graph: Graph) -> None:
    double = graph.double
    section = graph.section()
    x = graph.tensor([2, 3], BF16, "x", section, 256)
    double.ok("synTensorSetPermutation", x, ctypes.byref(synapse_graph.permutation(double, [1, 0])))
    graph.node("relu_fwd_bf16", [x], [graph.persistent("y", [2, 3], BF16)])
    recipe = graph.compile()
    count = ctypes.c_uint32()
    double.ok("synTensorRetrieveLaunchAmount", recipe.handle, ctypes.byref(count))
    ids = (ctypes.c_uint64 * count.value)()
    double.ok("synTensorRetrieveLaunchIds", recipe.handle, ids, count.value)
    assert list(ids) == recipe.ids(["x", "y"])
    double.refuses(INVALID_ARGUMENT, None, "synTensorRetrieveLaunchIds", recipe.handle, ids, count.value + 1)
    x_info, y_info = recipe.infos(list(ids))
    assert (x_info.name, x_info.kind, x_info.type) == (b"x", 0, synapse_graph.code(BF16))
    assert list(x_info.max_sizes[: x_info.dims]) == [2, 3]
    assert list(x_info.min_sizes[: x_info.dims]) == [2, 3]
    assert list(x_info.permutation[:2]) == [1, 0]
    assert list(y_info.permutation[:2]) == [0, 1]
    assert (x_info.offset, x_info.is_input, y_info.is_input) == (256, 1, 0)
    assert x_info.section != y_info.section
    unknown = synapse_graph.RetrievedInfo(id=ids[0] + 1)
    arguments = (recipe.handle, 1, ctypes.byref(unknown))
    double.refuses(INVALID_ARGUMENT, None, "synTensorRetrieveLaunchInfoById", *arguments)


def section_property(recipe: Recipe, section: int, which: int) -> int:
    value = ctypes.c_uint64()
    recipe.double.ok("synRecipeSectionGetProp", recipe.handle, section, which, ctypes.byref(value))
    return value.value


@synapse_graph.only_1_18
def test_const_sections(graph: Graph) -> None:
    double = graph.double
    data = np.arange(6, dtype=np.float32).reshape(3, 2)
    constant = graph.tensor([2, 3], name="constant", section=graph.section(const=True))
    graph.set_data(constant, data)
    graph.node("add_fwd_f32", [graph.persistent("x", [2, 3]), constant], [graph.persistent("y", [2, 3])])
    recipe = graph.compile()
    assert recipe.attribute(5) == data.nbytes
    by_name = dict(zip(("constant", "x"), recipe.infos(recipe.ids(["constant", "x"]))))
    const, other = by_name["constant"].section, by_name["x"].section
    assert section_property(recipe, const, 0) == data.nbytes
    assert (section_property(recipe, const, 2), section_property(recipe, other, 2)) == (1, 0)
    held = (ctypes.c_float * 6).from_address(section_property(recipe, const, 1))
    assert list(held) == list(range(6))
    double.ok("synRecipeSectionHostBuffersClear", recipe.handle, (ctypes.c_uint32 * 1)(const), 1)
    for section in (const, other):
        arguments = (recipe.handle, section, 1, ctypes.byref(ctypes.c_uint64()))
        double.refuses(INVALID_ARGUMENT, None, "synRecipeSectionGetProp", *arguments)
    arguments = (recipe.handle, 99, 0, ctypes.byref(ctypes.c_uint64()))
    double.refuses(INVALID_ARGUMENT, None, "synRecipeSectionGetProp", *arguments)


def test_borrowed_constants_are_read_by_compile(graph: Graph) -> None:
    data = np.full(2, 3, np.float32)
    borrowed = graph.tensor([2])
    graph.set_data(borrowed, data, copy=False)
    graph.node("relu_fwd_f32", [borrowed], [graph.persistent("y", [2])])
    recipe = graph.compile()
    data[:] = 5
    machine = Machine(graph.double, graph.double.acquire())
    np.testing.assert_array_equal(machine.run(recipe, {}, {"y": ((2,), np.float32)})["y"], [3, 3])


def test_files(graph: Graph, tmp_path: pathlib.Path) -> None:
    recipe = add_relu(graph)
    read = recipe.serialized(tmp_path / "recipe")
    assert read.names() == recipe.names()
    assert read.workspace_size() == recipe.workspace_size()
    # Ids belong to one handle.
    assert not set(read.ids(read.names())) & set(recipe.ids(recipe.names()))
    recipe.double.ok("synRecipeDestroy", recipe.handle)
    read.serialized(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "recipe").read_bytes()


def test_equal_graphs_make_equal_files(double: Double, tmp_path: pathlib.Path) -> None:
    double.ok("synInitialize")
    for name in ("first", "second"):
        add_relu(Graph(double)).serialized(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_bad_files(graph: Graph, tmp_path: pathlib.Path) -> None:
    double = graph.double
    path = tmp_path / "recipe"
    add_relu(graph).serialized(path)
    whole = path.read_bytes()

    def read_status() -> int:
        return double.call("synRecipeDeSerialize", ctypes.byref(ctypes.c_void_p()), str(path).encode())

    changed = bytearray(whole)
    changed[-20] ^= 1
    for data in (b"", whole[:10], whole[:-1], whole + b"x", bytes(changed), whole.replace(b"double", b"dauble", 1)):
        path.write_bytes(data)
        assert read_status() == FAIL
    path.unlink()
    assert read_status() == FAIL
    recipe = add_relu(Graph(double))
    arguments = (recipe.handle, str(tmp_path / "missing" / "recipe").encode())
    assert double.call("synRecipeSerialize", *arguments) == FAIL


def test_files_of_the_other_release(graph: Graph, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "recipe"
    add_relu(graph).serialized(path)
    other = Double("1.18" if graph.double.is_1_5 else "1.5", graph.double.take_log)
    other.ok("synInitialize")
    status = other.call("synRecipeDeSerialize", ctypes.byref(ctypes.c_void_p()), str(path).encode())
    other.ok("synDestroy")
    assert status == FAIL
