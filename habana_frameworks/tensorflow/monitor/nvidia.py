"""State of NVIDIA cards, read through the driver's library NVML (Python module pynvml, package nvidia-ml-py).

Processes that hold a card as their HPU publish the figures of their PJRT plugin in their lock files.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from habana_frameworks.tensorflow import modules
from habana_frameworks.tensorflow.monitor import processes
from habana_frameworks.tensorflow.monitor.state import (
    Card,
    CardProcess,
    ManagementLibraryError,
    Module,
    Process,
)

Value = TypeVar("Value")

# Codes of NVML's errors.
DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, VERSION_MISMATCH = 9, 12, 18
_INSTALL = "install NVIDIA's driver; in a container `docker run --gpus all`"
_REMEDIES = {
    DRIVER_NOT_LOADED: _INSTALL,
    LIBRARY_NOT_FOUND: _INSTALL,
    VERSION_MISMATCH: "restart the machine: the driver was updated while its old kernel module stayed loaded",
}


def read_cards() -> tuple[Module, ...]:
    """Returns all cards, in NVML's order. Raises ManagementLibraryError."""
    with _nvml() as nvml:
        driver = _text(nvml.nvmlSystemGetDriverVersion())
        readers = [_Reader(nvml, number) for number in range(nvml.nvmlDeviceGetCount())]
        used_by = _with_holders([reader.processes() for reader in readers], modules.card_holders())
        return tuple(reader.module(driver, processes) for reader, processes in zip(readers, used_by))


def _with_holders(
    listed: Sequence[Sequence[CardProcess]], holders: Sequence[modules.Holder]
) -> list[tuple[CardProcess, ...]]:
    """Adds the holders' figures to NVML's processes of each card.

    NVML lists no processes inside a container. A holder that is not listed is added to the card with its module's
    number, with unknown memory on the card.
    """
    memory = {holder.pid: holder.memory for holder in holders}
    pids = {process.pid for each in listed for process in each}
    used_by = []
    for number, each in enumerate(listed):
        known = [dataclasses.replace(process, library_memory=memory.get(process.pid)) for process in each]
        others = [holder for holder in holders if holder.module == number and holder.pid not in {0, *pids}]
        known += [CardProcess(holder.pid, holder.command, None, holder.memory) for holder in others]
        used_by.append(tuple(known))
    return used_by


@contextlib.contextmanager
def _nvml() -> Iterator[Any]:
    """Yields pynvml, initialised. Raises its errors as ManagementLibraryError."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        raise ManagementLibraryError("the Python module pynvml is missing", "pip install nvidia-ml-py") from None
    try:
        nvml.nvmlInit()
        try:
            yield nvml
        finally:
            nvml.nvmlShutdown()
    except nvml.NVMLError as error:
        remedy = _REMEDIES.get(error.value, "see the output of nvidia-smi, and look for Xid in dmesg")
        raise ManagementLibraryError(f"NVML: {error}", remedy, error.value) from None


class _Reader:
    """Reads one card. A figure is None if the card or driver does not support it, or if this user may not read it."""

    def __init__(self, nvml: Any, number: int) -> None:
        self._nvml = nvml
        self._number = number
        self._handle = nvml.nvmlDeviceGetHandleByIndex(number)

    def module(self, driver: str, used_by: tuple[CardProcess, ...]) -> Module:
        nvml, handle = self._nvml, self._handle
        memory = self._figure(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
        rates = self._figure(lambda: nvml.nvmlDeviceGetUtilizationRates(handle))
        power = self._figure(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        limit = self._figure(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle))
        card = Card(
            index=self._number,
            bus_id=_text(nvml.nvmlDeviceGetPciInfo(handle).busId),
            uuid=_text(nvml.nvmlDeviceGetUUID(handle)),
            driver_version=driver,
            utilization=rates and rates.gpu / 100,
            temperature_celsius=self._figure(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
            power_watts=power and power / 1000,
            power_limit_watts=limit and limit / 1000,
            processes=used_by,
        )
        return Module(
            self._number,
            _text(nvml.nvmlDeviceGetName(handle)),
            holder=Process(used_by[0].pid, used_by[0].command) if used_by else None,
            memory_total=memory and memory.total,
            memory_used=memory and memory.used,
            card=card,
        )

    def processes(self) -> tuple[CardProcess, ...]:
        """Processes that compute on the card, sorted by memory, largest first."""
        running = self._figure(lambda: self._nvml.nvmlDeviceGetComputeRunningProcesses(self._handle)) or ()
        found = [CardProcess(process.pid, processes.command(process.pid), process.usedGpuMemory) for process in running]
        return tuple(sorted(found, key=lambda process: (-(process.memory_used or 0), process.pid)))

    def _figure(self, read: Callable[[], Value]) -> Value | None:
        try:
            return read()
        except self._nvml.NVMLError:
            return None


def _text(value: str | bytes) -> str:
    """Converts NVML's text to str, because old releases of pynvml return bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value
