"""Text and JSON output of `hpu smi`."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import Any

from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow.cli.smi.fields import UNKNOWN
from habana_frameworks.tensorflow.cli.smi.sample import Sample, bus_id
from habana_frameworks.tensorflow.monitor import CardProcess, LibraryMemory, Module

_HEADS = ("module", "model", "memory used", "memory", "utilisation", "temperature")


def table_lines(sample: Sample) -> list[str]:
    """Returns one line per module, then the command lines of their processes."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(sample.time))
    rows = [
        (
            str(module.id),
            module.type,
            _size(module.memory_used),
            _size(module.memory_total),
            _percent(sample, module),
            _celsius(sample, module),
            *([_watts(module.card.power_watts)] if module.card else []),
            ",".join(map(str, _pids(module))) or "-",
        )
        for module in sample.modules
    ]
    heads = (*_HEADS, *(["power"] if sample.has_cards else []), "process")
    return [
        f"{when}  HPU_BACKEND={sample.state.backend}{_served(sample)}",
        *text.table(heads, rows),
        *(line for module in sample.modules for line in _process_lines(module)),
        *([] if sample.has_cards else ["Temperatures are emulated."]),
    ]


def print_table(sample: Sample) -> None:
    """Prints table_lines()."""
    print(*table_lines(sample), sep="\n")


def print_list(sample: Sample) -> None:
    """Prints one line per module."""
    for module in sample.modules:
        origin, verb = ("", "used") if module.card else (" emulated,", "held")
        processes = ", ".join(f"process {pid}" for pid in _pids(module))
        state = f"{verb} by {processes}" if processes else "free"
        if module.card and module.card.is_lost:
            state = "lost"
        print(f"module {module.id}: {module.type} ({bus_id(module) or UNKNOWN}),{origin} {state}")


def print_details(sample: Sample) -> None:
    """Prints all details, one block per module."""
    server = sample.state.server
    print(f"backend: {sample.state.backend}{_served(sample)}")
    if server:
        print(f"sessions: {server.sessions_opened} opened, {server.sessions_closed} closed")
        print(f"server's memory on the host: {_size(server.resident_bytes)}")
    for module in sample.modules:
        print(f"\nmodule {module.id} ({bus_id(module) or UNKNOWN})")
        lines = _details(sample, module)
        width = max(map(len, lines)) + 1
        for name, value in lines.items():
            print(f"  {name + ':':<{width}} {value}")
        for process in module.card.processes if module.card else ():
            print(f"  process {process.pid}: {_size(process.memory_used)}, {process.command or UNKNOWN}")
            if process.library_memory:
                print(f"    memory by its plugin: {_library_memory(process.library_memory)}")


def _pids(module: Module) -> list[int]:
    if module.card:
        return [process.pid for process in module.card.processes]
    return [module.holder.pid] if module.holder else []


def _process_lines(module: Module) -> list[str]:
    if module.card:
        lost = [f"module {module.id} is lost; see `hpu doctor`"] if module.card.is_lost else []
        return lost + [line for process in module.card.processes for line in _card_process_lines(module, process)]
    if module.holder:
        return [f"module {module.id} is held by process {module.holder.pid}: {module.holder.command}"]
    return []


def _card_process_lines(module: Module, process: CardProcess) -> list[str]:
    used = f"module {module.id} is used by process {process.pid}"
    lines = [f"{used} ({_size(process.memory_used)}): {process.command or UNKNOWN}"]
    if process.library_memory:
        lines.append(f"  memory by its plugin: {_library_memory(process.library_memory)}")
    return lines


def _library_memory(memory: LibraryMemory) -> str:
    parts = [f"in use {_size(memory.in_use)}", f"peak {_size(memory.peak)}", f"limit {_size(memory.limit)}"]
    if memory.largest_free_block is not None:
        parts.append(f"largest free block {_size(memory.largest_free_block)}")
    return ", ".join(parts)


def _details(sample: Sample, module: Module) -> dict[str, str]:
    if module.card:
        return {
            "model": module.type,
            "uuid": module.card.uuid or UNKNOWN,
            **({"serial": module.card.serial} if module.card.serial else {}),
            "driver": module.card.driver_version or UNKNOWN,
            "memory": f"{_size(module.memory_used)} used of {_size(module.memory_total)}",
            "utilisation": _percent(sample, module),
            "temperature": _celsius(sample, module),
            "power": f"{_watts(module.card.power_watts)} of {_watts(module.card.power_limit_watts)}",
            **{name: str(value) for name, value in module.card.figures.items()},
        }
    lines = {
        "model": f"{module.type} (emulated)",
        "memory": f"{_size(module.memory_used)} used of {_size(module.memory_total)}",
        "utilisation": _percent(sample, module),
        "temperature": f"{_celsius(sample, module)} (emulated)",
    }
    if module.holder is None:
        return {**lines, "process": "none"}
    lines["process"] = f"{module.holder.pid} ({module.holder.command})"
    if module.launches is not None:
        lines["launches"] = str(module.launches)
        lines["copied"] = f"{_size(module.bytes_to_device)} to the device, {_size(module.bytes_to_host)} to the host"
        lines["recipes"] = str(module.recipes)
        lines["streams"] = str(module.streams)
    return lines


def print_json(sample: Sample, one_line: bool) -> None:
    """Prints one JSON object. Unknown values are null."""
    state = sample.state
    report = {
        "backend": state.backend,
        "time": sample.time,
        "server": state.server and dataclasses.asdict(state.server),
        "modules": [_json(sample, module) for module in sample.modules],
    }
    print(json.dumps(report, indent=None if one_line else 2))


def _json(sample: Sample, module: Module) -> dict[str, Any]:
    report = dataclasses.asdict(module)
    card = report.pop("card") or {}
    return {
        **report,
        "bus_id": bus_id(module),
        "utilization": sample.utilizations[module.id],
        "temperature_celsius": sample.celsius(module),
        "temperature_is_emulated": module.card is None,
        **card,
    }


def _served(sample: Sample) -> str:
    server = sample.state.server
    return f" (process {server.pid} serves {server.backend} modules)" if server else ""


def _size(count: int | None) -> str:
    return UNKNOWN if count is None else f"{count >> 20} MiB"


def _celsius(sample: Sample, module: Module) -> str:
    celsius = sample.celsius(module)
    return UNKNOWN if celsius is None else f"{celsius} C"


def _watts(watts: float | None) -> str:
    return UNKNOWN if watts is None else f"{watts:.0f} W"


def _percent(sample: Sample, module: Module) -> str:
    percent = sample.percent(module)
    return UNKNOWN if percent is None else f"{percent} %"
