"""The most memory of a train step, over that of TensorFlow's own kernels."""

from __future__ import annotations

import json
import sys

from tests.support.processes import run

MOST = 1.1


def test_unet_needs_hardly_more_than_on_the_cpu() -> None:
    """64 images: TensorFlow counts with oneDNN alone, and only what is larger than 256 KB; one op runs at a time."""
    command = "-m benchmarks.train_step --models unet --batch-size 64 --ways hpu cpu --rounds 1 --seconds 0 --json"
    environment = {"TF_ENABLE_ONEDNN_OPTS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    output = run([sys.executable, *command.split()], environment, timeout=240).stdout
    peaks = json.loads(output)["results"][0]["peak_bytes"]
    assert peaks["cpu"] > 64 << 20
    assert peaks["hpu"] < MOST * peaks["cpu"], peaks
