"""State of in-process emulated modules, from their lock files and from /proc."""

from __future__ import annotations

import pathlib
import re
import time
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags, modules
from habana_frameworks.tensorflow._internal import cards
from habana_frameworks.tensorflow.monitor.state import Module, Process, State

# VmFlags that only a mapping of device memory has (plugin/backends/common/reservation.cc): not inherited by children,
# not dumped, huge pages.
_MEMORY_FLAGS = frozenset(("dc", "dd", "hg", "rd", "wr"))
_PROC = pathlib.Path("/proc")


def read() -> State:
    """Returns this user's emulated modules. Counts of launches and copies are None: only the holders have them."""
    held = {holder.module: holder for holder in modules.holders()}
    # Other processes may have a larger HPU_MODULES than this process.
    count = max(cards.modules(), *(number + 1 for number in held), 1)
    found = tuple(_module(number, held.get(number)) for number in range(count))
    return State("emulator", time.monotonic(), found)


def _module(number: int, holder: modules.Holder | None) -> Module:
    model = flags.device_type()
    if holder is None:
        return Module(number, model, memory_total=cards.memory_mb() << 20, memory_used=0)
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
    """Returns the process's device memory and the part that is resident, in bytes; (None, None) if unknown."""
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
    """Reads a file; returns "" if the process has ended or belongs to another user."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
