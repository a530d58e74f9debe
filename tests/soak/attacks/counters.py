"""Counters of attacking processes in memory shared with the campaign, so that they outlive the processes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

NAMES = (
    "actions",
    "sessions",
    "sessions_ended",
    "sessions_crashed",
    "sessions_refused",
    "programs_sent",
    "programs_mutated",
    "programs_refused",
    "programs_compiled",
    "programs_run",
    "worker_crashes",
    "compile_timeouts",
    "recipes_forged",
    "messages_sent",
    "connections_silent",
    "answers_unread",
    "collectives",
    "collectives_lost",
    "bytes_scanned",
    "leaks",
    "wrong_results",
)


class Counters:
    """Counters of one client. They need no lock, so a killed process leaves them usable."""

    def __init__(self, values: Any) -> None:
        """values: a RawArray with the length of NAMES."""
        self._values = values

    def add(self, name: str, count: int = 1) -> None:
        self._values[NAMES.index(name)] += count

    def get(self, name: str) -> int:
        return int(self._values[NAMES.index(name)])


def total(counters: Iterable[Counters]) -> dict[str, int]:
    found = list(counters)
    return {name: sum(counter.get(name) for counter in found) for name in NAMES}
