"""Check 7: examples/digits_keras.py on the card and on the CPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tools.accelerator.checks import outcome

_EPOCHS = 5
_MIN_ACCURACY = 90.0
_LINE = re.compile(r"^  ([a-z][\w ]*?)  +(.+)$", re.MULTILINE)


def train(device: str) -> dict[str, str]:
    """Runs examples/digits_keras.py and returns its report as label: value."""
    script = outcome.kit() / "tree" / "examples" / "digits_keras.py"
    command = [sys.executable, str(script), "--device", device, "--epochs", str(_EPOCHS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    sys.stdout.write(done.stdout)
    return dict(_LINE.findall(done.stdout.partition("\nReport\n")[2]))


def main() -> int:
    reports = {device: train(device) for device in ("hpu", "cpu")}
    accuracy = {device: float(report["test accuracy"].rstrip("%")) for device, report in reports.items()}
    values = {f"{name}, {device}": text for device, report in reports.items() for name, text in report.items()}
    good = accuracy["hpu"] >= _MIN_ACCURACY and ", 0 fallbacks" in reports["hpu"]["clusters"]
    return outcome.report(good, f"accuracy {accuracy['hpu']} %, {accuracy['cpu']} % on the CPU", values)


if __name__ == "__main__":
    sys.exit(main())
