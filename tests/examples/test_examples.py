"""The digits examples of one process reach their accuracy and print a report, on the HPU and on the CPU."""

from __future__ import annotations

import os
import re

import pytest

from tests.support.processes import WARM_PYTHON, run

# Epochs that suffice for a quick test, and the minimum accuracy on 360 images.
EXAMPLES = {"digits_keras.py": (3, 0.9), "digits_custom_loop.py": (4, 0.9), "digits_session.py": (4, 0.9)}


def train(example: str, device: str) -> dict[str, str]:
    """Runs an example and returns its report."""
    epochs, _ = EXAMPLES[example]
    done = run([WARM_PYTHON, f"examples/{example}", "--device", device, "--epochs", str(epochs)], timeout=280)
    report = done.stdout.split("\nReport\n")[1]
    return dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in report.splitlines())  # type: ignore[misc]


@pytest.mark.parametrize("example", EXAMPLES)
def test_on_cpu(example: str) -> None:
    report = train(example, "cpu")
    assert report["device"] == "/device:CPU:0"
    assert float(report["test accuracy"].rstrip("%")) / 100 >= EXAMPLES[example][1]


@pytest.mark.parametrize("example", EXAMPLES)
def test_on_hpu(example: str) -> None:
    report = train(example, "hpu")
    assert report["backend"] == ("remote" if os.environ.get("HPU_BACKEND", "").startswith("grpc") else "emulator")
    assert float(report["test accuracy"].rstrip("%")) / 100 >= EXAMPLES[example][1]
    assert " 0 fallbacks" in report["clusters"]
    assert float(report["ops on the HPU"].split("%")[0]) > 50
