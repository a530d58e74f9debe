"""Device queries: type, memory, synchronisation, events. Each call loads the module first if necessary."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import threading
import weakref
from typing import Any

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.errors import DeviceError

_lock = threading.Lock()
# A figure of hpu_memory that the device's library does not report.
_UNKNOWN = -1


@dataclasses.dataclass(frozen=True)
class MemoryInfo:
    """Device memory, in bytes.

    buffers, donated_arguments and kept_arguments are counters, and 0 unless HPU_BACKEND is a PJRT plugin. The
    reported_... fields after them are figures of the plugin's own allocator; None if the plugin does not report them.
    """

    in_use: int
    peak: int
    limit: int
    # Number of allocations since the process started.
    allocations: int
    # Part of in_use: workspace for the temporaries of recipes.
    workspace: int
    # Bytes in use according to the device, or 0 if the device does not count. PJRT plugins include memory of programs.
    reported: int
    # Number of live buffer handles of the plugin.
    buffers: int
    # Arguments of launches so far, such as variables, whose memory the launch has updated in place.
    donated_arguments: int
    # Arguments that a launch could not update in place, because another tensor or a pending read held the old value.
    kept_arguments: int
    # Peak of `reported`.
    reported_peak: int | None
    # Bytes that the plugin may allocate.
    reported_limit: int | None
    # Largest allocation that the free memory can hold now.
    reported_largest_free_block: int | None
    # Bytes that the plugin holds, in use or free.
    reported_pool: int | None
    # Number of the plugin's allocations so far.
    reported_allocations: int | None


def get_type() -> str:
    """Returns the model of the device, such as "GAUDI2" or "GAUDI HL2000M". Acquires the device.

    Programs for Gaudi test the model. So the emulator and PJRT plugins return HPU_DEVICE_TYPE, whatever the device is.
    """
    acquire()
    return str(info()["type"])


def device_count() -> int:
    """Returns the number of modules of this machine or of the device server. Acquires no module."""
    modules = info().get("modules")
    if modules is None:
        raise DeviceError(
            14, str(info().get("error", "this backend does not list its modules: use the emulator or a device server"))
        )
    return int(modules)


def get_device_name() -> str:
    """Returns a description of the device: its model and the backend that provides it. Acquires the device.

    Examples: "emulated GAUDI2, module 0"; "NVIDIA H100 80GB HBM3 by PJRT, module 0".
    """
    acquire()
    return str(info()["description"])


def info() -> dict[str, Any]:
    """Returns backend, acquisition state, modules and memory. Acquires nothing.

    The keys are the fields of DeviceInfo in proto/hpu/report/v1/report.proto; fields without a value are missing.
    """
    message = c_api.read_message(plugin_library.handle(), "hpu_device_info", "DeviceInfo")
    return {field.name: value for field, value in message.ListFields()}


def memory_info() -> MemoryInfo:
    """Returns the device memory in use, its peak and its limit. Acquires nothing."""
    memory = c_api.function(plugin_library.handle(), "hpu_memory_info")()
    values: dict[str, Any] = {field.name: getattr(memory, field.name) for field in dataclasses.fields(MemoryInfo)}
    values.update({name: None for name, value in values.items() if value == _UNKNOWN})
    return MemoryInfo(**values)


def reset_peak_memory() -> None:
    """Resets memory_info().peak to the memory in use.

    Frees the workspace first. The next launch allocates a workspace again.
    """
    c_api.function(plugin_library.handle(), "hpu_memory_reset_peak")()


def acquire() -> None:
    """Acquires a module now instead of at the first use of the HPU.

    Raises errors.DeviceError on failure. If no module is free, the message names the processes that hold the modules.
    """
    with _lock:
        c_api.check(plugin_library.handle(), "hpu_acquire")


def synchronize() -> None:
    """Waits for all queued work. Raises the first error of that work as errors.DeviceError."""
    c_api.check(plugin_library.handle(), "hpu_synchronize")


class Stream(enum.IntEnum):
    """Streams of the device. Each runs in order. Small copies run on the compute stream."""

    COMPUTE = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2


class Event:
    """A point in a stream that the host and other streams can wait for. Thread safe.

    begin, end = Event(enable_timing=True), Event(enable_timing=True)
    begin.record()
    step(batch)
    end.record()
    print(begin.elapsed_time(end), "ms")

    An event that was never recorded counts as reached. Recording an event again moves it. query(), synchronize() and
    elapsed_time() raise errors of preceding work as errors.DeviceError. The constructor acquires the device.
    """

    def __init__(self, enable_timing: bool = False) -> None:
        self._handle = ctypes.c_void_p()
        plugin = plugin_library.handle()
        c_api.check(plugin, "hpu_event_create", int(enable_timing), ctypes.byref(self._handle))
        destroy = c_api.function(plugin, "hpu_event_destroy")
        weakref.finalize(self, destroy, self._handle)

    def _call(self, name: str, *arguments: Any) -> None:
        c_api.check(plugin_library.handle(), name, self._handle, *arguments)

    def record(self, stream: Stream = Stream.COMPUTE) -> None:
        """Records the event after the work queued on the stream so far."""
        self._call("hpu_event_record", Stream(stream))

    def wait(self, stream: Stream = Stream.COMPUTE) -> None:
        """Makes later work of the stream wait for the event. Returns immediately."""
        self._call("hpu_event_wait", Stream(stream))

    def query(self) -> bool:
        """Whether the event is reached."""
        reached = ctypes.c_int32()
        self._call("hpu_event_query", ctypes.byref(reached))
        return bool(reached.value)

    def synchronize(self) -> None:
        """Blocks until the event is reached."""
        self._call("hpu_event_synchronize")

    def elapsed_time(self, end: Event) -> float:
        """Waits for both events and returns the milliseconds from this event to `end`.

        Both events must be recorded and have enable_timing.
        """
        milliseconds = ctypes.c_double()
        self._call("hpu_event_elapsed", end._handle, ctypes.byref(milliseconds))
        return milliseconds.value
