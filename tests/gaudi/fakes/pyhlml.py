"""Fake of the Python module pyhlml, with the functions that the package calls."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from tests.gaudi import hlml_machine
from tests.gaudi.hlml_machine import Figures

# Functions of a card, and the figures that they return.
FIGURES = {
    "hlmlDeviceGetName": "name",
    "hlmlDeviceGetUUID": "uuid",
    "hlmlDeviceGetSerial": "serial",
    "hlmlDeviceGetPCIInfo": "pci_info",
    "hlmlDeviceGetModuleID": "module_id",
    "hlmlDeviceGetMinorNumber": "minor_number",
    "hlmlDeviceGetUtilizationRates": "utilization_rates",
    "hlmlDeviceGetMemoryInfo": "memory_info",
    "hlmlDeviceGetTemperature": "temperature",
    "hlmlDeviceGetPowerUsage": "power_usage",
    "hlmlDeviceGetPowerManagementLimit": "power_management_limit",
    "hlmlDeviceGetECCMode": "ecc_mode",
    "hlmlDeviceGetTotalECCErrors": "total_ecc_errors",
    "hlmlDeviceGetMemoryErrorCounter": "memory_error_counter",
    "hlmlDeviceGetViolationStatus": "violation_status",
    "hlmlDeviceGetClockInfo": "clock_info",
    "hlmlDeviceGetMaxClockInfo": "max_clock_info",
    "hlmlDeviceGetClockLimitInfo": "clock_limit_info",
    "hlmlDeviceGetCurrPCIELinkGeneration": "curr_pcie_link_generation",
    "hlmlDeviceGetCurrPCIELinkWidth": "curr_pcie_link_width",
}
# Fields of the structures that functions return.
_STRUCTURES = {
    "pci_info": ("bus_id",),
    "utilization_rates": ("aip",),
    "memory_info": ("free", "total", "used"),
    "ecc_mode": ("current", "pending"),
    "violation_status": ("reference_time", "violation_time"),
}


class HLMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"HLML Error with code {value}")
        self.value = value


class FakePyhlml(types.ModuleType):
    """The module. `errors` maps functions to the codes with which they fail; `lost` lists indices of lost cards."""

    def __init__(self, cards: Mapping[int, Figures]) -> None:
        """`cards`: figures by index."""
        super().__init__("pyhlml")
        self.cards = cards
        self.errors: dict[str, int] = {}
        self.lost: set[int] = set()
        self.initialized = 0
        self.HLMLError = HLMLError
        for function, figure in FIGURES.items():
            setattr(self, function, self._getter(function, figure))

    def hlmlInit(self) -> None:
        self._check("hlmlInit")
        self.initialized += 1

    def hlmlShutdown(self) -> None:
        self._check("hlmlShutdown")
        self.initialized -= 1

    def hlmlGetDriverVersion(self) -> bytes:
        self._check("hlmlGetDriverVersion")
        return hlml_machine.DRIVER.encode()

    def hlmlDeviceGetCount(self) -> int:
        self._check("hlmlDeviceGetCount")
        return len(self.cards)

    def hlmlDeviceGetHandleByIndex(self, index: int) -> int:
        self._check("hlmlDeviceGetHandleByIndex")
        if index not in self.cards:
            raise HLMLError(hlml_machine.NOT_FOUND)
        return index

    def _getter(self, function: str, figure: str) -> Callable[..., Any]:
        def get(card: int, *arguments: int) -> Any:
            self._check(function)
            if card in self.lost:
                raise HLMLError(hlml_machine.AIP_IS_LOST)
            key = "/".join((figure, *map(str, arguments)))
            if key not in self.cards[card]:
                raise HLMLError(hlml_machine.NOT_SUPPORTED)
            value = self.cards[card][key]
            encoded = value.encode() if isinstance(value, str) else value
            if figure not in _STRUCTURES:
                return encoded
            values = encoded if isinstance(encoded, tuple) else (encoded,)
            return types.SimpleNamespace(**dict(zip(_STRUCTURES[figure], values)))

        return get

    def _check(self, function: str) -> None:
        if code := self.errors.get(function):
            raise HLMLError(code)
