"""State of Gaudi cards, read through Gaudi's management library HLML (Python module pyhlml, package habana-pyhlml).

The source of the figures and their units is Gaudi's documentation, "HLML API Reference". pyhlml is not thread-safe.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import importlib
import io
import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from habana_frameworks.tensorflow._internal import gaudi_cards
from habana_frameworks.tensorflow.monitor import processes
from habana_frameworks.tensorflow.monitor.state import (
    Card,
    CardProcess,
    ManagementLibraryError,
    Module,
    Process,
)

# The only path that pyhlml loads.
LIBRARY = "/usr/lib/habanalabs/libhlml.so"
_UNKNOWN_NAME = "Gaudi"
# HLML's index is the number of a device file, so indices have gaps if the driver could not start a card.
_MAX_INDICES = 256
_ON_AIP = 0  # the sensor HLML_TEMPERATURE_ON_AIP
_MODES = {0: "Disabled", 1: "Enabled"}


class Code(enum.IntEnum):
    """hlml_return_t."""

    UNINITIALIZED = 1  # also reported by pyhlml if it cannot load the library
    INVALID_ARGUMENT = 2  # also reported by pyhlml if the library lacks the function
    NOT_SUPPORTED = 3
    ALREADY_INITIALIZED = 5
    NOT_FOUND = 6
    INSUFFICIENT_SIZE = 7
    DRIVER_NOT_LOADED = 9
    TIMEOUT = 10
    AIP_IS_LOST = 15
    MEMORY = 20
    NO_DATA = 21
    UNKNOWN = 49


class _Clock(enum.IntEnum):
    SOC = 0
    TPC = 3


class _Errors(enum.IntEnum):
    CORRECTED = 0
    UNCORRECTED = 1


class _Period(enum.IntEnum):
    VOLATILE = 0
    AGGREGATE = 1


_DRAM = 1  # the location HLML_MEMORY_LOCATION_DRAM
_POLICIES = {"power": 0, "thermal": 1}


def read_cards() -> tuple[Module, ...]:
    """Returns all cards, in the order of their module numbers. Raises ManagementLibraryError.

    A module's number is the card's module id, by which HLS_MODULE_ID and HABANA_VISIBLE_MODULES select it. A lost
    card, whose module id is unknown, has the lowest free number. If HLML knows no module id, or two cards have the same
    module id, all numbers are HLML's indices.
    """
    with _hlml() as hlml:
        driver = _driver_version(hlml)
        readers = list(_readers(hlml))
        openers = processes.openers([file for reader in readers for file in reader.files])
        modules = [
            reader.module(number, driver, [pid for file in reader.files for pid in openers[file]])
            for reader, number in zip(readers, _numbers(readers))
        ]
    return tuple(sorted(modules, key=lambda module: module.id))


@contextlib.contextmanager
def _hlml() -> Iterator[Any]:
    """Yields pyhlml, initialised. Raises its errors as ManagementLibraryError."""
    try:
        with warnings.catch_warnings():
            # pyhlml imports a module that it has deprecated itself.
            warnings.simplefilter("ignore", DeprecationWarning)
            hlml = importlib.import_module("pyhlml")
    except ImportError:
        raise ManagementLibraryError("the Python module pyhlml is missing", "pip install habana-pyhlml") from None
    try:
        is_ours = _initialize(hlml)
        try:
            yield hlml
        finally:
            if is_ours:
                hlml.hlmlShutdown()
    except hlml.HLMLError as error:
        raise _error(error.value) from None


def _initialize(hlml: Any) -> bool:
    """Initialises HLML. Returns False if the program had initialised it before, so that it must stay initialised."""
    try:
        # pyhlml prints to stdout if it cannot load the library.
        with contextlib.redirect_stdout(io.StringIO()):
            hlml.hlmlInit()
    except hlml.HLMLError as error:
        if error.value == Code.UNINITIALIZED:
            raise ManagementLibraryError(
                f"pyhlml cannot load {LIBRARY}",
                "install Gaudi's driver tools (hl-smi needs the same library); in a container, use docker run "
                "--runtime=habana",
                Code.UNINITIALIZED,
            ) from None
        if error.value == Code.ALREADY_INITIALIZED:
            return False
        raise
    return True


def _error(code: int) -> ManagementLibraryError:
    known = next((each for each in Code if each == code), None)
    text = f"HLML: {known.name.lower().replace('_', ' ')}" if known else f"HLML fails with status {code}"
    remedy = gaudi_cards.LOAD_DRIVER if known is Code.DRIVER_NOT_LOADED else gaudi_cards.FIND_FAULT
    return ManagementLibraryError(text, remedy, code)


def _driver_version(hlml: Any) -> str | None:
    try:
        return _text(hlml.hlmlGetDriverVersion())
    except hlml.HLMLError:
        return gaudi_cards.driver_version()


def _readers(hlml: Any) -> Iterator[_Reader]:
    """Yields a reader for each card. Raises HLMLError."""
    count = hlml.hlmlDeviceGetCount()
    found = 0
    for index in range(_MAX_INDICES):
        if found == count:
            return
        handle = None
        try:
            handle = hlml.hlmlDeviceGetHandleByIndex(index)
        except hlml.HLMLError as error:
            if error.value in (Code.NOT_FOUND, Code.INVALID_ARGUMENT):
                continue
            if error.value != Code.AIP_IS_LOST:
                raise
        found += 1
        yield _Reader(hlml, index, handle)


def _numbers(readers: Sequence[_Reader]) -> list[int]:
    """Returns the cards' module numbers, by the rule of read_cards()."""
    known = {reader.module_id for reader in readers if reader.module_id is not None}
    unknown = sum(reader.module_id is None for reader in readers)
    if not known or len(known) + unknown < len(readers):
        return [reader.index for reader in readers]
    free = (number for number in itertools.count() if number not in known)
    return [next(free) if reader.module_id is None else reader.module_id for reader in readers]


class _Reader:
    """Reads one card. A figure is None if the card or HLML does not support it, or if the card is lost."""

    def __init__(self, hlml: Any, index: int, handle: Any) -> None:
        """`handle`: None for a lost card."""
        self._hlml = hlml
        self._handle = handle
        self._is_lost = handle is None
        self.index = index
        self.module_id: int | None = self._call("hlmlDeviceGetModuleID")
        minor = self._call("hlmlDeviceGetMinorNumber")
        # Device files of new and of old drivers.
        names = () if minor is None else (f"accel/accel{minor}", f"hl{minor}")
        self.files = [str(gaudi_cards.DEVICES / name) for name in names]

    def module(self, number: int, driver: str | None, pids: Sequence[int]) -> Module:
        """Returns the module. `pids`: the processes that have the card's device file open."""
        memory = self._call("hlmlDeviceGetMemoryInfo")
        used = [CardProcess(pid, processes.command(pid), None) for pid in pids]
        name = self._call_text("hlmlDeviceGetName") or _UNKNOWN_NAME
        card = self._card(driver, tuple(used))
        return Module(
            number,
            name,
            holder=Process(used[0].pid, used[0].command) if used else None,
            memory_total=memory and memory.total,
            memory_used=memory and memory.used,
            # Evaluated last: any call may find that the card is lost.
            card=dataclasses.replace(card, is_lost=self._is_lost),
        )

    def _card(self, driver: str | None, used_by: tuple[CardProcess, ...]) -> Card:
        rates = self._call("hlmlDeviceGetUtilizationRates")
        pci = self._call("hlmlDeviceGetPCIInfo")
        return Card(
            index=self.index,
            # Uses only bus_id: the offsets of the other fields differ between releases of HLML.
            bus_id=pci and _text(pci.bus_id),
            uuid=self._call_text("hlmlDeviceGetUUID"),
            serial=self._call_text("hlmlDeviceGetSerial"),
            driver_version=driver,
            # HLML may return more than 100 %.
            utilization=rates and min(1.0, rates.aip / 100),
            temperature_celsius=self._call("hlmlDeviceGetTemperature", _ON_AIP),
            power_watts=_watts(self._call("hlmlDeviceGetPowerUsage")),
            power_limit_watts=_watts(self._call("hlmlDeviceGetPowerManagementLimit")),
            processes=used_by,
            figures={name: value for name, value in self._figures() if value is not None},
        )

    def _figures(self) -> Iterator[tuple[str, int | str | None]]:
        """Yields further figures, each with its field name in hl-smi."""
        for errors in _Errors:
            for period in _Period:
                total = self._call("hlmlDeviceGetTotalECCErrors", errors, period)
                yield f"ecc.errors.{errors.name.lower()}.{period.name.lower()}.total", total
                dram = self._call("hlmlDeviceGetMemoryErrorCounter", errors, period, _DRAM)
                kind = "dram" if errors is _Errors.UNCORRECTED else "dram-corrected"
                yield f"ecc.errors.{kind}.{period.name.lower()}.total", dram
        mode = self._call("hlmlDeviceGetECCMode")
        for state in ("current", "pending"):
            yield f"ecc.mode.{state}", mode and _MODES.get(getattr(mode, state))
        for cause, policy in _POLICIES.items():
            violation = self._call("hlmlDeviceGetViolationStatus", policy)
            yield f"stats.violation.{cause}", violation and violation.violation_time
        yield "clocks.current.soc", self._call("hlmlDeviceGetClockInfo", _Clock.SOC)
        yield "clocks.max.soc", self._call("hlmlDeviceGetMaxClockInfo", _Clock.SOC)
        yield "clocks.limit.soc", self._call("hlmlDeviceGetClockLimitInfo", _Clock.SOC)
        yield "clocks.limit.tpc", self._call("hlmlDeviceGetClockLimitInfo", _Clock.TPC)
        yield "pcie.link.gen.current", self._call("hlmlDeviceGetCurrPCIELinkGeneration")
        yield "pcie.link.width.current", self._call("hlmlDeviceGetCurrPCIELinkWidth")

    def _call_text(self, function: str) -> str | None:
        value = self._call(function)
        return None if value is None else _text(value)

    def _call(self, function: str, *arguments: int) -> Any:
        """Calls a function of pyhlml for this card. Returns None if the call fails or pyhlml lacks the function."""
        if self._handle is None or not hasattr(self._hlml, function):
            return None
        try:
            return getattr(self._hlml, function)(self._handle, *map(int, arguments))
        except self._hlml.HLMLError as error:
            self._is_lost |= error.value == Code.AIP_IS_LOST
            return None


def _watts(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
