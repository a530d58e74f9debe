"""Modules and the processes that hold them, read from this user's lock files without taking a lock."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags

# Names of lock files without the module's number (common::Modules::lock_name).
_EMULATED = "module"
_NVIDIA = "cuda"


@dataclasses.dataclass(frozen=True)
class LibraryMemory:
    """Figures of the allocator in a device's library, in bytes. None means that the library does not report them.

    A holder writes them to its lock file about once per second (MemoryStats in plugin/backends/pjrt/client).
    """

    in_use: int
    peak: int | None = None
    limit: int | None = None
    largest_free_block: int | None = None
    pool: int | None = None
    """Memory that the allocator holds, in use or free."""
    allocations: int | None = None
    """Number of allocations so far."""


@dataclasses.dataclass(frozen=True)
class Holder:
    """A process that holds a module. pid is 0 until the process has written it to the lock file."""

    module: int
    pid: int
    command: str
    memory: LibraryMemory | None = None
    """None unless the device is of a PJRT plugin with memory statistics."""

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})"


def lock_directory() -> pathlib.Path:
    """Directory of this user's module locks. The plugin uses the same rule (plugin/backends/common/module_lock.h)."""
    configured = flags.module_lock_dir()
    if configured:
        return pathlib.Path(configured)
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    usable = runtime.startswith("/") and os.access(runtime, os.W_OK | os.X_OK)
    return pathlib.Path(runtime if usable else "/tmp", f"hpu-emulator-{os.geteuid()}")


def holders() -> list[Holder]:
    """Held emulated modules, sorted by number. Skips unlocked lock files, which ended processes have left behind."""
    return _holders(_EMULATED)


def card_holders() -> list[Holder]:
    """Held NVIDIA cards, as holders().

    Omits holders that select cards by UUID in CUDA_VISIBLE_DEVICES: their numbers are not the cards' numbers.
    """
    return _holders(_NVIDIA)


def _holders(lock_name: str) -> list[Holder]:
    locked = set(_locked_inodes())
    found = []
    for module, path in _lock_files(lock_name):
        try:
            if path.stat().st_ino in locked:
                found.append(_holder(module, path.read_text(errors="replace")))
        except OSError:
            continue  # removed in the meantime
    return sorted(found, key=lambda holder: holder.module)


def _holder(module: int, text: str) -> Holder:
    """Parses a lock file: pid, command, status (plugin/base/files/file_lock.h)."""
    pid, command, status = (*text.split("\n"), "", "", "")[:3]
    return Holder(module, int(pid) if pid.isdigit() else 0, command.strip(), _library_memory(status))


def _library_memory(status: str) -> LibraryMemory | None:
    """Parses a holder's status. Ignores unknown figures, which a later release may write."""
    try:
        figures: dict[str, int] = json.loads(status)
        names = [field.name for field in dataclasses.fields(LibraryMemory) if field.name in figures]
        return LibraryMemory(**{name: figures[name] for name in names})
    except (ValueError, TypeError):
        return None  # not written yet, or in_use is missing


def _lock_files(lock_name: str) -> Iterator[tuple[int, pathlib.Path]]:
    directory = lock_directory()
    if directory.is_dir():
        for path in directory.iterdir():
            match = re.fullmatch(rf"{lock_name}-(\d+)", path.name)
            if match:
                yield int(match[1]), path


def _locked_inodes() -> Iterator[int]:
    """Inodes of all locked files on this machine."""
    try:
        lines = pathlib.Path("/proc/locks").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        # "1: FLOCK  ADVISORY  WRITE 1234 08:01:567 0 EOF"; a waiting process's line has "->" after the number.
        fields = line.split()
        if len(fields) >= 6 and fields[1] != "->":
            yield int(fields[5].rsplit(":", 1)[1])
