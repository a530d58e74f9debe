"""Emulated modules inside of processes, by their lock files and by what the kernel tells of the processes."""

from __future__ import annotations

import pathlib
import re
import time
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags, modules
from habana_frameworks.tensorflow.monitor.state import Module, Process, State

# Marks of device memory among a process's mappings (plugin/backends/common/reservation.cc): neither inherited nor
# dumped, in huge pages.
_MEMORY_FLAGS = frozenset(("dc", "dd", "hg", "rd", "wr"))
_PROC = pathlib.Path("/proc")


def read() -> State:
    """The emulated modules of this user. What only the processes themselves know stays unknown: launches, copies."""
    held = {holder.module: holder for holder in modules.holders()}
    # Processes may have been started with more modules than this one.
    count = max(flags.emulator_modules(), *(number + 1 for number in held), 1)
    found = tuple(_module(number, held.get(number)) for number in range(count))
    return State("emulator", time.monotonic(), found)


def _module(number: int, holder: modules.Holder | None) -> Module:
    model = flags.device_type()
    if holder is None:
        return Module(number, model, memory_total=flags.memory_mb() << 20, memory_used=0)
    total, used = _memory(holder.pid)
    return Module(
        number,
        model,
        holder=Process(holder.pid, holder.command),
        memory_total=total,
        memory_used=used,
        session=holder.pid or -1,
    )


def _memory(pid: int) -> tuple[int | None, int | None]:
    """Bytes of the process's device memory, and of its pages that were written."""
    for mapping in _mappings(pid):
        if set(mapping.get("VmFlags", "").split()) >= _MEMORY_FLAGS:
            return _kilobytes(mapping["Size"]), _kilobytes(mapping["Rss"])
    return None, None


def _mappings(pid: int) -> Iterator[dict[str, str]]:
    mapping: dict[str, str] = {}
    for line in _text(_PROC / str(pid) / "smaps").splitlines():
        name, _, value = line.partition(":")
        # A mapping begins with its addresses and ends with its flags.
        if re.fullmatch(r"[0-9a-f]+-[0-9a-f]+ .*", name):
            mapping = {}
            continue
        mapping[name] = value.strip()
        if name == "VmFlags":
            yield mapping


def _kilobytes(text: str) -> int:
    return int(text.removesuffix(" kB")) << 10


def _text(path: pathlib.Path) -> str:
    """Empty if the process has ended or belongs to somebody else."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
