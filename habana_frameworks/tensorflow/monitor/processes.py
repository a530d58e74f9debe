"""Processes of this machine: their command lines and open files, from /proc."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Collection

_PROC = pathlib.Path("/proc")


def command(pid: int) -> str:
    """Returns a process's command line; "" for a process of another container."""
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return b" ".join(words).decode(errors="replace").strip()


def openers(files: Collection[str]) -> dict[str, list[int]]:
    """Returns the processes that have each file open, in ascending order. `files`: absolute paths without links.

    Omits processes whose open files this user may not read, such as processes of other users and containers.
    """
    found: dict[str, list[int]] = {file: [] for file in files}
    if not found:
        return found
    for pid in sorted(int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal()):
        for file in _open_files(pid) & found.keys():
            found[file].append(pid)
    return found


def _open_files(pid: int) -> set[str]:
    """Returns the paths that the process has open; empty if this user may not read them."""
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for descriptor in (_PROC / str(pid) / "fd").iterdir():
            with contextlib.suppress(OSError):  # closed since
                found.add(str(descriptor.readlink()))
    return found
