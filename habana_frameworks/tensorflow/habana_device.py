"""The device itself: what it is, its memory, waiting for it. Each call loads the module if that was not done."""

from __future__ import annotations

import ctypes
import dataclasses
import threading
from typing import Any

from habana_frameworks.tensorflow import _c_api, library_loader

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


def info() -> dict[str, Any]:
    """What hpu_device_info (plugin/c_api.h) tells: backend, whether acquired, modules, memory. Acquires nothing."""
    return dict(_c_api.read_json(library_loader.plugin(), "hpu_device_info"))


def memory_info() -> MemoryInfo:
    """Device memory in use, its peak and its limit. Acquires nothing."""
    call = _c_api.function(library_loader.plugin(), "hpu_memory_info")
    call.restype = _Memory
    memory = call()
    return MemoryInfo(**{field.name: getattr(memory, field.name) for field in dataclasses.fields(MemoryInfo)})


def reset_peak_memory() -> None:
    """Makes memory_info().peak begin again at what is in use."""
    call = _c_api.function(library_loader.plugin(), "hpu_memory_reset_peak")
    call.restype = None
    call()


def acquire() -> None:
    """Acquires a module now instead of at the first use; errors.DeviceError says who holds them if none is free."""
    with _lock:
        _c_api.check(library_loader.plugin(), "hpu_acquire")


def synchronize() -> None:
    """Waits for all queued work; raises its first error as errors.DeviceError."""
    _c_api.check(library_loader.plugin(), "hpu_synchronize")
