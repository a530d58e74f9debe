"""Fake of NVML's Python module. FAKE_NVML describes the machine in JSON.

{"driver": "580.65.06", "error": 0, "cards": [H100 of machine.py]}. nvmlInit fails with `error` unless it is 0. A card
does not support figures that its entry lacks.
"""

from __future__ import annotations

import json
import os
import types
from typing import Any

NVML_TEMPERATURE_GPU = 0
_NOT_SUPPORTED = 3
_TEXTS = {3: "Not Supported", 9: "Driver Not Loaded", 18: "Driver/library version mismatch", 15: "GPU is lost"}

Card = dict[str, Any]


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(_TEXTS[value])
        self.value = value


def _machine() -> dict[str, Any]:
    return json.loads(os.environ["FAKE_NVML"])


def _figure(card: Card, name: str) -> Any:
    if name not in card:
        raise NVMLError(_NOT_SUPPORTED)
    return card[name]


def nvmlInit() -> None:
    if error := _machine().get("error"):
        raise NVMLError(error)


def nvmlShutdown() -> None:
    pass


def nvmlSystemGetDriverVersion() -> str:
    return _machine()["driver"]


def nvmlDeviceGetCount() -> int:
    return len(_machine()["cards"])


def nvmlDeviceGetHandleByIndex(index: int) -> Card:
    return {**_machine()["cards"][index], "index": index}


def nvmlDeviceGetName(card: Card) -> str:
    return card["name"]


def nvmlDeviceGetUUID(card: Card) -> str:
    return f"GPU-{card['index']}"


def nvmlDeviceGetPciInfo(card: Card) -> types.SimpleNamespace:
    return types.SimpleNamespace(busId=f"00000000:0{card['index']}:00.0")


def nvmlDeviceGetMemoryInfo(card: Card) -> types.SimpleNamespace:
    used, total = _figure(card, "memory")
    return types.SimpleNamespace(used=used, total=total)


def nvmlDeviceGetUtilizationRates(card: Card) -> types.SimpleNamespace:
    return types.SimpleNamespace(gpu=_figure(card, "gpu"))


def nvmlDeviceGetTemperature(card: Card, sensor: int) -> int:
    assert sensor == NVML_TEMPERATURE_GPU
    return _figure(card, "celsius")


def nvmlDeviceGetPowerUsage(card: Card) -> int:
    return _figure(card, "milliwatts")


def nvmlDeviceGetEnforcedPowerLimit(card: Card) -> int:
    return _figure(card, "limit")


def nvmlDeviceGetComputeRunningProcesses(card: Card) -> list[types.SimpleNamespace]:
    return [types.SimpleNamespace(pid=pid, usedGpuMemory=size) for pid, size in _figure(card, "processes")]
