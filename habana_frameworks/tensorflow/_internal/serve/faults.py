"""The injected fault `busy` of a server: acquisitions find no free module (plugin/backends/common/faults.h)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from habana_frameworks.tensorflow._internal.serve import fault_schedule
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError

_MASK = (1 << 64) - 1
_MAX_MILLISECONDS = 10_000
# The kinds of fault schedules, and `allocate`, which only HPU_FAULTS supports.
_KINDS = frozenset({*(kind.value for kind in fault_schedule.Kind), "allocate"})
_DELAYS = frozenset(kind.value for kind in fault_schedule.Kind if kind.delays)
_ENTRY = re.compile(
    r"(?P<kind>[a-z_]+)(@(?P<first>[0-9]+)(?P<onwards>\+?)|%(?P<probability>[0-9.e+-]+))(:(?P<ms>[0-9]+))?"
    r"(#(?P<session>[0-9]+))?"
)


@dataclasses.dataclass(frozen=True)
class _Rule:
    """The acquisitions that a rule selects."""

    index: int
    """Position among the rules that apply to all sessions; the random draw depends on it."""
    first: int
    """First selected acquisition, from 1; 0: selected by probability."""
    onwards: bool
    probability: float


class BusyFaults:
    """Counts acquisitions. An acquisition that a rule selects fails with UNAVAILABLE."""

    def __init__(self, entries: Sequence[str]) -> None:
        """Raises StatusError for a malformed entry of any kind; the message quotes the entry."""
        self._seed = 0
        self._rules: list[_Rule] = []
        self._count = 0
        index = 0
        for entry in entries:
            if re.fullmatch("seed=[0-9]+", entry):
                self._seed = int(entry[len("seed=") :])
                continue
            kind, rule, session = _parse(entry, index)
            if session:
                continue
            index += 1
            if kind == "busy":
                self._rules.append(rule)

    def count(self) -> None:
        """Counts one acquisition. Raises StatusError if a rule selects it."""
        self._count += 1
        if any(self._hits(rule) for rule in self._rules):
            raise StatusError(Code.UNAVAILABLE, f"no HPU module is free: injected fault: busy@{self._count}")

    def _hits(self, rule: _Rule) -> bool:
        if rule.first:
            return self._count >= rule.first if rule.onwards else self._count == rule.first
        drawn = _mix(self._seed)
        # Same draw as in faults.cc: session, rule, kind of stream, event.
        for value in (0, rule.index, 0, self._count):
            drawn = _mix(drawn ^ value)
        return float(drawn >> 11) < rule.probability * float(1 << 53)


def _parse(entry: str, index: int) -> tuple[str, _Rule, int]:
    """Returns kind, rule and session (0: all) of an entry. Raises StatusError."""
    found = _ENTRY.fullmatch(entry)
    if found is None or found["kind"] not in _KINDS:
        raise _unreadable(entry)
    try:
        first, probability = int(found["first"] or 0), float(found["probability"] or 0)
    except ValueError:
        raise _unreadable(entry) from None
    session = int(found["session"] or 0)
    if (
        (found["first"] is not None and first == 0)
        or (found["probability"] is not None and not 0 < probability <= 1)
        or (found["ms"] is not None) != (found["kind"] in _DELAYS)
        or int(found["ms"] or 0) > _MAX_MILLISECONDS
        or (found["session"] is not None and session == 0)
    ):
        raise _unreadable(entry)
    return found["kind"], _Rule(index, first, found["onwards"] == "+", probability), session


def _unreadable(entry: str) -> StatusError:
    kinds = ", ".join(sorted(_KINDS))
    return StatusError(
        Code.INVALID_ARGUMENT,
        f'HPU_FAULTS: "{entry}" must be kind@n, kind@n+ or kind%p, with n from 1, p up to 1 and a kind of '
        f"{kinds}; slow_copy, slow_compile and delay end with :ms, at most {_MAX_MILLISECONDS}",
    )


def _mix(value: int) -> int:
    """One step of the SplitMix64 generator."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
