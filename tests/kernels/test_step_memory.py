"""Peak memory of a train step compared with TensorFlow's CPU kernels, and copies of variables."""

from __future__ import annotations

import json
import pathlib
import sys

from habana_frameworks.tensorflow import explanation
from tests.support.processes import WARM_PYTHON, run

MOST = 1.1


def test_unet_needs_hardly_more_than_on_the_cpu() -> None:
    """Uses 64 images, because TensorFlow counts only blocks above 256 KB, and only with oneDNN.

    One op runs at a time.
    """
    command = "-m benchmarks.train_step --models unet --batch-size 64 --ways hpu cpu --rounds 1 --seconds 0 --json"
    environment = {"TF_ENABLE_ONEDNN_OPTS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    output = run([sys.executable, *command.split()], environment, timeout=240).stdout
    peaks = json.loads(output)["results"][0]["peak_bytes"]
    assert peaks["cpu"] > 64 << 20
    assert peaks["hpu"] < MOST * peaks["cpu"], peaks


def test_variables_are_updated_without_copies(tmp_path: pathlib.Path) -> None:
    """Variables are updated in place, including filters and biases with a short last dimension."""
    target = tmp_path / "unet.json"
    command = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "explain", "--time", "--json", str(target)]
    run([*command, "benchmarks/steps.py", "unet", "--steps", "2", "--optimizer", "sgd"], timeout=240)
    times = explanation.from_json(target.read_text()).times
    assert times is not None
    step = [time for time in times if "train_step" in time.cluster]
    assert any(time.kind.startswith("convolution.") for time in step)
    assert [time for time in step if time.kind == "data formatting"] == []
