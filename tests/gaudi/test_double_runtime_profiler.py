"""Profiler functions of the Synapse double: start, stop, and traces that are read in two steps."""

from __future__ import annotations

import ctypes

from tests.gaudi.synapse_library import DEVICE_TO_DEVICE, FAIL, INVALID_ARGUMENT, Double

TRACE_DEVICE = 3
FORMAT = 1


def test_trace_is_read_in_two_steps(double: Double, device: int) -> None:
    stream = double.create_stream(device, DEVICE_TO_DEVICE)
    address = double.allocate(device, 128)
    size, count = ctypes.c_size_t(), ctypes.c_size_t()
    get = "synProfilerGetTrace"

    def arguments(buffer: ctypes.Array | None) -> tuple[object, ...]:
        return TRACE_DEVICE, device, FORMAT, buffer, ctypes.byref(size), ctypes.byref(count)

    double.ok("synProfilerStart", TRACE_DEVICE, device)
    for _ in range(3):
        double.ok("synMemsetD8Async", address, 0, 1, stream)
    double.ok("synStreamSynchronize", stream)
    double.ok("synProfilerAddCustomMeasurement", b"mark", 1)
    log = double.refuses(FAIL, None, get, *arguments(None))
    assert "stop it first" in log
    double.ok("synProfilerStop", TRACE_DEVICE, device)
    double.ok("synMemsetD8Async", address, 0, 1, stream)
    double.ok("synStreamSynchronize", stream)
    double.ok(get, *arguments(None))
    assert count.value == 4
    buffer = ctypes.create_string_buffer(size.value + 1)
    size.value -= 1
    double.refuses(INVALID_ARGUMENT, None, get, *arguments(buffer))
    size.value += 1
    double.ok(get, *arguments(buffer))
    assert (count.value, buffer[size.value]) == (4, b"\0")
    assert buffer[size.value - 1] != b"\0"


def test_wrong_order_and_arguments(double: Double, device: int) -> None:
    double.refuses(FAIL, None, "synProfilerStop", TRACE_DEVICE, device)
    double.refuses(INVALID_ARGUMENT, None, "synProfilerStart", 0, device)
    double.ok("synProfilerStart", TRACE_DEVICE, device)
    double.refuses(FAIL, None, "synProfilerStart", TRACE_DEVICE, device)
    double.refuses(INVALID_ARGUMENT, None, "synProfilerAddCustomMeasurement", None, 1)


def test_functions_of_1_18(double: Double, device: int) -> None:
    if double.is_1_5:
        assert not hasattr(double.library, "synProfilerGetCurrentTimeNS")
        return
    first = double.new("synProfilerGetCurrentTimeNS", type=ctypes.c_uint64)
    assert double.new("synProfilerGetCurrentTimeNS", type=ctypes.c_uint64) >= first
    double.ok("synProfilerSetUserBuffer", device, None)
    double.ok("synProfilerAddCustomEvent", b"event", 1, 2, None, 0)
    double.refuses(INVALID_ARGUMENT, None, "synProfilerAddCustomEvent", b"event", 2, 1, None, 0)
    required = ctypes.c_uint32(1)
    double.ok("synProfilerQueryRequiredMemory", device, ctypes.byref(required))
    assert required.value == 0
