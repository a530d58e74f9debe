"""Snapshot of the modules' state, and the utilisation between two snapshots."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from habana_frameworks.tensorflow.modules import LibraryMemory


class UnavailableError(RuntimeError):
    """The state of a device server or of a card cannot be read. The message contains the reason."""


class UnauthenticatedError(UnavailableError):
    """A device server refuses the client's token, or requires one that the client lacks."""


class ManagementLibraryError(UnavailableError):
    """The library that reads the cards, NVML or HLML, is missing or fails.

    `code` is the library's error code; None if its Python module is missing.
    """

    def __init__(self, text: str, remedy: str, code: int | None = None) -> None:
        super().__init__(text)
        self.remedy = remedy
        self.code = code


@dataclasses.dataclass(frozen=True)
class Process:
    """The process that holds a module; pid is 0 until it is known."""

    pid: int
    command: str


@dataclasses.dataclass(frozen=True)
class CardProcess:
    """A process that computes on a card. None means unknown."""

    pid: int
    command: str
    """Empty for processes of other containers."""
    memory_used: int | None
    """Bytes on the card."""
    library_memory: LibraryMemory | None = None
    """Memory by the process's PJRT plugin; None unless the process holds the card as its HPU."""


@dataclasses.dataclass(frozen=True)
class Card:
    """Figures of a real card, which emulated modules lack. None means unknown."""

    index: int
    """Index in the driver's order. On Gaudi, may differ from the module's number."""
    bus_id: str | None
    uuid: str | None
    driver_version: str | None
    utilization: float | None
    """Share of the time in which the card computed, from 0 to 1, over the driver's last sampling period."""
    temperature_celsius: int | None
    power_watts: float | None
    power_limit_watts: float | None
    processes: tuple[CardProcess, ...]
    serial: str | None = None
    is_lost: bool = False
    """Whether a Gaudi fell off its bus or failed, so that only a reset makes it usable."""
    figures: Mapping[str, int | str] = dataclasses.field(default_factory=dict)
    """Further figures of a Gaudi by their field names in hl-smi, without unknown figures."""


@dataclasses.dataclass(frozen=True)
class Module:
    """One module. None means unknown."""

    id: int
    type: str
    """Model: "GAUDI2", or a card's name."""
    holder: Process | None = None
    memory_total: int | None = None
    """Bytes."""
    memory_used: int | None = None
    """Bytes in use. For emulated modules: pages that the program has written since it acquired the module."""
    session: int = 0
    """Identifies the session or process that holds the module; differs between successive holders. 0: free."""
    busy_seconds: float | None = None
    """Total run time of the session's launches."""
    launches: int | None = None
    bytes_to_device: int | None = None
    bytes_to_host: int | None = None
    streams: int | None = None
    """Open calls of the session: streams, compilations and communicators."""
    recipes: int | None = None
    card: Card | None = None
    """None for emulated modules."""


@dataclasses.dataclass(frozen=True)
class ServerState:
    """State of a device server."""

    pid: int
    backend: str
    """The backend of the modules that the server serves."""
    sessions_opened: int
    sessions_closed: int
    resident_bytes: int
    """Resident host memory of the server's processes."""


@dataclasses.dataclass(frozen=True)
class State:
    """State of all modules that a value of HPU_BACKEND reaches."""

    backend: str
    seconds: float
    """Time of the snapshot, on the clock that measures busy_seconds."""
    modules: tuple[Module, ...]
    server: ServerState | None = None


def utilization(before: State, after: State) -> dict[int, float | None]:
    """Returns each module's utilisation: the share of time between the snapshots with running launches, from 0 to 1.

    0 for free modules; None if unknown, for example if a session started between the snapshots. For cards, returns the
    utilisation that the driver has measured.
    """
    earlier = {module.id: module for module in before.modules}
    seconds = after.seconds - before.seconds
    return {module.id: _share(earlier.get(module.id), module, seconds) for module in after.modules}


def _share(before: Module | None, after: Module, seconds: float) -> float | None:
    if after.card:
        return after.card.utilization
    if not after.session:
        return 0.0
    if before is None or before.session != after.session or seconds <= 0:
        return None
    if before.busy_seconds is None or after.busy_seconds is None:
        return None
    # `seconds` and busy_seconds are not read at the same instant, so the quotient may lie slightly outside 0 to 1.
    return min(1.0, max(0.0, (after.busy_seconds - before.busy_seconds) / seconds))
