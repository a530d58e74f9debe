"""Emulated modules and the processes that hold them, read from their lock files without taking a lock."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags


@dataclasses.dataclass(frozen=True)
class Holder:
    """A process that holds a module."""

    module: int
    pid: int
    command: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})" if self.command else f"process {self.pid}"


def lock_directory() -> pathlib.Path:
    """Where this user's processes claim modules."""
    configured = flags.emulator_lock_dir()
    if configured:
        return pathlib.Path(configured)
    # The plugin uses /tmp whatever TMPDIR says: all processes of a user must agree.
    return pathlib.Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp", f"hpu-emulator-{os.getuid()}")


def holders() -> list[Holder]:
    """Modules that are held, by number. A file without a lock belongs to a process that has ended."""
    locked = dict(_locked_inodes())
    found = []
    for path in _lock_files(lock_directory()):
        pid = locked.get(path.stat().st_ino)
        if pid is not None:
            found.append(Holder(_module_number(path), pid, _command(pid)))
    return sorted(found, key=lambda holder: holder.module)


def _lock_files(directory: pathlib.Path) -> Iterator[pathlib.Path]:
    if directory.is_dir():
        yield from (path for path in directory.iterdir() if re.search(r"\d", path.name) and path.is_file())


def _module_number(path: pathlib.Path) -> int:
    return int(re.findall(r"\d+", path.name)[-1])


def _locked_inodes() -> Iterator[tuple[int, int]]:
    """Inodes that any process has a lock on, with the process."""
    try:
        lines = pathlib.Path("/proc/locks").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        # "1: FLOCK  ADVISORY  WRITE 1234 08:01:567 0 EOF"; a waiting process's line has "->" after the number.
        fields = line.split()
        if len(fields) >= 6 and fields[1] != "->":
            yield int(fields[5].rsplit(":", 1)[1]), int(fields[4])


def _command(pid: int) -> str:
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""
