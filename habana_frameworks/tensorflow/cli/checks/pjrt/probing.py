"""Runs libraries_probe.py in a process of its own."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from habana_frameworks.tensorflow.cli.checks import child_process

_PROGRAM = pathlib.Path(__file__).with_name("libraries_probe.py")
TIMEOUT_SECONDS = 60.0


def run(*arguments: str) -> tuple[dict[str, Any], str]:
    """Returns the program's report and, on failure, the problem."""
    report, problem = child_process.run([sys.executable, "-I", str(_PROGRAM), *arguments], TIMEOUT_SECONDS)
    return report, problem or report.get("error", "")
