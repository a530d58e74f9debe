"""Check 11: `hpu doctor` and `hpu smi` on the card, while a process holds it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module
from tools.accelerator.checks import outcome

_FIELDS = "name,driver_version,memory.total,memory.used,utilization.aip,power.draw,temperature.aip"


def hpu(*arguments: str) -> tuple[int, str]:
    """Runs the command `hpu`. Returns its exit code and its output, or its error message if it fails."""
    command = [sys.executable, "-m", "habana_frameworks.tensorflow", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    sys.stdout.write(f"$ hpu {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.returncode, done.stdout.strip() or done.stderr.strip()


def problems(text: str) -> list[str]:
    """Findings of `hpu doctor --json` that are errors or warnings."""
    findings = json.loads(text)["findings"]
    return [f"{one['subject']}: {one['text']}" for one in findings if one["level"] in ("error", "warning")]


def main() -> int:
    load_habana_module()
    held = tf.random.uniform([1024, 1024])
    held.numpy()
    doctor_code, doctor = hpu("doctor", "--json")
    table_code, table = hpu("smi")
    fields_code, fields = hpu("smi", "-Q", _FIELDS, "-f", "csv")
    found = problems(doctor)
    values: dict[str, Any] = {"hpu doctor": found or "no problems", "hpu smi": table, "hpu smi -Q": fields}
    if outcome.is_cpu():
        return outcome.report(doctor_code == 0, f"hpu doctor: {len(found)} problems; hpu smi needs a card", values)
    codes = {"doctor": doctor_code, "smi": table_code, "smi -Q": fields_code}
    return outcome.report(not any(codes.values()), f"exit codes {codes}; {len(found)} problems", values)


if __name__ == "__main__":
    sys.exit(main())
