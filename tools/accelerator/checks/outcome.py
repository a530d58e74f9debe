"""Result file of a check, and paths of the kit."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any

PASSED, OVER, FAILED, SKIPPED = "passed", "over the limit", "failed", "skipped"
HPU, CPU = "/device:HPU:0", "/device:CPU:0"


@dataclasses.dataclass
class Verdict:
    """What is wrong with the values of a check."""

    problems: list[str] = dataclasses.field(default_factory=list)
    """Wrong or missing results: the check failed."""
    over: list[str] = dataclasses.field(default_factory=list)
    """Figures over the project's limits. All results are right."""

    @property
    def status(self) -> str:
        return FAILED if self.problems else OVER if self.over else PASSED

    def limit(self, name: str, value: float, limit: float, unit: str = "") -> None:
        """Adds a figure to `over` if it exceeds its limit. A NaN does."""
        if not value <= limit:
            self.over.append(f"{name} {value:.3g}{unit} (limit {limit:g}{unit})")

    def report(self, summary: str, values: dict[str, Any]) -> int:
        """Writes the result, with problems and figures over limits before the summary. Returns exit code 0."""
        return _write(self.status, "; ".join([*self.problems, *self.over, summary]), values)


def report(passed: bool, summary: str, values: dict[str, Any] | None = None) -> int:
    """Writes the result for run.py, which counts a check without a result as failed. Returns exit code 0."""
    return _write(PASSED if passed else FAILED, summary, values or {})


def skip(reason: str, values: dict[str, Any] | None = None) -> int:
    return _write(SKIPPED, reason, values or {})


def _write(status: str, summary: str, values: dict[str, Any]) -> int:
    data = {"status": status, "summary": summary, "values": values}
    pathlib.Path(os.environ["KIT_RESULT"]).write_text(json.dumps(data))
    return 0


def kit() -> pathlib.Path:
    """Returns the folder of the unpacked kit."""
    return pathlib.Path(os.environ["KIT_DIRECTORY"])


def scratch() -> pathlib.Path:
    """Returns a folder that is removed after the check."""
    return pathlib.Path(os.environ["KIT_RESULT"]).parent


def is_cpu() -> bool:
    """Whether the plugin's device is the CPU, according to the plugin's name (same rule as plugin_file.cc)."""
    return "cpu" in pathlib.PurePath(os.environ["HPU_BACKEND"]).name
