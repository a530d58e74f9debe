"""Fields of `hpu smi -Q`: every name of hl-smi's documentation, plus power.limit, pid and process_name."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import time
from collections.abc import Callable, Sequence

from habana_frameworks.tensorflow._internal import cards
from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.cli.smi.sample import Sample, bus_id
from habana_frameworks.tensorflow.monitor import Module

UNKNOWN = "N/A"
_FORMATS = ("csv", "noheader", "nounits")


@dataclasses.dataclass(frozen=True)
class Field:
    """A field's value and unit. A value of None is printed as N/A."""

    value: Callable[[Sample, Module], object]
    unit: str = ""
    is_emulated: bool = False
    """Whether the value is invented for modules that are not cards."""


def _mebibytes(count: int | None) -> int | None:
    return None if count is None else count >> 20


def _free(module: Module) -> int | None:
    if module.memory_total is None or module.memory_used is None:
        return None
    return module.memory_total - module.memory_used


_KNOWN = {
    "index": Field(lambda _, module: module.card.index if module.card else module.id),
    "module_id": Field(lambda _, module: module.id),
    "bus_id": Field(lambda _, module: bus_id(module)),
    "name": Field(lambda _, module: cards.product_of(module.type)),
    "uuid": Field(lambda _, module: module.card and module.card.uuid),
    "serial": Field(lambda _, module: module.card and module.card.serial),
    "driver_version": Field(lambda _, module: module.card.driver_version if module.card else __version__),
    "timestamp": Field(lambda sample, _: time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(sample.time))),
    "memory.total": Field(lambda _, module: _mebibytes(module.memory_total), "MiB"),
    "memory.used": Field(lambda _, module: _mebibytes(module.memory_used), "MiB"),
    "memory.free": Field(lambda _, module: _mebibytes(_free(module)), "MiB"),
    "utilization.aip": Field(lambda sample, module: sample.percent(module), "%"),
    "temperature.aip": Field(lambda sample, module: sample.celsius(module), "C", is_emulated=True),
    "power.draw": Field(lambda _, module: module.card and module.card.power_watts, "W"),
    "power.limit": Field(lambda _, module: module.card and module.card.power_limit_watts, "W"),
    "pid": Field(lambda _, module: module.holder and module.holder.pid),
    "process_name": Field(lambda _, module: module.holder and module.holder.command),
}
# Figures that only a Gaudi card has, and their units. Emulated modules and other cards print N/A.
_GAUDI_UNITS = {
    **{
        f"ecc.errors.{kind}.{period}.total": ""
        for kind in ("uncorrected", "corrected", "dram", "dram-corrected")
        for period in ("aggregate", "volatile")
    },
    **{f"ecc.mode.{state}": "" for state in ("current", "pending")},
    **{f"stats.violation.{cause}": "" for cause in ("power", "thermal")},
    **{f"clocks.{clock}": "MHz" for clock in ("current.soc", "max.soc", "limit.soc", "limit.tpc")},
    **{f"pcie.link.{figure}.{state}": "" for figure in ("gen", "width", "speed") for state in ("max", "current")},
}


def _gaudi_field(name: str, unit: str) -> Field:
    return Field(lambda _, module: module.card and module.card.figures.get(name), unit)


FIELDS = {**_KNOWN, **{name: _gaudi_field(name, unit) for name, unit in _GAUDI_UNITS.items()}}
"""Fields by name. The source of hl-smi's names is the Gaudi documentation, "System Management Interface Tool"."""


@dataclasses.dataclass(frozen=True)
class Format:
    """Value of --format."""

    header: bool = True
    units: bool = True


def parse(text: str) -> list[str]:
    """Argparse type for a comma-separated list of field names, in any case, as hl-smi accepts them."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in FIELDS:
            nearest = difflib.get_close_matches(name, FIELDS, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"fields: {', '.join(FIELDS)}"
            raise argparse.ArgumentTypeError(f"no field {name!r}; {hint}")
    return names


def parse_format(text: str) -> Format:
    """Argparse type for --format: csv, noheader, nounits, in any order."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in _FORMATS:
            raise argparse.ArgumentTypeError(f"{word!r} is not one of {', '.join(_FORMATS)}")
    return Format(header="noheader" not in words, units="nounits" not in words)


def print_csv(sample: Sample, names: Sequence[str], how: Format, first: bool) -> None:
    """Prints one line per module, and the field names before them if `first`."""
    if how.header and first:
        _print_row([_head(name, sample, how.units) for name in names])
    for module in sample.modules:
        _print_row([_cell(FIELDS[name], sample, module, how.units) for name in names])


def _head(name: str, sample: Sample, units: bool) -> str:
    field = FIELDS[name]
    unit = f" [{field.unit}]" if field.unit and units else ""
    return name + unit + (" (emulated)" if field.is_emulated and not sample.has_cards else "")


def _cell(field: Field, sample: Sample, module: Module, units: bool) -> str:
    value = field.value(sample, module)
    if value is None:
        return UNKNOWN
    return f"{value} {field.unit}" if field.unit and units else str(value)


def _print_row(cells: Sequence[str]) -> None:
    # hl-smi puts a blank after each comma, which csv.writer cannot do.
    print(", ".join(_quoted(cell) for cell in cells))


def _quoted(cell: str) -> str:
    """Quotes a cell according to RFC 4180 if necessary."""
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\n') else cell
