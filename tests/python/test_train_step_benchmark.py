"""Tests the counts of the train step benchmark."""

from __future__ import annotations

import json
import sys

from tests.support import processes

# malloc() keeps buffers of up to 1 MiB, which oneDNN allocates for each product, and maps larger buffers at each call.
KEEP_SMALL_BUFFERS = {"MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "1073741824"}


def test_steady_steps_map_no_memory() -> None:
    """Steps reuse workspace and device memory, so they map no new pages."""
    command = [sys.executable, "-m", "benchmarks.train_step", "--json", "--ways", "hpu"]
    options = ["--models", "mlp", "--optimizers", "adam", "--rounds", "5", "--seconds", "0.05"]
    done = processes.run(command + options, KEEP_SMALL_BUFFERS)
    (result,) = json.loads(done.stdout)["results"]
    assert result["minor_faults_per_step"].keys() == {"hpu"}
    assert result["minor_faults_per_step"]["hpu"]["median"] < 5
