"""Runs a program of a check in a process of its own, so that neither a crash nor a hang ends `hpu doctor`."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any


def run(
    command: Sequence[str], timeout_seconds: float, environment: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], str]:
    """Returns the JSON object in the last line of the program's output and, on failure, the problem."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        return {}, f"loading took longer than {timeout_seconds:g} s"
    last_error = done.stderr.strip().splitlines()[-1:] or [""]
    if done.returncode < 0:
        return {}, f"loading crashed with {signal.Signals(-done.returncode).name}: {last_error[0]}"
    if done.returncode != 0:
        return {}, f"loading failed: {last_error[0]}"
    return json.loads(done.stdout.strip().splitlines()[-1]), ""
