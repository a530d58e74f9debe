"""Result file of a check, and paths of the kit."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
HPU, CPU = "/device:HPU:0", "/device:CPU:0"


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
