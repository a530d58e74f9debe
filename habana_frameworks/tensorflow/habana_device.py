"""The device itself: what it is, its memory, waiting for it, events. Calls load the module if that was not done."""

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


@dataclasses.dataclass(frozen=True)
class MemoryInfo:
    """Device memory, in bytes."""

    in_use: int
    peak: int
    limit: int
    # Allocations since the process started: a number, not bytes.
    allocations: int
    # Part of in_use: what is kept for the temporaries of recipes.
    workspace: int


class _Memory(ctypes.Structure):
    _fields_ = [(field.name, ctypes.c_int64) for field in dataclasses.fields(MemoryInfo)]


def get_type() -> str:
    """Model of the device, as "GAUDI2" or "GAUDI HL2000M". Acquires the device."""
    acquire()
    return str(info()["type"])


def device_count() -> int:
    """Modules of this machine, or of the device server; a process holds one of them. Acquires nothing."""
    modules = info()["modules"]
    if modules is None:
        raise DeviceError(14, str(info().get("error", "the backend does not know its modules")))
    return int(modules)


def get_device_name() -> str:
    """The device in words: model, and what stands in for it. Acquires the device."""
    acquire()
    return str(info()["description"])


def info() -> dict[str, Any]:
    """Backend, acquired or not, modules, memory: hpu_device_info in plugin/c_api/c_api.h. Acquires nothing."""
    return dict(c_api.read_json(plugin_library.handle(), "hpu_device_info"))


def memory_info() -> MemoryInfo:
    """Device memory in use, its peak and its limit. Acquires nothing."""
    call = c_api.function(plugin_library.handle(), "hpu_memory_info")
    call.restype = _Memory
    memory = call()
    return MemoryInfo(**{field.name: getattr(memory, field.name) for field in dataclasses.fields(MemoryInfo)})


def reset_peak_memory() -> None:
    """Makes memory_info().peak begin again at what is in use.

    The workspace is given back before: the next launch takes what its recipe needs.
    """
    call = c_api.function(plugin_library.handle(), "hpu_memory_reset_peak")
    call.restype = None
    call()


def acquire() -> None:
    """Acquires a module now instead of at the first use; errors.DeviceError says who holds them if none is free."""
    with _lock:
        c_api.check(plugin_library.handle(), "hpu_acquire")


def synchronize() -> None:
    """Waits for all queued work; raises its first error as errors.DeviceError."""
    c_api.check(plugin_library.handle(), "hpu_synchronize")


class Stream(enum.IntEnum):
    """The queues of the device, each of which runs in order. Few bytes are copied on the compute stream itself."""

    COMPUTE = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2


class Event:
    """A point in a stream's work, which the host and other streams can wait for. Thread safe.

    begin, end = Event(enable_timing=True), Event(enable_timing=True)
    begin.record()
    step(batch)
    end.record()
    print(begin.elapsed_time(end), "ms")

    An event that was not recorded counts as reached. Recording again moves it. Errors of the work before it are raised
    as errors.DeviceError by query(), synchronize() and elapsed_time(). Making one acquires the device.
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
        """Marks the end of the work queued on the stream so far."""
        self._call("hpu_event_record", Stream(stream))

    def wait(self, stream: Stream = Stream.COMPUTE) -> None:
        """Holds later work of the stream back until the event is reached. Returns at once."""
        self._call("hpu_event_wait", Stream(stream))

    def query(self) -> bool:
        """Whether it is reached."""
        reached = ctypes.c_int32()
        self._call("hpu_event_query", ctypes.byref(reached))
        return bool(reached.value)

    def synchronize(self) -> None:
        """Waits until it is reached."""
        self._call("hpu_event_synchronize")

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to `end`, after waiting for both; both must be recorded with enable_timing."""
        milliseconds = ctypes.c_double()
        self._call("hpu_event_elapsed", end._handle, ctypes.byref(milliseconds))
        return milliseconds.value
