"""Launches of the Synapse double: tensors, addresses and workspace (rule 18), guard bytes, recipes in flight."""

from __future__ import annotations

import ctypes
import pathlib

import numpy as np
import pytest

from tests.gaudi import synapse_graph, synapse_library
from tests.gaudi.synapse_graph import Graph, LaunchTensor, Machine, Recipe
from tests.gaudi.synapse_library import INVALID_ARGUMENT, Double

SECTION = synapse_graph.FAILED_SECTION_VALIDATION
TENSOR = synapse_graph.INVALID_TENSOR_PROPERTIES


@pytest.fixture
def machine(double: Double, device: int) -> Machine:
    return Machine(double, device)


class Sum:
    """c = relu(a + b); a and b are neighbours in one section, the sum lies in the workspace."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        graph = Graph(machine.double)
        section = graph.section()
        a = graph.tensor([32], name="a", section=section)
        b = graph.tensor([32], name="b", section=section, offset=128)
        between = graph.tensor([32])
        graph.node("add_fwd_f32", [a, b], [between])
        graph.node("relu_fwd_f32", [between], [graph.persistent("c", [32])])
        self.recipe: Recipe = graph.compile("sum")
        self.base = machine.allocate(256)
        self.result = machine.allocate(128)
        self.addresses = {"a": self.base, "b": self.base + 128, "c": self.result}
        self.workspace = machine.workspace(self.recipe)

    def tensors(self, **changed: int) -> list[LaunchTensor]:
        return self.recipe.tensors({**self.addresses, **changed})

    def refuses(self, status: int, tensors: list[LaunchTensor], workspace: int | None = None) -> str:
        workspace = self.workspace if workspace is None else workspace
        return self.recipe.refuses_launch(status, self.machine.compute, tensors, workspace)

    def launch(self, tensors: list[LaunchTensor] | None = None) -> None:
        self.recipe.launch(self.machine.compute, self.tensors() if tensors is None else tensors, self.workspace)
        self.machine.double.ok("synStreamSynchronize", self.machine.compute)


@pytest.fixture
def add(machine: Machine) -> Sum:
    return Sum(machine)


def test_every_tensor_once(add: Sum) -> None:
    tensors = add.tensors()
    assert "c is missing" in add.refuses(TENSOR, tensors[:2])
    add.refuses(TENSOR, [])
    assert "twice" in add.refuses(TENSOR, [*tensors, tensors[0]])
    add.launch(tensors)
    add.launch(tensors[::-1])


def test_ids(add: Sum) -> None:
    if add.machine.double.is_1_5:
        assert "no persistent tensor d" in add.refuses(TENSOR, [*add.tensors(), LaunchTensor("d", 0, add.base)])
        return
    tensors = add.tensors()
    add.refuses(TENSOR, [*tensors, LaunchTensor("c", 1, add.result)])
    # Unknown ids are skipped; names do not matter.
    add.launch([*tensors, LaunchTensor("c", synapse_graph.INVALID_ID, 1)])
    add.launch([LaunchTensor("?", tensor.number, tensor.address) for tensor in tensors])


def test_flags(add: Sum) -> None:
    double = add.machine.double
    array = synapse_graph.launch_array(double, add.tensors())
    arguments = ("synLaunch", add.machine.compute, array, 3, add.workspace, add.recipe.handle, 2)
    double.refuses(INVALID_ARGUMENT, None, *arguments)


def test_names(add: Sum) -> None:
    tensors = [LaunchTensor(name, 0, address) for name, address in add.addresses.items()]
    add.recipe.launch(add.machine.compute, tensors, add.workspace, synapse_graph.FIND_BY_NAME)
    unknown = [*tensors[:2], LaunchTensor("d", 0, add.result)]
    add.recipe.refuses_launch(TENSOR, add.machine.compute, unknown, add.workspace, synapse_graph.FIND_BY_NAME)


def test_sizes_and_kinds(add: Sum) -> None:
    def changed(sizes: list[int], kind: int = 0) -> list[LaunchTensor]:
        tensors = add.tensors()
        tensors[0].sizes, tensors[0].kind = sizes, kind
        return tensors

    add.refuses(TENSOR, changed([31]))
    add.refuses(TENSOR, changed([32, 2]))
    add.refuses(TENSOR, changed([], kind=1))
    add.launch(changed([32]))
    add.launch(changed([]))


def test_addresses_of_one_section_agree(add: Sum) -> None:
    assert "by another tensor's" in add.refuses(SECTION, add.tensors(b=add.base + 129))
    add.refuses(SECTION, add.tensors(b=add.base))
    add.refuses(SECTION, add.tensors(a=64, b=64))
    add.launch(add.tensors())


def test_address_0(add: Sum) -> None:
    assert "address 0" in add.refuses(SECTION, add.tensors(c=0))
    add.refuses(SECTION, add.tensors(a=0, b=0))
    # Another tensor of the section has an address.
    add.launch(add.tensors(b=0))
    add.launch(add.tensors(a=0))


def test_overlaps(add: Sum) -> None:
    double = add.machine.double
    assert "overlaps" in add.refuses(SECTION, add.tensors(c=add.base))
    add.refuses(SECTION, add.tensors(c=add.base + 128))
    add.refuses(SECTION, add.tensors(), workspace=add.result)
    whole = add.machine.allocate(1024)
    add.refuses(SECTION, add.tensors(a=whole, b=whole + 128, c=whole + 128))
    neighbours = add.tensors(a=whole, b=whole + 128, c=whole + 256)
    add.recipe.launch(add.machine.compute, neighbours, whole + 384)
    double.ok("synStreamSynchronize", add.machine.compute)


def test_a_setting_allows_overlaps(add: Sum) -> None:
    double = add.machine.double
    double.ok("synConfigurationSet", b"ENABLE_EXPERIMENTAL_FLAGS", b"true")
    double.ok("synConfigurationSet", b"CHECK_SECTION_OVERLAP_CHECK", b"false")
    add.launch(add.tensors(c=add.base))
    double.ok("synConfigurationSet", b"CHECK_SECTION_OVERLAP_CHECK", b"true")
    add.refuses(SECTION, add.tensors(c=add.base))


def test_ranges_are_inside_one_allocation(add: Sum) -> None:
    short = add.machine.allocate(255)
    assert "inside one allocation" in add.refuses(SECTION, add.tensors(a=short, b=short + 128))
    fits = add.machine.allocate(256)
    add.launch(add.tensors(a=fits, b=fits + 128))
    add.machine.double.ok("synDeviceFree", add.machine.device, fits, 0)
    add.refuses(SECTION, add.tensors(a=fits, b=fits + 128))
    add.refuses(SECTION, add.tensors(c=0x1000))


def test_workspace(add: Sum) -> None:
    add.refuses(SECTION, add.tensors(), workspace=0)
    add.refuses(SECTION, add.tensors(), workspace=add.machine.allocate(127))
    add.launch()


def test_alignment(add: Sum) -> None:
    whole = add.machine.allocate(1024)
    for shift in (1, 64, 127):
        base = whole + shift
        assert "not aligned" in add.refuses(SECTION, add.tensors(a=base, b=base + 128))
        add.refuses(SECTION, add.tensors(), workspace=base)
    base = whole + 128
    add.launch(add.tensors(a=base, b=base + 128))


def test_tensors_without_bytes_need_no_address(machine: Machine) -> None:
    graph = Graph(machine.double)
    graph.node("relu_fwd_f32", [graph.persistent("x", [0, 2])], [graph.persistent("y", [0, 2])])
    recipe = graph.compile()
    recipe.launch(machine.compute, recipe.tensors({"x": 0, "y": 0}))
    machine.double.ok("synStreamSynchronize", machine.compute)


def test_device_type(machine: Machine) -> None:
    other = "gaudi2" if machine.double.is_1_5 else "gaudi"
    graph = Graph(machine.double, other)
    graph.node("relu_fwd_f32", [graph.persistent("x", [2])], [graph.persistent("y", [2])])
    recipe = graph.compile()
    tensors = recipe.tensors({"x": machine.allocate(8), "y": machine.allocate(8)})
    recipe.refuses_launch(synapse_graph.DEVICE_TYPE_MISMATCH, machine.compute, tensors)


def test_launches_need_streams_for_launches(add: Sum) -> None:
    double = add.machine.double
    array = synapse_graph.launch_array(double, add.tensors())
    arguments = ("synLaunch", add.machine.to_device, array, 3, add.workspace, add.recipe.handle, 0)
    if double.is_1_5:
        double.refuses(INVALID_ARGUMENT, None, *arguments)
    else:
        double.ok(*arguments)
    double.refuses(INVALID_ARGUMENT, 2, "synLaunch", None, array, 3, add.workspace, add.recipe.handle, 0)
    double.refuses(INVALID_ARGUMENT, 2, "synLaunch", add.machine.compute, array, 3, add.workspace, None, 0)


def test_ids_after_deserialising(add: Sum, tmp_path: pathlib.Path) -> None:
    double = add.machine.double
    read = add.recipe.serialized(tmp_path / "recipe")
    stale = add.tensors()
    if double.is_1_5:
        read.launch(add.machine.compute, stale, add.workspace)  # names stay
        return
    read.refuses_launch(TENSOR, add.machine.compute, stale, add.workspace)
    read.launch(add.machine.compute, read.tensors(add.addresses), add.workspace)
    double.ok("synStreamSynchronize", add.machine.compute)


@pytest.mark.parametrize("strict", [False, True])
def test_guard_bytes(double: Double, monkeypatch: pytest.MonkeyPatch, strict: bool) -> None:
    def child(guard: bytes) -> None:
        monkeypatch.setenv("SYNAPSE_DOUBLE_GUARD_BYTES", "1" if strict else "0")
        double.ok("synInitialize")
        add = Sum(Machine(double, double.acquire()))
        array = synapse_graph.launch_array(double, add.tensors(), guard)
        double.ok("synLaunch", add.machine.compute, array, 3, add.workspace, add.recipe.handle, 0)
        double.ok("synStreamSynchronize", add.machine.compute)

    code, log = synapse_library.in_child(lambda: child(synapse_graph.GUARD))
    assert code == 0, log
    code, log = synapse_library.in_child(lambda: child(bytes(16)))
    assert (code != 0) == strict
    assert ("rule 23" in log) == strict


@pytest.mark.parametrize("empty", ["0", "1"])
def test_empty_launches_check_nothing(double: Double, monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    def child() -> None:
        monkeypatch.setenv("SYNAPSE_DOUBLE_EMPTY_LAUNCH", empty)
        double.ok("synInitialize")
        add = Sum(Machine(double, double.acquire()))
        status = double.call("synLaunch", add.machine.compute, None, 0, 0, add.recipe.handle, 0)
        assert (status == 0) == (empty == "1")

    code, log = synapse_library.in_child(child)
    assert code == 0, log


def test_launches_without_tensors(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    def child() -> None:
        monkeypatch.setenv("SYNAPSE_DOUBLE_GUARD_BYTES", "1")
        double.ok("synInitialize")
        machine = Machine(double, double.acquire())
        graph = Graph(double)
        graph.node("relu_fwd_f32", [graph.constant(np.ones(2, np.float32))], [graph.tensor([2])])
        recipe = graph.compile()
        workspace = machine.workspace(recipe)
        double.ok("synLaunch", machine.compute, None, 0, workspace, recipe.handle, 0)
        double.ok("synStreamSynchronize", machine.compute)
        arguments = (machine.compute, None, 1, workspace, recipe.handle, 0)
        assert double.call("synLaunch", *arguments) == INVALID_ARGUMENT

    code, log = synapse_library.in_child(child)
    assert code == 0, log


def test_freed_memory_of_a_launch(double: Double, gate: pathlib.Path) -> None:
    """Freeing memory of a pending launch breaks a rule."""

    def child() -> None:
        double.ok("synInitialize")
        add = Sum(Machine(double, double.acquire()))
        gate.touch()
        add.recipe.launch(add.machine.compute, add.tensors(), add.workspace)
        double.ok("synDeviceFree", add.machine.device, add.result, 0)

    code, log = synapse_library.in_child(child)
    assert code != 0
    assert "rule 20" in log


def test_guard_bytes_of_single_structs(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    def child(guard: bytes) -> None:
        monkeypatch.setenv("SYNAPSE_DOUBLE_GUARD_BYTES", "1")
        double.ok("synInitialize")
        graph = Graph(double)
        whole = bytes(synapse_graph.geometry(double, [2]))
        geometry = whole[: whole.index(synapse_graph.GUARD)] + guard
        double.ok("synTensorSetGeometry", graph.bare(), geometry, 1)

    code, log = synapse_library.in_child(lambda: child(synapse_graph.GUARD))
    assert code == 0, log
    # As if the struct of the other release had been passed.
    for guard in (bytes(16), synapse_graph.GUARD[1:] + bytes(1)):
        code, log = synapse_library.in_child(lambda guard=guard: child(guard))  # type: ignore[misc]
        assert code != 0
        assert "rule 23" in log


def test_recipes_in_flight_are_not_destroyed(double: Double, gate: pathlib.Path) -> None:
    def child(waits: bool) -> None:
        double.ok("synInitialize")
        add = Sum(Machine(double, double.acquire()))
        gate.touch()
        add.recipe.launch(add.machine.compute, add.tensors(), add.workspace)
        if waits:
            gate.unlink()
            double.ok("synStreamSynchronize", add.machine.compute)
        double.ok("synRecipeDestroy", add.recipe.handle)

    code, log = synapse_library.in_child(lambda: child(True))
    assert code == 0, log
    code, log = synapse_library.in_child(lambda: child(False))
    assert code != 0
    assert "rule 20" in log


def test_strict(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    def child() -> None:
        monkeypatch.setenv("SYNAPSE_DOUBLE_STRICT", "abort")
        double.ok("synInitialize")
        graph = Graph(double)
        double.call("synSectionSetGroup", graph.section(), 256)

    code, log = synapse_library.in_child(child)
    assert code != 0
    assert "rule 7" in log


@synapse_graph.only_1_18
def test_external_events(machine: Machine) -> None:
    double = machine.double
    graph = Graph(double)
    x, y, z = (graph.persistent(name, [2]) for name in "xyz")
    double.ok("synTensorSetExternal", y, True)
    graph.node("relu_fwd_f32", [x], [y])
    graph.node("neg_fwd_f32", [y], [z])
    recipe = graph.compile()
    assert recipe.attribute(3) == 1
    order = (ctypes.c_uint64 * 1)()
    double.ok("synTensorExtExtractExecutionOrder", recipe.handle, 1, order)
    assert list(order) == recipe.ids(["y"])
    addresses = {"x": machine.upload(np.array([1, -1], np.float32)), "y": machine.allocate(8), "z": machine.allocate(8)}
    event = double.create_event(machine.device)
    events = (ctypes.c_void_p * 1)(event)
    tensors = recipe.tensors(addresses)
    launch = (
        *("synLaunchWithExternalEvents", machine.compute, synapse_graph.launch_array(double, tensors), 3, 0),
        *(recipe.handle, events, 1, 0),
    )
    double.refuses(INVALID_ARGUMENT, None, *launch)
    wrong = synapse_graph.launch_array(double, tensors[2:])
    double.refuses(INVALID_ARGUMENT, None, "synEventMapTensor", events, 1, wrong, recipe.handle)
    right = synapse_graph.launch_array(double, tensors[1:2])
    double.ok("synEventMapTensor", events, 1, right, recipe.handle)
    double.ok(*launch)
    double.ok("synEventSynchronize", event)
    np.testing.assert_array_equal(machine.download(addresses["y"], [2], np.float32), [1, 0])
