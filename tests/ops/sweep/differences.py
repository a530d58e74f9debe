"""Accepted differences (differences.yaml) and known bugs (faults.yaml) of the op sweep."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
from collections.abc import Sequence

import yaml

from tests.ops.sweep.compare import Verdict
from tests.ops.sweep.records import Mode

_FILE = pathlib.Path(__file__).with_name("differences.yaml")
_FAULTS = pathlib.Path(__file__).with_name("faults.yaml")
_ANY = tuple(verdict for verdict in Verdict if verdict not in (Verdict.SAME, Verdict.ABORT, Verdict.HANG))


@dataclasses.dataclass(frozen=True)
class Difference:
    """One accepted difference."""

    ops: str
    verdicts: Sequence[Verdict]
    modes: Sequence[Mode]
    text: str
    reason: str

    def fits(self, op: str, mode: Mode, verdict: Verdict, text: str) -> bool:
        if verdict not in self.verdicts or mode not in self.modes:
            return False
        return re.fullmatch(self.ops, op) is not None and re.search(self.text, text, re.DOTALL) is not None


@functools.cache
def accepted() -> Sequence[Difference]:
    return [
        Difference(
            entry["ops"],
            [Verdict[name] for name in entry["verdicts"]] if "verdicts" in entry else _ANY,
            [Mode[name] for name in entry["modes"]] if "modes" in entry else list(Mode),
            entry.get("text", ""),
            entry["reason"],
        )
        for entry in yaml.safe_load(_FILE.read_text())
    ]


@functools.cache
def faults() -> dict[str, str]:
    """Returns descriptions of known bugs, by regular expression for whole op names."""
    return {entry["ops"]: entry["fault"] for entry in yaml.safe_load(_FAULTS.read_text())}


def is_faulty(op: str) -> bool:
    return any(re.fullmatch(ops, op) for ops in faults())


def reason(op: str, mode: Mode, verdict: Verdict, text: str) -> str:
    """Returns the reason why a difference is accepted; empty if it is not."""
    return next((entry.reason for entry in accepted() if entry.fits(op, mode, verdict, text)), "")
