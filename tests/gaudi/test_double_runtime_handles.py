"""Handles of the Synapse double: unknown, foreign and destroyed ones are refused (rule 2)."""

from __future__ import annotations

import ctypes

from tests.gaudi import synapse_library
from tests.gaudi.synapse_library import Double

HANDLES = 2


def refuses_handle(double: Double, expected: str, name: str, *arguments: object) -> None:
    log = double.refuses(synapse_library.INVALID_ARGUMENT, HANDLES, name, *arguments)
    assert expected in log


def test_streams(double: Double, device: int) -> None:
    stream = double.create_stream(device)
    double.ok("synStreamSynchronize", stream)
    for function in ("synStreamSynchronize", "synStreamQuery", "synStreamDestroy"):
        refuses_handle(double, "found null", function, None)
        refuses_handle(double, "found a number that is not a handle", function, 0x1234)
        refuses_handle(double, "found a number that is not a handle", function, stream + 1)
        refuses_handle(double, "found a number that is not a handle", function, stream + 16)
    double.ok("synStreamDestroy", stream)
    for function in ("synStreamSynchronize", "synStreamQuery", "synStreamDestroy"):
        refuses_handle(double, "found a destroyed one of kind stream", function, stream)


def test_events(double: Double, device: int) -> None:
    stream = double.create_stream(device)
    event = double.create_event(device)
    double.ok("synEventRecord", event, stream)
    double.ok("synEventSynchronize", event)
    refuses_handle(double, "found one of kind stream", "synEventQuery", stream)
    refuses_handle(double, "found one of kind event", "synStreamQuery", event)
    refuses_handle(double, "found one of kind event", "synEventRecord", event, event)
    double.ok("synEventDestroy", event)
    for function in ("synEventQuery", "synEventSynchronize", "synEventDestroy"):
        refuses_handle(double, "found a destroyed one of kind event", function, event)
    refuses_handle(double, "found a destroyed one of kind event", "synStreamWaitEvent", stream, event, 0)


def test_handles_are_no_memory(double: Double, device: int) -> None:
    stream = double.create_stream(device)

    def child() -> None:
        ctypes.cast(stream, ctypes.POINTER(ctypes.c_uint8))[0]

    code, _ = synapse_library.in_child(child)
    assert code < 0


def test_handles_are_not_used_twice(double: Double, device: int) -> None:
    first = double.create_event(device)
    double.ok("synEventDestroy", first)
    assert double.create_event(device) != first


def test_release_destroys_streams_and_events(double: Double, device: int) -> None:
    stream = double.create_stream(device)
    event = double.create_event(device)
    double.ok("synDeviceRelease", device)
    refuses_handle(double, "a destroyed one of kind stream", "synStreamQuery", stream)
    refuses_handle(double, "a destroyed one of kind event", "synEventQuery", event)


def test_handles_of_the_other_release_are_unknown(double: Double, device: int) -> None:
    for _ in range(3):
        event = double.create_event(device)
    other = synapse_library.Double("1.18" if double.is_1_5 else "1.5", double.take_log)
    other.ok("synInitialize")
    refuses_handle(other, "found a number that is not a handle", "synEventQuery", event)
    other.ok("synDestroy")


def test_device_ids(double: Double, device: int) -> None:
    double.ok("synDeviceSynchronize", device)
    refuses_handle(double, "no device", "synDeviceSynchronize", device + 1)
    refuses_handle(double, "no device", "synDeviceRelease", device + 1)
    refuses_handle(double, "no device", "synDeviceMalloc", 0xFFFFFFFF, 128, 0, 0, ctypes.byref(ctypes.c_uint64()))
    double.ok("synDeviceRelease", device)
    refuses_handle(double, "none is acquired", "synDeviceSynchronize", device)
    # A device that is acquired again has a new id.
    assert double.acquire() != device
