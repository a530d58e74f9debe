"""benchmarks/train_step.py: page faults of steps."""

from __future__ import annotations

import statistics

import pytest

from benchmarks import train_step
from benchmarks.models import PROBLEMS


@pytest.mark.usefixtures("hpu")
def test_steady_steps_map_no_memory() -> None:
    """Steps reuse workspace and device memory, so they map no new pages.

    TensorFlow's CPU steps map hundreds of pages.
    """
    result = train_step.measure(PROBLEMS["mlp"], "adam", ["hpu"], rounds=5, seconds_per_turn=0.05)
    assert statistics.median(result.times.minor_faults["hpu"]) < 5
    assert result.as_json()["minor_faults_per_step"].keys() == {"hpu"}
