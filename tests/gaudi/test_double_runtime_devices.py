"""Devices of the Synapse double: acquire, locks between processes, properties, guard bytes (rules 21 and 23)."""

from __future__ import annotations

import ctypes
import os
import pathlib
import signal
import time
from typing import Any

import pytest

from tests.gaudi import synapse_library
from tests.gaudi.synapse_library import Double

ACQUIRE = 21
LAYOUT = 23
DEVICE_BYTES = 1 << 30


class DeviceInfo(ctypes.Structure):
    _fields_ = (
        ("sram_base_address", ctypes.c_uint64),
        ("dram_base_address", ctypes.c_uint64),
        ("sram_size", ctypes.c_uint32),
        ("dram_size", ctypes.c_uint64),
        ("tpc_enabled_mask", ctypes.c_uint64),
        ("dram_enabled", ctypes.c_uint8),
        ("device_id", ctypes.c_uint32),
        ("fd", ctypes.c_uint32),
        ("device_type", ctypes.c_uint32),
    )


class DeviceInfoV2(ctypes.Structure):
    _fields_ = (*DeviceInfo._fields_, ("device_index", ctypes.c_uint8), ("reserved", ctypes.c_uint64))


def device_type(double: Double, generation: str) -> int:
    numbers = {"gaudi": 0, "gaudi2": 1} if double.is_1_5 else {"gaudi": 2, "gaudi2": 4, "gaudi3": 5}
    return numbers[generation]


def default_type(double: Double) -> int:
    return device_type(double, "gaudi" if double.is_1_5 else "gaudi2")


def new_id() -> Any:
    return ctypes.byref(ctypes.c_uint32())


def acquire_module(double: Double, module: int) -> int:
    return double.call("synDeviceAcquireByModuleId", new_id(), module)


def test_counts(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_DEVICES", "3")
    double.ok("synInitialize")
    assert double.new("synDeviceGetCount", type=ctypes.c_uint32) == 3
    for number in range(8):
        count = double.new("synDeviceGetCountByDeviceType", number, type=ctypes.c_uint32)
        assert count == (3 if number == default_type(double) else 0)
    if double.is_1_5:
        return
    counts = (ctypes.c_uint32 * 8)()
    double.ok("synDeviceCount", counts)
    assert list(counts) == [0, 0, 0, 0, 3, 0, 0, 0]
    modules, size = (ctypes.c_uint32 * 8)(), ctypes.c_uint32(8)
    double.ok("synDeviceGetModuleIDs", modules, ctypes.byref(size))
    assert list(modules)[: size.value] == [0, 1, 2]
    size.value = 2
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synDeviceGetModuleIDs", modules, ctypes.byref(size))


@pytest.mark.parametrize("generation", ["gaudi", "gaudi2", "gaudi3"])
def test_generations(double: Double, monkeypatch: pytest.MonkeyPatch, generation: str) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_GENERATION", generation)
    if double.is_1_5 and generation == "gaudi3":
        code, log = synapse_library.in_child(lambda: double.ok("synInitialize"))
        assert code == -signal.SIGABRT
        assert "a generation that this release knows" in log
        return
    double.ok("synInitialize")
    right = device_type(double, generation)
    wrong = device_type(double, "gaudi2" if generation == "gaudi" else "gaudi")
    assert double.call("synDeviceAcquireByDeviceType", new_id(), wrong) == synapse_library.NO_DEVICE_FOUND
    device = double.new("synDeviceAcquireByDeviceType", right, type=ctypes.c_uint32)
    info = DeviceInfo()
    double.ok("synDeviceGetInfo", device, ctypes.byref(info))
    assert info.device_type == right
    name = ctypes.create_string_buffer(32)
    double.ok("synDeviceGetName", name, len(name), device)
    assert name.value.decode() == f"double of {generation}"


def test_second_device_of_a_process_is_refused(double: Double, device: int) -> None:
    for module in (0, 1):
        double.refuses(synapse_library.ALL_RESOURCES_TAKEN, ACQUIRE, "synDeviceAcquireByModuleId", new_id(), module)
    double.refuses(synapse_library.ALL_RESOURCES_TAKEN, ACQUIRE, "synDeviceAcquire", new_id(), None)
    double.ok("synDeviceRelease", device)
    double.ok("synDeviceAcquireByModuleId", new_id(), 1)


def test_modules_that_do_not_exist(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_DEVICES", "2")
    double.ok("synInitialize")
    assert acquire_module(double, 2) == synapse_library.NO_DEVICE_FOUND
    assert double.call("synDeviceAcquire", new_id(), b"0000:99:00.0") == synapse_library.NO_DEVICE_FOUND
    assert acquire_module(double, 1) == synapse_library.SUCCESS


def test_pci_bus_selects_the_module(double: Double) -> None:
    double.ok("synInitialize")
    device = double.new("synDeviceAcquire", b"0000:35:00.0", type=ctypes.c_uint32)
    if double.is_1_5:
        return
    bus = ctypes.create_string_buffer(13)
    double.ok("synDeviceGetPCIBusId", bus, len(bus), device)
    assert bus.value == b"0000:35:00.0"
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synDeviceGetPCIBusId", bus, 12, device)
    info = DeviceInfoV2()
    double.ok("synDeviceGetInfoV2", device, ctypes.byref(info))
    assert info.device_index == 2


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """Two modules that processes share."""
    monkeypatch.setenv("SYNAPSE_DOUBLE_LOCKS", str(tmp_path))
    monkeypatch.setenv("SYNAPSE_DOUBLE_DEVICES", "2")


def acquire_first(double: Double) -> None:
    double.ok("synInitialize")
    double.acquire()


def test_module_of_another_process_is_refused(double: Double, locks: None) -> None:
    with synapse_library.background(lambda: acquire_first(double)) as child:
        double.ok("synInitialize")
        refused = synapse_library.DEVICE_ALREADY_ACQUIRED
        log = double.refuses(refused, ACQUIRE, "synDeviceAcquireByModuleId", new_id(), 0)
        assert f"module 0 by process {child}" in log
        # The first free device is the other one.
        device = double.acquire()
        double.ok("synDeviceRelease", device)
    # The child ended without a release.
    assert acquire_module(double, 0) == synapse_library.SUCCESS


def test_all_modules_of_other_processes(double: Double, locks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # Acquiring a busy module breaks no rule.
    monkeypatch.setenv("SYNAPSE_DOUBLE_STRICT", "abort")
    with synapse_library.background(lambda: acquire_first(double)):
        with synapse_library.background(lambda: acquire_first(double)):
            double.ok("synInitialize")
            assert double.call("synDeviceAcquire", new_id(), None) == synapse_library.DEVICE_ALREADY_ACQUIRED
        double.ok("synDeviceAcquire", new_id(), None)


def test_release_frees_the_module_for_other_processes(double: Double, locks: None) -> None:
    acquire_first(double)
    double.ok("synDestroy")
    with synapse_library.background(lambda: acquire_first(double)):
        double.ok("synInitialize")
        assert acquire_module(double, 0) == synapse_library.DEVICE_ALREADY_ACQUIRED


def test_forked_child_does_not_hold_the_module(double: Double, locks: None) -> None:
    pipe = os.pipe()

    def acquire_and_fork() -> None:
        acquire_first(double)
        child = os.fork()
        if child == 0:
            signal.pause()
        os.write(pipe[1], child.to_bytes(8, "little"))

    def check_lock() -> bool:
        double.ok("synInitialize")
        status = acquire_module(double, 0)
        double.ok("synDestroy")
        return status == synapse_library.SUCCESS

    with synapse_library.background(acquire_and_fork):
        grandchild = int.from_bytes(os.read(pipe[0], 8), "little")
        assert not check_lock()
    # The grandchild may not have closed the file yet.
    deadline = time.monotonic() + 10
    while not (is_free := check_lock()) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(grandchild, signal.SIGKILL)
    assert is_free


def test_memory_info(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_DEVICE_BYTES", str(DEVICE_BYTES))
    double.ok("synInitialize")
    device = double.acquire()
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    double.ok("synDeviceGetMemoryInfo", device, ctypes.byref(free), ctypes.byref(total))
    assert (free.value, total.value) == (DEVICE_BYTES, DEVICE_BYTES)
    address = double.allocate(device, 1000)
    double.ok("synDeviceGetMemoryInfo", device, ctypes.byref(free), ctypes.byref(total))
    assert free.value == DEVICE_BYTES - 1024
    double.ok("synDeviceFree", device, address, 0)
    double.ok("synDeviceGetMemoryInfo", device, ctypes.byref(free), ctypes.byref(total))
    assert free.value == DEVICE_BYTES


def test_attributes(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_DEVICE_BYTES", str(DEVICE_BYTES))
    double.ok("synInitialize")
    device = double.acquire()
    double.allocate(device, 256)
    count = 12 if double.is_1_5 else 13
    attributes = (ctypes.c_uint32 * count)(*range(count))
    values = (ctypes.c_uint64 * count)()
    double.ok("synDeviceGetAttribute", values, attributes, count, device)
    assert (values[3], values[4]) == (DEVICE_BYTES, DEVICE_BYTES - 256)
    assert values[7] == default_type(double)
    assert list(values[11:]) == ([5] if double.is_1_5 else [128, 8])
    double.ok("synDeviceTypeGetAttribute", values, attributes, count, default_type(double))
    assert values[4] == DEVICE_BYTES
    attributes[0] = count
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synDeviceGetAttribute", values, attributes, count, device)
    if not double.is_1_5:
        attributes[0] = 4
        double.ok("synDeviceGetAttributeByModuleId", values, attributes, 1, 0)
        assert values[0] == DEVICE_BYTES - 256
        double.ok("synDeviceGetAttributeByModuleId", values, attributes, 1, 1)
        assert values[0] == DEVICE_BYTES


def test_guard_bytes_behind_structs(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_GUARD_BYTES", "1")

    def call(function: str, struct: type[ctypes.Structure]) -> None:
        double.ok("synInitialize")
        device = double.acquire()
        guarded = synapse_library.Guarded(struct)
        double.ok(function, device, guarded.pointer)
        guarded.check()
        double.ok("synDestroy")

    assert synapse_library.in_child(lambda: call("synDeviceGetInfo", DeviceInfo))[0] == 0
    code, log = synapse_library.in_child(lambda: call("synDeviceGetInfo", DeviceInfoV2))
    assert code == -signal.SIGABRT
    assert f"rule {LAYOUT}: synDeviceGetInfo: info: no guard bytes" in log
    if not double.is_1_5:
        assert synapse_library.in_child(lambda: call("synDeviceGetInfoV2", DeviceInfoV2))[0] == 0
        assert synapse_library.in_child(lambda: call("synDeviceGetInfoV2", DeviceInfo))[0] == -signal.SIGABRT
