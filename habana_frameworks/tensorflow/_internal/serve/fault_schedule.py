"""Reader of fault schedules for `hpu serve --faults FILE` (docs/user/remote.md).

{"seed": 7, "faults": [{"kind": "lost", "at": 100, "session": 1},
{"kind": "slow_copy", "probability": 0.01, "milliseconds": 20}]}
"""

from __future__ import annotations

import difflib
import enum
import json
import pathlib
from collections.abc import Collection
from typing import Any

_MAX_MILLISECONDS = 10_000
_MAX_NUMBER = 2**53
_MAX_RULES = 1000
_WHEN = ("at", "from", "probability")


class Kind(enum.Enum):
    """Kinds of faults; plugin/backends/common/faults.h documents the events that each kind affects."""

    LAUNCH = "launch"
    COPY = "copy"
    FILL = "fill"
    OUT_OF_MEMORY = "out_of_memory"
    SLOW_COPY = "slow_copy"
    LOST = "lost"
    COMPILE = "compile"
    SLOW_COMPILE = "slow_compile"
    BUSY = "busy"
    DROP = "drop"
    DELAY = "delay"
    SILENCE = "silence"
    COMPILER_CRASH = "compiler_crash"
    COMPILER_HANG = "compiler_hang"

    @property
    def delays(self) -> bool:
        """Whether the fault delays events instead of failing them."""
        return self in (Kind.SLOW_COPY, Kind.SLOW_COMPILE, Kind.DELAY)


class FaultScheduleError(ValueError):
    """The schedule is invalid. The message names the file and the faulty line, key or value."""


def read(path: str) -> list[str]:
    """Returns the file's faults in the syntax of HPU_FAULTS, which the plugin reads.

    Raises FaultScheduleError if the content is invalid, OSError or UnicodeDecodeError if the file cannot be read.
    """
    text = pathlib.Path(path).read_text(encoding="utf-8")
    try:
        schedule = json.loads(text)
    except json.JSONDecodeError as error:
        raise FaultScheduleError(f"{path}: line {error.lineno}: not valid JSON: {error.msg}") from None
    try:
        return _entries(schedule)
    except FaultScheduleError as error:
        raise FaultScheduleError(f"{path}: {error}") from None


def _entries(schedule: Any) -> list[str]:
    _check_keys(schedule, "", ("seed", "faults"))
    seed = _integer(schedule.get("seed", 0), "seed", 0)
    rules = schedule.get("faults")
    if not isinstance(rules, list):
        raise FaultScheduleError(f"faults must be a list of objects, got {rules!r}")
    if len(rules) > _MAX_RULES:
        raise FaultScheduleError(f"faults has {len(rules)} entries; the maximum is {_MAX_RULES}")
    return [f"seed={seed}", *(_entry(rule, f"faults[{number}]") for number, rule in enumerate(rules))]


def _entry(rule: Any, where: str) -> str:
    _check_keys(rule, where, ("kind", *_WHEN, "milliseconds", "session"))
    kind = _kind(rule.get("kind"), f"{where}.kind")
    given = [key for key in _WHEN if key in rule]
    if len(given) != 1:
        raise FaultScheduleError(f"{where} needs exactly one of {', '.join(_WHEN)}, not {', '.join(given) or 'none'}")
    entry = kind.value + _when(rule, given[0], where)
    if kind.delays != ("milliseconds" in rule):
        raise FaultScheduleError(
            f"{where}: {kind.value} {'requires' if kind.delays else 'does not accept'} milliseconds"
        )
    if kind.delays:
        entry += f":{_integer(rule['milliseconds'], f'{where}.milliseconds', 1, _MAX_MILLISECONDS)}"
    if "session" in rule:
        if kind is Kind.BUSY:
            raise FaultScheduleError(
                f"{where}: busy does not accept session, because it occurs before the session exists"
            )
        entry += f"#{_integer(rule['session'], f'{where}.session', 1)}"
    return entry


def _when(rule: dict[str, Any], key: str, where: str) -> str:
    if key == "probability":
        value = rule[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
            raise FaultScheduleError(f"{where}.probability is {value!r}, not a number greater than 0 and at most 1")
        return f"%{value!r}"
    return f"@{_integer(rule[key], f'{where}.{key}', 1)}" + ("+" if key == "from" else "")


def _kind(value: Any, where: str) -> Kind:
    names = [kind.value for kind in Kind]
    if value in names:
        return Kind(value)
    raise FaultScheduleError(f"{where} is {value!r}; {_hint(str(value), names)}")


def _integer(value: Any, where: str, minimum: int, maximum: int = _MAX_NUMBER) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise FaultScheduleError(f"{where} is {value!r}, not a whole number from {minimum} to {maximum}")
    return value


def _check_keys(value: Any, where: str, known: Collection[str]) -> None:
    if not isinstance(value, dict):
        raise FaultScheduleError(f"{where or 'the schedule'} must be a JSON object, got {value!r}")
    for key in value:
        if key not in known:
            raise FaultScheduleError(f"{where + '.' if where else ''}{key} is not a valid key; {_hint(key, known)}")


def _hint(word: str, known: Collection[str]) -> str:
    nearest = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {nearest[0]}?" if nearest else f"valid: {', '.join(known)}"
