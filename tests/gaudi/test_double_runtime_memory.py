"""Memory of the Synapse double: allocations, mapped host ranges, copies and fills (rules 19 and 20)."""

from __future__ import annotations

import ctypes
import pathlib
import signal
import threading
from collections.abc import Callable

import pytest

from tests.gaudi import synapse_library
from tests.gaudi.synapse_library import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, INVALID_ARGUMENT, Double

COPIES = 19
IN_FLIGHT = 20
SIZE = 1024


class Memory:
    """A device, its streams and buffers of SIZE bytes on both sides."""

    def __init__(self, double: Double) -> None:
        self.double = double
        double.ok("synInitialize")
        self.device = double.acquire()
        self.streams = {
            direction: double.create_stream(self.device, direction)
            for direction in (HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE)
        }
        self.stream = self.streams[HOST_TO_DEVICE]
        self.address = double.allocate(self.device, SIZE)
        self.host = double.allocate_host(self.device, SIZE)

    def copy(self, source: int, size: int, destination: int, direction: int) -> None:
        self.double.ok("synMemCopyAsync", self.streams[direction], source, size, destination, direction)

    def write(self, data: bytes, address: int | None = None) -> None:
        ctypes.memmove(self.host, data, len(data))
        self.copy(self.host, len(data), self.address if address is None else address, HOST_TO_DEVICE)
        self.double.ok("synStreamSynchronize", self.stream)

    def read(self, address: int | None = None, size: int = SIZE) -> bytes:
        self.copy(self.address if address is None else address, size, self.host, DEVICE_TO_HOST)
        self.double.ok("synStreamSynchronize", self.streams[DEVICE_TO_HOST])
        return ctypes.string_at(self.host, size)


@pytest.fixture
def memory(double: Double) -> Memory:
    return Memory(double)


def test_copies_there_and_back(memory: Memory) -> None:
    data = bytes(i % 251 for i in range(SIZE))
    memory.write(data)
    other = memory.double.allocate(memory.device, SIZE)
    memory.copy(memory.address, SIZE, other, DEVICE_TO_DEVICE)
    memory.double.ok("synDeviceSynchronize", memory.device)
    assert memory.read(other) == data
    assert memory.read(other + 100, 10) == data[100:110]


def test_addresses(double: Double, device: int) -> None:
    addresses = [double.allocate(device, size) for size in (1, 128, 129, 5000)]
    assert all(address % 128 == 0 for address in addresses)
    # Addresses have only the promised alignment, and are not adjacent.
    assert all(address % 256 == 128 for address in addresses)
    assert all(second - first > 4096 for first, second in zip(addresses, addresses[1:]))
    double.ok("synDeviceFree", device, addresses[0], 0)
    assert double.allocate(device, 1) not in addresses


def test_host_cannot_reach_device_memory(double: Double, device: int) -> None:
    address = double.allocate(device, SIZE)

    def read() -> None:
        ctypes.string_at(address, 1)

    code, _ = synapse_library.in_child(read)
    assert code == -signal.SIGSEGV


def test_fresh_memory_is_poison(memory: Memory) -> None:
    assert memory.read() == b"\xbf\x7f" * (SIZE // 2)
    large = memory.double.allocate(memory.device, 20 << 20)
    assert memory.read(large + (9 << 20), 4) == b"\xbf\x7f\xbf\x7f"
    assert ctypes.string_at(memory.double.allocate_host(memory.device, 4), 4) == b"\xbf" * 4
    memory.write(b"abc", large + (9 << 20))
    assert memory.read(large + (9 << 20), 4) == b"abc\x7f"
    again = memory.double.allocate(memory.device, 20 << 20)
    assert memory.read(again + (9 << 20), 4) == b"\xbf\x7f\xbf\x7f"


def test_device_memory_ends(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_DEVICE_BYTES", "4096")
    double.ok("synInitialize")
    device = double.acquire()
    address = ctypes.c_uint64()
    failed = synapse_library.OUT_OF_DEVICE_MEMORY
    for size in (4097, 1 << 40, (1 << 64) - 1):
        assert double.call("synDeviceMalloc", device, size, 0, 0, ctypes.byref(address)) == failed
    first = double.allocate(device, 2048)
    double.allocate(device, 2048)
    assert double.call("synDeviceMalloc", device, 1, 0, 0, ctypes.byref(address)) == failed
    double.ok("synDeviceFree", device, first, 0)
    double.allocate(device, 2047)


def test_wrong_arguments_of_allocations(double: Double, device: int) -> None:
    address, buffer = ctypes.c_uint64(), ctypes.c_void_p()
    for size, requested, flags in ((0, 0, 0), (128, 64, 0), (128, 0, 1)):
        double.refuses(
            *(INVALID_ARGUMENT, None, "synDeviceMalloc"), device, size, requested, flags, ctypes.byref(address)
        )
    double.ok("synDeviceMalloc", device, 128, 1 << 40, 0, ctypes.byref(address))
    for size, flags in ((0, 0), (128, 1)):
        double.refuses(INVALID_ARGUMENT, None, "synHostMalloc", device, size, flags, ctypes.byref(buffer))
    double.refuses(INVALID_ARGUMENT, None, "synHostMalloc", device, 128, 0, None)


def test_wrong_frees(memory: Memory) -> None:
    double, device = memory.double, memory.device
    double.refuses(INVALID_ARGUMENT, None, "synDeviceFree", device, memory.address + 128, 0)
    double.ok("synDeviceFree", device, memory.address, 0)
    double.refuses(INVALID_ARGUMENT, None, "synDeviceFree", device, memory.address, 0)
    double.refuses(INVALID_ARGUMENT, None, "synHostFree", device, memory.host + 1, 0)
    double.refuses(synapse_library.MAPPING_NOT_FOUND, None, "synHostUnmap", device, memory.host)
    double.ok("synHostFree", device, memory.host, 0)
    double.refuses(INVALID_ARGUMENT, None, "synHostFree", device, memory.host, 0)


def test_mapped_memory(memory: Memory) -> None:
    double, device = memory.double, memory.device
    data = ctypes.create_string_buffer(b"mapped", SIZE)
    address = ctypes.addressof(data)
    arguments = (memory.stream, address, SIZE, memory.address, HOST_TO_DEVICE)
    double.refuses(synapse_library.MAPPING_NOT_FOUND, COPIES, "synMemCopyAsync", *arguments)
    double.ok("synHostMap", device, SIZE, address)
    double.ok("synMemCopyAsync", *arguments)
    double.ok("synStreamSynchronize", memory.stream)
    assert memory.read(size=6) == b"mapped"
    double.ok("synHostUnmap", device, address)
    double.refuses(synapse_library.MAPPING_NOT_FOUND, COPIES, "synMemCopyAsync", *arguments)
    double.refuses(synapse_library.MAPPING_NOT_FOUND, None, "synHostUnmap", device, address)


def test_mapped_ranges_do_not_overlap(double: Double, device: int) -> None:
    data = ctypes.create_string_buffer(SIZE)
    middle = ctypes.addressof(data) + 512
    double.ok("synHostMap", device, 128, middle)
    for first, last in ((middle, 128), (middle - 1, 2), (middle + 127, 1), (middle - 10, 500)):
        double.refuses(INVALID_ARGUMENT, None, "synHostMap", device, last, first)
    double.ok("synHostMap", device, 128, middle - 128)
    double.ok("synHostMap", device, 128, middle + 128)


@pytest.mark.parametrize("direction", [HOST_TO_DEVICE, DEVICE_TO_HOST])
def test_host_side_must_be_mapped(memory: Memory, direction: int) -> None:
    def copy(host: int, size: int) -> tuple[int, ...]:
        ends = (host, size, memory.address) if direction == HOST_TO_DEVICE else (memory.address, size, host)
        return memory.streams[direction], *ends, direction

    status, double = synapse_library.MAPPING_NOT_FOUND, memory.double
    double.ok("synMemCopyAsync", *copy(memory.host, SIZE))
    double.ok("synMemCopyAsync", *copy(memory.host + SIZE - 1, 1))
    double.refuses(status, COPIES, "synMemCopyAsync", *copy(memory.host + 1, SIZE))
    double.refuses(status, COPIES, "synMemCopyAsync", *copy(memory.host - 1, 2))
    double.refuses(status, COPIES, "synMemCopyAsync", *copy(memory.host + SIZE, 1))
    # A device address is not a host address.
    double.refuses(status, COPIES, "synMemCopyAsync", *copy(memory.address, 1))


@pytest.mark.parametrize("direction", [HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE])
def test_device_side_must_be_inside_one_allocation(memory: Memory, direction: int) -> None:
    double = memory.double
    other = double.allocate(memory.device, SIZE) if direction == DEVICE_TO_DEVICE else memory.host

    def copy(address: int, size: int) -> tuple[int, ...]:
        ends = (address, size, other) if direction == DEVICE_TO_HOST else (other, size, address)
        return memory.streams[direction], *ends, direction

    double.ok("synMemCopyAsync", *copy(memory.address, SIZE))
    double.ok("synMemCopyAsync", *copy(memory.address + SIZE - 1, 1))
    for address, size in ((memory.address + 1, SIZE), (memory.address - 1, 2), (memory.address + SIZE, 1), (0, 1)):
        double.refuses(INVALID_ARGUMENT, COPIES, "synMemCopyAsync", *copy(address, size))
    double.ok("synDeviceSynchronize", memory.device)
    double.ok("synDeviceFree", memory.device, memory.address, 0)
    double.refuses(INVALID_ARGUMENT, COPIES, "synMemCopyAsync", *copy(memory.address, 1))


def test_copies_of_no_bytes_succeed(memory: Memory) -> None:
    for direction, stream in memory.streams.items():
        memory.double.ok("synMemCopyAsync", stream, 0, 0, 0, direction)
    memory.double.refuses(INVALID_ARGUMENT, None, "synMemCopyAsync", memory.stream, 0, 0, 0, 3)


def test_copies_inside_a_device_do_not_overlap(memory: Memory) -> None:
    stream = memory.streams[DEVICE_TO_DEVICE]
    begin = memory.address
    memory.double.ok("synMemCopyAsync", stream, begin, 512, begin + 512, DEVICE_TO_DEVICE)
    overlapping = (stream, begin, 512, begin + 511, DEVICE_TO_DEVICE)
    memory.double.refuses(INVALID_ARGUMENT, COPIES, "synMemCopyAsync", *overlapping)


def test_several_copies(memory: Memory) -> None:
    memory.write(b"\0" * SIZE)
    ctypes.memmove(memory.host, bytes(range(100)), 100)
    numbers = ctypes.c_uint64 * 3
    sources = numbers(memory.host, memory.host + 50, 0)
    sizes = numbers(10, 20, 0)
    destinations = numbers(memory.address + 20, memory.address, 0)
    arguments = (memory.stream, sources, sizes, destinations, HOST_TO_DEVICE, 3)
    memory.double.ok("synMemCopyAsyncMultiple", *arguments)
    memory.double.ok("synStreamSynchronize", memory.stream)
    assert memory.read(size=30) == bytes(range(50, 70)) + bytes(range(10))
    sizes[2] = 1
    memory.double.refuses(synapse_library.MAPPING_NOT_FOUND, COPIES, "synMemCopyAsyncMultiple", *arguments)
    memory.double.refuses(INVALID_ARGUMENT, None, "synMemCopyAsyncMultiple", *arguments[:2], None, *arguments[3:])


def test_the_seed_selects_the_order_of_copies(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of one call to one address: the last one stays."""
    numbers = ctypes.c_uint64 * 4

    def last(seed: int) -> bytes:
        monkeypatch.setenv("SYNAPSE_DOUBLE_SEED", str(seed))
        memory = Memory(double)
        ctypes.memmove(memory.host, b"abcd", 4)
        sources = numbers(*(memory.host + i for i in range(4)))
        arguments = (sources, numbers(1, 1, 1, 1), numbers(*[memory.address] * 4), HOST_TO_DEVICE, 4)
        double.ok("synMemCopyAsyncMultiple", memory.stream, *arguments)
        double.ok("synStreamSynchronize", memory.stream)
        found = memory.read(size=1)
        double.ok("synDestroy")
        return found

    first = [last(seed) for seed in range(8)]
    assert len(set(first)) > 1
    assert [last(seed) for seed in range(8)] == first


def test_fills(memory: Memory) -> None:
    stream = memory.streams[DEVICE_TO_DEVICE]
    double, begin = memory.double, memory.address
    double.ok("synMemsetD8Async", begin, 0xAB, 3, stream)
    double.ok("synMemsetD16Async", begin + 4, 0x1234, 2, stream)
    double.ok("synMemsetD32Async", begin + 8, 0x89ABCDEF, 1, stream)
    double.ok("synMemsetD8Async", begin + 12, 0, SIZE - 12, stream)
    double.ok("synMemsetD8Async", 0, 0, 0, stream)
    double.ok("synStreamSynchronize", stream)
    assert memory.read(size=14).hex() == "ababab7f34123412efcdab890000"
    double.refuses(INVALID_ARGUMENT, COPIES, "synMemsetD8Async", begin, 0, SIZE + 1, stream)
    double.refuses(INVALID_ARGUMENT, COPIES, "synMemsetD32Async", begin, 0, SIZE // 4 + 1, stream)
    double.refuses(INVALID_ARGUMENT, None, "synMemsetD16Async", begin + 1, 0, 1, stream)
    double.refuses(INVALID_ARGUMENT, None, "synMemsetD32Async", begin, 0, 1 << 62, stream)


def test_sources_are_read_when_the_copy_runs(double: Double, gate: pathlib.Path) -> None:
    memory = Memory(double)
    gate.touch()
    ctypes.memmove(memory.host, b"early", 5)
    memory.copy(memory.host, 5, memory.address, HOST_TO_DEVICE)
    ctypes.memmove(memory.host, b"later", 5)
    gate.unlink()
    double.ok("synStreamSynchronize", memory.stream)
    assert memory.read(size=5) == b"later"


def test_results_arrive_when_the_copy_runs(double: Double, gate: pathlib.Path) -> None:
    memory = Memory(double)
    memory.write(b"data")
    gate.touch()
    ctypes.memmove(memory.host, b"none", 4)
    memory.copy(memory.address, 4, memory.host, DEVICE_TO_HOST)
    assert ctypes.string_at(memory.host, 4) == b"none"
    gate.unlink()
    double.ok("synStreamSynchronize", memory.streams[DEVICE_TO_HOST])
    assert ctypes.string_at(memory.host, 4) == b"data"


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("synDeviceFree", lambda memory: (memory.device, memory.address, 0)),
        ("synHostFree", lambda memory: (memory.device, memory.host, 0)),
        ("synDeviceRelease", lambda memory: (memory.device,)),
        ("synDestroy", lambda memory: ()),
    ],
)
def test_destroying_what_is_in_flight_aborts(
    double: Double, gate: pathlib.Path, function: str, arguments: Callable[[Memory], tuple[int, ...]]
) -> None:
    def run(waits: bool) -> None:
        memory = Memory(double)
        gate.touch()
        memory.copy(memory.host, SIZE, memory.address, HOST_TO_DEVICE)
        if waits:
            gate.unlink()
            double.ok("synStreamSynchronize", memory.stream)
        double.ok(function, *arguments(memory))

    assert synapse_library.in_child(lambda: run(waits=True)) == (0, "")
    code, log = synapse_library.in_child(lambda: run(waits=False))
    assert code == -signal.SIGABRT
    assert f"synapse_double: rule {IN_FLIGHT}: {function}: " in log


@pytest.mark.parametrize("frees_host", [False, True])
def test_a_free_beside_a_copy_aborts_or_comes_first(double: Double, gate: pathlib.Path, frees_host: bool) -> None:
    def run() -> None:
        memory = Memory(double)
        gate.touch()
        for _ in range(200):
            address, host = double.allocate(memory.device, SIZE), double.allocate_host(memory.device, SIZE)
            barrier = threading.Barrier(2)
            copied: list[int] = []

            def copy(host: int, address: int, barrier: threading.Barrier, copied: list[int]) -> None:
                barrier.wait()
                copied.append(double.call("synMemCopyAsync", memory.stream, host, SIZE, address, HOST_TO_DEVICE))

            thread = threading.Thread(target=copy, args=(host, address, barrier, copied))
            thread.start()
            barrier.wait()
            if frees_host:
                double.ok("synHostFree", memory.device, host, 0)
            else:
                double.ok("synDeviceFree", memory.device, address, 0)
            thread.join()
            assert copied != [synapse_library.SUCCESS]

    code, log = synapse_library.in_child(run)
    assert code in (0, -signal.SIGABRT), log


def test_unmapping_what_is_in_flight_aborts(double: Double, gate: pathlib.Path) -> None:
    def run(waits: bool) -> None:
        memory = Memory(double)
        data = ctypes.create_string_buffer(SIZE)
        address = ctypes.addressof(data)
        double.ok("synHostMap", memory.device, SIZE, address)
        gate.touch()
        memory.copy(address, SIZE, memory.address, HOST_TO_DEVICE)
        if waits:
            gate.unlink()
            double.ok("synStreamSynchronize", memory.stream)
        double.ok("synHostUnmap", memory.device, address)

    assert synapse_library.in_child(lambda: run(waits=True)) == (0, "")
    code, log = synapse_library.in_child(lambda: run(waits=False))
    assert code == -signal.SIGABRT
    assert f"synapse_double: rule {IN_FLIGHT}: synHostUnmap: " in log
