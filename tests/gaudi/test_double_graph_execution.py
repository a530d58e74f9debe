"""Launches of the Synapse double compute what the graph says, in any order of nodes. Shapes are numpy's."""

from __future__ import annotations

import ctypes
import pathlib
import struct
from collections.abc import Mapping

import numpy as np
import pytest

from tests.gaudi import synapse_graph, synapse_library
from tests.gaudi.kernel_library import BF16, random_array
from tests.gaudi.synapse_graph import Graph, Machine, Recipe
from tests.gaudi.synapse_library import FAIL, SUCCESS, Double
from tests.gaudi.windows import Window, convolution

# Fill of the workspace and of results before a launch.
POISON = 0x7FBF


@pytest.fixture
def machine(double: Double, device: int) -> Machine:
    return Machine(double, device)


@pytest.fixture
def graph(machine: Machine) -> Graph:
    return Graph(machine.double)


def run_one(machine: Machine, recipe: Recipe, inputs: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    return machine.run(recipe, inputs, {"y": (shape, np.float32)})["y"]


def test_gemm(machine: Machine, graph: Graph) -> None:
    a, b, bias = (
        random_array((4, 3), np.float32, 1),
        random_array((3, 5), np.float32, 2),
        random_array((5,), np.float32),
    )
    tensors = [graph.persistent(name, array.shape[::-1]) for name, array in (("a", a), ("b", b), ("bias", bias))]
    graph.node("gemm", tensors, [graph.persistent("y", [5, 4])], synapse_graph.gemm())
    y = run_one(machine, graph.compile(), {"a": a, "b": b, "bias": bias}, (4, 5))
    np.testing.assert_allclose(y, a @ b + bias, rtol=1e-6)


def test_add_with_broadcast(machine: Machine, graph: Graph) -> None:
    a, b = random_array((4, 3), np.float32, 1), random_array((3,), np.float32, 2)
    graph.node(
        "add_fwd_f32", [graph.persistent("a", [3, 4]), graph.persistent("b", [3])], [graph.persistent("y", [3, 4])]
    )
    np.testing.assert_array_equal(run_one(machine, graph.compile(), {"a": a, "b": b}, (4, 3)), a + b)


def test_convolution(machine: Machine, graph: Graph) -> None:
    x, w = random_array((2, 6, 7, 3), np.float32, 1), random_array((2, 3, 3, 4), np.float32, 2)
    window = Window((2, 3), (2, 1), ((0, 1), (1, 1)), (1, 1))
    params = synapse_graph.convolution((3, 2), (1, 2), (1, 1, 0, 1))
    graph.node(
        "spatial_convolution",
        [graph.persistent("x", x.shape[::-1]), graph.persistent("w", w.shape[::-1])],
        [graph.persistent("y", [4, 7, 3, 2])],
        params,
    )
    y = run_one(machine, graph.compile(), {"x": x, "w": w}, (2, 3, 7, 4))
    np.testing.assert_allclose(y, convolution(x, w, window), rtol=1e-5, atol=1e-5)


def test_constants_and_workspace(machine: Machine, graph: Graph) -> None:
    x = random_array((2, 3), np.float32)
    between = graph.tensor([3, 2])
    graph.node("add_fwd_f32", [graph.persistent("x", [3, 2]), graph.constant(np.ones((1,), np.float32))], [between])
    swapped = graph.tensor([2, 3])
    graph.node("transpose", [between], [swapped], synapse_graph.transpose([1, 0]))
    graph.node("reshape", [swapped], [graph.persistent("y", [6])])
    recipe = graph.compile()
    machine.double.ok("synGraphDestroy", graph.handle)
    np.testing.assert_array_equal(run_one(machine, recipe, {"x": x}, (6,)), (x + 1).T.ravel())


def test_deserialised_recipes(machine: Machine, graph: Graph, tmp_path: pathlib.Path) -> None:
    x = random_array((2, 3), np.float32)
    operands = [graph.persistent("x", [3, 2]), graph.constant(np.full((2, 1), 2, np.float32))]
    between = graph.tensor([3, 2])
    graph.node("mult_fwd_f32", operands, [between])
    graph.node("reduce_sum_fwd_f32", [between], [graph.persistent("y", [1, 2])], struct.pack("I", 0))
    recipe = graph.compile()
    read = recipe.serialized(tmp_path / "recipe")
    machine.double.ok("synRecipeDestroy", recipe.handle)
    np.testing.assert_allclose(run_one(machine, read, {"x": x}, (2, 1)), 2 * x.sum(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_updates_in_place(double: Double, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """x += dx, and the norm of the old x: right in all orders that the dependency allows."""
    monkeypatch.setenv("SYNAPSE_DOUBLE_SEED", str(seed))
    double.ok("synInitialize")
    machine = Machine(double, double.acquire())
    graph = Graph(double)
    section = graph.section()
    old, new = (graph.tensor([8], name=name, section=section) for name in ("old", "new"))
    square = graph.tensor([8])
    reader = graph.node("pow2_fwd_f32", [old], [square])
    graph.node("reduce_sum_fwd_f32", [square], [graph.persistent("norm", [1])], struct.pack("I", 0))
    writer = graph.node("add_fwd_f32", [old, graph.persistent("dx", [8])], [new])
    graph.order([reader], [writer])
    recipe = graph.compile()
    x, dx = random_array((8,), np.float32, 1), random_array((8,), np.float32, 2)
    addresses = {"old": machine.upload(x), "dx": machine.upload(dx), "norm": machine.allocate(4)}
    addresses["new"] = addresses["old"]
    for _ in range(4):
        machine.launch(recipe, addresses)
        np.testing.assert_allclose(machine.download(addresses["norm"], [1], np.float32), [(x * x).sum()], rtol=1e-5)
        x = x + dx
        np.testing.assert_array_equal(machine.download(addresses["new"], [8], np.float32), x)


def test_nodes_read_before_they_write(machine: Machine, graph: Graph) -> None:
    section = graph.section()
    x, y = (graph.tensor([3, 3], name=name, section=section) for name in "xy")
    graph.node("transpose", [x], [y], synapse_graph.transpose([1, 0]))
    data = random_array((3, 3), np.float32)
    address = machine.upload(data)
    machine.launch(graph.compile(), {"x": address, "y": address})
    np.testing.assert_array_equal(machine.download(address, (3, 3), np.float32), data.T)


def test_results_are_poisoned_first(machine: Machine, graph: Graph) -> None:
    """A launch that fails leaves no old result."""
    indices = graph.persistent("indices", [1], np.int32)
    x, y, z = graph.persistent("x", [4]), graph.persistent("y", [1]), graph.persistent("z", [4])
    gather = graph.node("gather_fwd_f32", [x, indices], [y], struct.pack("2i", 0, 0), name="gather")
    graph.order([gather], [graph.node("relu_fwd_f32", [x], [z])])
    recipe = graph.compile()
    data = np.arange(4, dtype=np.float32)
    addresses = {
        "x": machine.upload(data),
        "indices": machine.upload(np.array([4], np.int32)),
        "y": machine.allocate(4),
        "z": machine.upload(data),
    }
    machine.double.take_log()
    recipe.launch(machine.compute, recipe.tensors(addresses), machine.workspace(recipe))
    assert machine.double.call("synStreamSynchronize", machine.compute) == FAIL
    log = machine.double.take_log()
    assert "rule -" in log
    assert "node gather" in log
    assert list(machine.download(addresses["z"], [8], np.uint16)) == [POISON] * 8


def test_failures_by_data_break_no_rule(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    def child() -> None:
        monkeypatch.setenv("SYNAPSE_DOUBLE_STRICT", "abort")
        double.ok("synInitialize")
        machine = Machine(double, double.acquire())
        graph = Graph(double)
        tensors = [graph.persistent("x", [4]), graph.persistent("indices", [1], np.int32)]
        graph.node("gather_fwd_f32", tensors, [graph.persistent("y", [1])], struct.pack("2i", 0, 0))
        recipe = graph.compile()
        addresses = {"x": machine.upload(np.zeros(4, np.float32)), "y": machine.allocate(4)}
        for index, status in ((3, SUCCESS), (4, FAIL)):
            addresses["indices"] = machine.upload(np.array([index], np.int32))
            recipe.launch(machine.compute, recipe.tensors(addresses), machine.workspace(recipe))
            assert double.call("synStreamSynchronize", machine.compute) == status

    code, log = synapse_library.in_child(child)
    assert code == 0, log


def test_inputs_are_not_poisoned(machine: Machine, graph: Graph) -> None:
    """A section of an input, a result that shares half of it, and another result."""
    section = graph.section()
    x = graph.tensor([32], name="x", section=section)
    half = graph.tensor([32], name="half", section=section, offset=64)
    apart = graph.tensor([32], name="apart", section=section, offset=256)
    read = graph.tensor([32])
    graph.node("relu_fwd_f32", [x], [read])
    graph.node("neg_fwd_f32", [read], [half])
    graph.node("neg_fwd_f32", [read], [apart])
    base = machine.upload(np.arange(96, dtype=np.float32))
    machine.launch(graph.compile(), {"x": base, "half": base + 64, "apart": base + 256})
    result = machine.download(base, [96], np.float32)
    np.testing.assert_array_equal(result[:16], np.arange(16))
    np.testing.assert_array_equal(result[16:48], -np.arange(32))
    np.testing.assert_array_equal(result[48:64], np.arange(48, 64))
    np.testing.assert_array_equal(result[64:], -np.arange(32))


def test_permutations(machine: Machine, graph: Graph) -> None:
    """A persistent tensor whose memory is in another order."""
    swap = synapse_graph.permutation(machine.double, [1, 0])
    x = graph.persistent("x", [3, 2])
    machine.double.ok("synTensorSetPermutation", x, ctypes.byref(swap))
    graph.node("relu_fwd_f32", [x], [graph.persistent("y", [3, 2])])
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(run_one(machine, graph.compile(), {"x": np.ascontiguousarray(data.T)}, (2, 3)), data)


@synapse_graph.only_1_18
def test_const_sections_are_uploaded_by_the_caller(machine: Machine, graph: Graph) -> None:
    data = np.arange(3, dtype=np.float32)
    constant = graph.tensor([3], name="constant", section=graph.section(const=True))
    graph.set_data(constant, data)
    graph.node("add_fwd_f32", [graph.persistent("x", [3]), constant], [graph.persistent("y", [3])])
    recipe = graph.compile()
    # The launch reads the section's memory, not the recipe.
    result = run_one(machine, recipe, {"x": data, "constant": 10 * data}, (3,))
    np.testing.assert_array_equal(result, 11 * data)


def test_shape_tensors(machine: Machine, graph: Graph) -> None:
    dy, w = random_array((1, 2, 2, 4), np.float32, 1), random_array((1, 1, 3, 4), np.float32, 2)
    graph.node(
        "dedx",
        [graph.persistent("dy", [4, 2, 2, 1]), graph.persistent("w", [4, 3, 1, 1]), graph.shape([3, 2, 2, 1])],
        [graph.persistent("y", [3, 2, 2, 1])],
        synapse_graph.convolution((1, 1)),
    )
    y = run_one(machine, graph.compile(), {"dy": dy, "w": w}, (1, 2, 2, 3))
    np.testing.assert_allclose(y, dy @ w[0, 0].T, rtol=1e-5)


def test_bf16_products_of_f32(machine: Machine, graph: Graph) -> None:
    a, b = random_array((2, 3), BF16, 1), random_array((3, 2), BF16, 2)
    tensors = [graph.persistent(name, array.shape[::-1], BF16) for name, array in (("a", a), ("b", b))]
    graph.node("gemm", tensors, [graph.persistent("y", [2, 2])])
    y = run_one(machine, graph.compile(), {"a": a, "b": b}, (2, 2))
    np.testing.assert_allclose(y, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-6)


@synapse_graph.only_1_18
@pytest.mark.parametrize("deterministic", [False, True])
def test_equal_indices_of_scatters(machine: Machine, monkeypatch: pytest.MonkeyPatch, deterministic: bool) -> None:
    """The last update wins only if the node is deterministic."""
    monkeypatch.setenv("HPU_GAUDI_UNPROVEN", "1")
    graph = Graph(machine.double)
    x, indices, updates = np.zeros(2, np.float32), np.zeros((4, 1), np.int32), np.arange(4, dtype=np.float32)
    operands = [graph.persistent("x", [2]), graph.persistent("i", [1, 4], np.int32), graph.persistent("u", [4])]
    node = graph.node("scatter_nd_onnx_fwd_f32", operands, [graph.persistent("y", [2])])
    machine.double.ok("synNodeSetDeterministic", graph.handle, node, deterministic)
    recipe = graph.compile()
    addresses = {"x": machine.upload(x), "i": machine.upload(indices), "u": machine.upload(updates)}
    addresses["y"] = machine.allocate(8)
    found = set()
    for _ in range(20):
        machine.launch(recipe, addresses)
        found.add(machine.download(addresses["y"], [2], np.float32)[0])
    assert found == {3} if deterministic else len(found) > 1
