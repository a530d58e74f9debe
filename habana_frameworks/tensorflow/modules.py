"""Emulated modules and the processes that hold them, read from the lock files without taking a lock."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags


@dataclasses.dataclass(frozen=True)
class Holder:
    """A process that holds a module. pid is 0 until the process has written it to the lock file."""

    module: int
    pid: int
    command: str

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
    """Held modules, sorted by number. Skips unlocked lock files, which ended processes have left behind."""
    locked = set(_locked_inodes())
    found = []
    for module, path in _lock_files():
        try:
            if path.stat().st_ino in locked:
                pid, _, command = path.read_text(errors="replace").partition("\n")
                found.append(Holder(module, int(pid) if pid.isdigit() else 0, command.strip()))
        except OSError:
            continue  # removed in the meantime
    return sorted(found, key=lambda holder: holder.module)


def _lock_files() -> Iterator[tuple[int, pathlib.Path]]:
    directory = lock_directory()
    if directory.is_dir():
        for path in directory.iterdir():
            match = re.fullmatch(r"module-(\d+)", path.name)
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
