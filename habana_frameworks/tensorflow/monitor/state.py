"""Modules at one moment."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Process:
    """Who holds a module; pid 0 if it has not said yet."""

    pid: int
    command: str


@dataclasses.dataclass(frozen=True)
class Module:
    """One module. None stands for what cannot be known."""

    id: int
    type: str
    """Model: "GAUDI2"."""
    holder: Process | None = None
    memory_total: int | None = None
    """Bytes."""
    memory_used: int | None = None
    """Bytes that hold data: the pages that the program has written since it acquired the module."""
    session: int = 0
    """Tells sessions, or processes, that hold the module one after another apart; 0: it is free."""
    busy_seconds: float | None = None
    """For how long the session's launches have run."""
    launches: int | None = None
    bytes_to_device: int | None = None
    bytes_to_host: int | None = None
    streams: int | None = None
    """Calls that are open: streams, and recipes in the making."""
    recipes: int | None = None


@dataclasses.dataclass(frozen=True)
class ServerState:
    """A device server."""

    pid: int
    backend: str
    """Whose modules it serves."""
    sessions_opened: int
    sessions_closed: int
    resident_bytes: int
    """Memory of its process on the host."""


@dataclasses.dataclass(frozen=True)
class State:
    """All modules that a value of HPU_BACKEND reaches."""

    backend: str
    seconds: float
    """Of the clock that busy_seconds are measured with."""
    modules: tuple[Module, ...]
    server: ServerState | None = None


def utilization(before: State, after: State) -> dict[int, float | None]:
    """For each module, the share of the time between the two in which launches ran, from 0 to 1.

    0 for free modules; None where it cannot be known, as for a session that began in between.
    """
    earlier = {module.id: module for module in before.modules}
    seconds = after.seconds - before.seconds
    return {module.id: _share(earlier.get(module.id), module, seconds) for module in after.modules}


def _share(before: Module | None, after: Module, seconds: float) -> float | None:
    if not after.session:
        return 0.0
    if before is None or before.session != after.session or seconds <= 0:
        return None
    if before.busy_seconds is None or after.busy_seconds is None:
        return None
    # The clock is not read at the very moment at which busy_seconds are.
    return min(1.0, max(0.0, (after.busy_seconds - before.busy_seconds) / seconds))
