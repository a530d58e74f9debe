"""Processes, descriptors and shared memory of a device server, counted from outside."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import secrets

_VARIABLE = "ATTACKED_SERVER"
_PROC = pathlib.Path("/proc")


class Marker:
    """Environment variable that identifies a server's processes independently of their parents.

    Only root can read the environment of session processes. Other users identify them by the process tree.
    """

    def __init__(self) -> None:
        self.environment = {_VARIABLE: secrets.token_hex(8)}
        self._entry = f"{_VARIABLE}={self.environment[_VARIABLE]}".encode()

    def processes(self, front: int) -> dict[int, int]:
        """Returns the server's processes with their parents."""
        parents: dict[int, int] = {}
        marked: set[int] = set()
        for directory in _PROC.glob("[0-9]*"):
            pid = int(directory.name)
            with contextlib.suppress(OSError):
                state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
                if state in "ZX":
                    continue
                parents[pid] = int(parent)
                if self._entry in (directory / "environ").read_bytes().split(b"\0"):
                    marked.add(pid)
        found = {front} & set(parents)
        while True:
            more = {pid for pid, parent in parents.items() if parent in found} - found
            if not more:
                break
            found |= more
        return {pid: parents[pid] for pid in found | marked}


@dataclasses.dataclass(frozen=True)
class Footprint:
    """Resources of a server. Equal footprints mean that nothing leaked in between."""

    sessions: tuple[int, ...]
    """Session processes: children of the fork server."""
    strays: tuple[int, ...]
    """Processes that are neither the front process nor its descendants."""
    front_files: int
    front_memory_files: int
    """The memfds among front_files."""
    fork_server_files: int
    named_memory: tuple[str, ...]
    """Files of this project in /dev/shm."""

    @staticmethod
    def take(front: int, marker: Marker) -> Footprint:
        parents = marker.processes(front)
        (fork_server,) = (pid for pid, parent in parents.items() if parent == front)
        sessions = {pid for pid, parent in parents.items() if parent == fork_server}
        below = {front}
        while True:
            more = {pid for pid, parent in parents.items() if parent in below} - below
            if not more:
                break
            below |= more
        files = _files(front)
        return Footprint(
            sessions=tuple(sorted(sessions)),
            strays=tuple(sorted(set(parents) - below)),
            front_files=len(files),
            front_memory_files=sum(name.startswith("/memfd:") for name in files),
            fork_server_files=len(_files(fork_server)),
            named_memory=tuple(sorted(path.name for path in pathlib.Path("/dev/shm").glob("*hpu*"))),
        )


def private_bytes(pid: int) -> int:
    """Returns a process's resident anonymous memory in bytes."""
    for line in (_PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) << 10
    return 0


def thread_count(pid: int) -> int:
    return sum(1 for _ in (_PROC / str(pid) / "task").iterdir())


def processor_seconds(pid: int) -> float:
    """Returns the CPU time of a process in seconds; 0 if it has ended."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / 100


def _files(pid: int) -> list[str]:
    names = []
    for path in (_PROC / str(pid) / "fd").iterdir():
        with contextlib.suppress(OSError):
            names.append(str(path.readlink()))
    return names
