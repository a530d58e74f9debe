"""Streams and events of the Synapse double: order, delays, waits, and streams that fail."""

from __future__ import annotations

import ctypes
import pathlib
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tests.gaudi import synapse_library
from tests.gaudi.synapse_library import (
    BUSY,
    DEVICE_RESET,
    DEVICE_TO_DEVICE,
    DEVICE_TO_HOST,
    EVENT_COLLECT_TIME,
    FAIL,
    HOST_TO_DEVICE,
    INVALID_ARGUMENT,
    SUCCESS,
    Double,
)

IN_FLIGHT = 20
COMPUTE = 3
DELAY_US = 20_000


class Work:
    """A device with a buffer, and streams for fills."""

    def __init__(self, double: Double) -> None:
        self.double = double
        double.ok("synInitialize")
        self.device = double.acquire()
        self.stream = double.create_stream(self.device, DEVICE_TO_DEVICE)
        self.reader = double.create_stream(self.device, DEVICE_TO_HOST)
        self.address = double.allocate(self.device, 128)
        self.host = double.allocate_host(self.device, 128)

    def fill(self, value: int, stream: int | None = None) -> int:
        """Returns the status."""
        return self.double.call("synMemsetD8Async", self.address, value, 1, stream or self.stream)

    def value(self) -> int:
        self.double.ok("synMemCopyAsync", self.reader, self.address, 1, self.host, DEVICE_TO_HOST)
        self.double.ok("synStreamSynchronize", self.reader)
        return ctypes.string_at(self.host, 1)[0]


def test_commands_run_in_order(double: Double) -> None:
    work = Work(double)
    for value in range(200):
        assert work.fill(value) == SUCCESS
    double.ok("synStreamSynchronize", work.stream)
    assert work.value() == 199


def test_query_and_synchronize(double: Double, gate: pathlib.Path) -> None:
    work = Work(double)
    double.returns(SUCCESS, "synStreamQuery", work.stream)
    gate.touch()
    work.fill(1)
    double.returns(BUSY, "synStreamQuery", work.stream)
    gate.unlink()
    double.ok("synStreamSynchronize", work.stream)
    double.returns(SUCCESS, "synStreamQuery", work.stream)


def test_device_waits_for_all_streams(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_MIN_DELAY_US", str(DELAY_US))
    work = Work(double)
    other = double.create_stream(work.device, DEVICE_TO_DEVICE)
    work.fill(1)
    work.fill(2, other)
    double.ok("synDeviceSynchronize", work.device)
    double.returns(SUCCESS, "synStreamQuery", work.stream)
    double.returns(SUCCESS, "synStreamQuery", other)


def test_streams_are_not_ordered_without_events(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_MAX_DELAY_US", "2000")
    work = Work(double)
    other = double.create_stream(work.device, DEVICE_TO_DEVICE)
    seen: set[int] = set()
    deadline = time.monotonic() + 10
    while len(seen) < 2 and time.monotonic() < deadline:
        work.fill(1)
        work.fill(2, other)
        double.ok("synDeviceSynchronize", work.device)
        seen.add(work.value())
    assert seen == {1, 2}


def test_events_order_streams(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_MAX_DELAY_US", "2000")
    work = Work(double)
    other = double.create_stream(work.device, DEVICE_TO_DEVICE)
    event = double.create_event(work.device)
    for _ in range(30):
        work.fill(1)
        double.ok("synEventRecord", event, work.stream)
        double.ok("synStreamWaitEvent", other, event, 0)
        work.fill(2, other)
        double.ok("synStreamSynchronize", other)
        assert work.value() == 2


def test_waits_are_for_the_record_before_them(double: Double) -> None:
    work = Work(double)
    other = double.create_stream(work.device, DEVICE_TO_DEVICE)
    event = double.create_event(work.device)
    double.ok("synEventRecord", event, work.stream)
    double.ok("synEventSynchronize", event)
    double.ok("synStreamWaitEvent", other, event, 0)
    # The later record would make the two streams wait for each other.
    later = double.create_event(work.device)
    double.ok("synEventRecord", later, other)
    double.ok("synStreamWaitEvent", work.stream, later, 0)
    double.ok("synEventRecord", event, work.stream)
    double.ok("synDeviceSynchronize", work.device)


def test_stream_with_work_is_not_destroyed(double: Double, gate: pathlib.Path) -> None:
    work = Work(double)
    gate.touch()
    work.fill(1)
    double.refuses(BUSY, IN_FLIGHT, "synStreamDestroy", work.stream)
    gate.unlink()
    double.ok("synStreamSynchronize", work.stream)
    double.ok("synStreamDestroy", work.stream)


def test_stream_may_be_destroyed_after_its_last_event(double: Double) -> None:
    work = Work(double)
    for _ in range(200):
        stream = double.create_stream(work.device, DEVICE_TO_DEVICE)
        event = double.create_event(work.device)
        double.ok("synEventRecord", event, stream)
        double.ok("synEventSynchronize", event)
        double.ok("synStreamDestroy", stream)
        double.ok("synEventDestroy", event)


@pytest.mark.parametrize("waits", [False, True])
def test_event_in_flight_is_not_destroyed(double: Double, gate: pathlib.Path, waits: bool) -> None:
    def run(synchronizes: bool) -> None:
        work = Work(double)
        event = double.create_event(work.device)
        if not waits:
            gate.touch()
        double.ok("synEventRecord", event, work.stream)
        if waits:
            double.ok("synEventSynchronize", event)
            gate.touch()
            double.ok("synStreamWaitEvent", work.reader, event, 0)
        if synchronizes:
            gate.unlink()
            double.ok("synDeviceSynchronize", work.device)
        double.ok("synEventDestroy", event)

    assert synapse_library.in_child(lambda: run(synchronizes=True)) == (0, "")
    code, log = synapse_library.in_child(lambda: run(synchronizes=False))
    assert code == -signal.SIGABRT
    assert f"synapse_double: rule {IN_FLIGHT}: synEventDestroy: " in log


def test_states_of_an_event(double: Double, gate: pathlib.Path) -> None:
    work = Work(double)
    event = double.create_event(work.device)
    never = synapse_library.NOT_INITIALIZED_OBJECT
    double.refuses(never, None, "synEventQuery", event)
    double.refuses(never, None, "synEventSynchronize", event)
    double.refuses(never, None, "synStreamWaitEvent", work.stream, event, 0)
    for _ in range(2):
        gate.touch()
        double.ok("synEventRecord", event, work.stream)
        double.returns(BUSY, "synEventQuery", event)
        gate.unlink()
        double.ok("synEventSynchronize", event)
        double.returns(SUCCESS, "synEventQuery", event)


def test_elapsed_time(double: Double, gate: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_MIN_DELAY_US", str(DELAY_US))
    work = Work(double)
    start, end, timeless = (double.create_event(work.device, flags) for flags in (EVENT_COLLECT_TIME,) * 2 + (0,))
    elapsed = ctypes.c_uint64()
    arguments = ("synEventElapsedTime", ctypes.byref(elapsed))
    double.refuses(synapse_library.NOT_INITIALIZED_OBJECT, None, *arguments, start, end)
    double.ok("synEventRecord", timeless, work.stream)
    double.ok("synEventRecord", start, work.stream)
    double.ok("synEventSynchronize", start)
    gate.touch()
    double.ok("synEventRecord", end, work.stream)
    double.returns(BUSY, *arguments, start, end)
    gate.unlink()
    double.ok("synEventSynchronize", end)
    double.ok(*arguments, start, end)
    assert DELAY_US * 1000 <= elapsed.value < 60_000_000_000
    double.ok(*arguments, start, start)
    assert elapsed.value == 0
    double.refuses(INVALID_ARGUMENT, None, *arguments, end, start)
    double.refuses(synapse_library.FAILED_TO_COLLECT_TIME, None, *arguments, timeless, end)


def test_wrong_arguments(double: Double, device: int) -> None:
    handle = ctypes.byref(ctypes.c_void_p())
    double.refuses(INVALID_ARGUMENT, None, "synEventCreate", handle, device, 2)
    double.refuses(INVALID_ARGUMENT, None, "synEventCreate", None, device, 0)
    if double.is_1_5:
        double.refuses(INVALID_ARGUMENT, None, "synStreamCreate", handle, device, 5, 0)
        double.refuses(INVALID_ARGUMENT, None, "synStreamCreate", handle, device, 0, 1)
    else:
        double.refuses(INVALID_ARGUMENT, None, "synStreamCreateGeneric", handle, device, 1)


def test_streams_of_1_5_serve_one_engine(double: Double, device: int) -> None:
    address = double.allocate(device, 128)
    host = double.allocate_host(device, 128)
    ends = {
        HOST_TO_DEVICE: (host, 64, address),
        DEVICE_TO_HOST: (address, 64, host),
        DEVICE_TO_DEVICE: (address, 64, address + 64),
    }
    for engine in (HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, COMPUTE):
        stream = double.create_stream(device, engine)
        for direction, copy in ends.items():
            if not double.is_1_5 or direction == engine:
                double.ok("synMemCopyAsync", stream, *copy, direction)
            else:
                double.refuses(INVALID_ARGUMENT, None, "synMemCopyAsync", stream, *copy, direction)
            double.ok("synDeviceSynchronize", device)


def test_affinity(double: Double, device: int) -> None:
    if double.is_1_5:
        assert not hasattr(double.library, "synStreamSetAffinity")
        return
    stream = double.create_stream(device)
    range_ = double.new_from_device("synDeviceGetAffinityMaskRange", device)
    masks = [double.new_from_device("synDeviceGetNextStreamAffinity", device) for _ in range(5)]
    assert masks == [1, 2, 4, 8, 1]
    double.ok("synStreamSetAffinity", device, stream, range_)
    double.ok("synStreamSetAffinity", device, stream, masks[1])
    double.refuses(INVALID_ARGUMENT, None, "synStreamSetAffinity", device, stream, 0)
    double.refuses(INVALID_ARGUMENT, None, "synStreamSetAffinity", device, stream, range_ + 1)
    mask = ctypes.c_uint64()
    arguments = (ctypes.c_uint32(device), ctypes.c_void_p(stream), ctypes.byref(mask))
    double.ok("synStreamGetAffinity", *arguments)
    assert mask.value == masks[1]


@pytest.fixture
def failing(double: Double, monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    """A device whose second command fails."""
    monkeypatch.setenv("SYNAPSE_DOUBLE_FAIL_COMMAND", "2")
    yield Work(double)


def test_failed_command_fails_the_stream_for_good(double: Double, failing: Work) -> None:
    assert failing.fill(1) == SUCCESS
    double.ok("synStreamSynchronize", failing.stream)
    failing.fill(2)
    assert double.call("synStreamSynchronize", failing.stream) == FAIL
    assert "command 2 fails" in double.take_log()
    double.returns(FAIL, "synStreamSynchronize", failing.stream)
    double.returns(FAIL, "synStreamQuery", failing.stream)
    assert failing.fill(3) == FAIL
    assert double.call("synDeviceSynchronize", failing.device) == FAIL
    # Other streams work.
    assert failing.value() == 1
    double.ok("synStreamDestroy", failing.stream)
    double.ok("synDeviceSynchronize", failing.device)


def test_commands_behind_a_failed_one_do_not_run(double: Double, gate: pathlib.Path, failing: Work) -> None:
    gate.touch()
    for value in (1, 2, 3):
        assert failing.fill(value) == SUCCESS
    gate.unlink()
    assert double.call("synStreamSynchronize", failing.stream) == FAIL
    assert failing.value() == 1


def test_events_carry_failures_to_other_streams(double: Double, gate: pathlib.Path, failing: Work) -> None:
    gate.touch()
    other = double.create_stream(failing.device, DEVICE_TO_DEVICE)
    before, behind = double.create_event(failing.device), double.create_event(failing.device)
    assert failing.fill(1) == SUCCESS
    double.ok("synEventRecord", before, failing.stream)
    assert failing.fill(2) == SUCCESS
    double.ok("synEventRecord", behind, failing.stream)
    double.ok("synStreamWaitEvent", other, before, 0)
    double.ok("synStreamWaitEvent", other, behind, 0)
    assert failing.fill(3, other) == SUCCESS
    gate.unlink()
    double.ok("synEventSynchronize", before)
    assert double.call("synEventSynchronize", behind) == FAIL
    assert double.call("synEventQuery", behind) == FAIL
    assert double.call("synStreamSynchronize", other) == FAIL
    assert failing.value() == 1


def test_reset_loses_the_device(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_FAIL_COMMAND", "1")
    monkeypatch.setenv("SYNAPSE_DOUBLE_FAIL_STATUS", str(DEVICE_RESET))
    work = Work(double)
    work.fill(1)
    assert double.call("synStreamSynchronize", work.stream) == DEVICE_RESET
    assert double.call("synStreamSynchronize", work.reader) == DEVICE_RESET
    assert double.call("synDeviceSynchronize", work.device) == DEVICE_RESET
    assert double.call("synDeviceMalloc", work.device, 128, 0, 0, ctypes.byref(ctypes.c_uint64())) == DEVICE_RESET
    assert work.fill(1, work.reader) == DEVICE_RESET
    # A device that is acquired again works.
    double.ok("synDeviceRelease", work.device)
    again = Work(double)
    assert again.fill(5) == SUCCESS
    double.ok("synStreamSynchronize", again.stream)
    assert again.value() == 5


def test_threads_share_streams(double: Double) -> None:
    work = Work(double)
    events = [double.create_event(work.device) for _ in range(4)]

    def run(event: int) -> None:
        for value in range(50):
            assert work.fill(value) == SUCCESS
            assert double.call("synEventRecord", event, work.stream) == SUCCESS
            assert double.call("synEventSynchronize", event) == SUCCESS

    threads = [threading.Thread(target=run, args=(event,)) for event in events]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert work.value() == 49
