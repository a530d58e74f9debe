"""Gradient buckets are exchanged while the rest of the backward pass is computed."""

from __future__ import annotations

import json
import pathlib

import pytest

from benchmarks.overlap import common, hidden_share
from tests.distribute.jobs import run_job
from tests.support.processes import ROOT


def test_time_that_is_in_both() -> None:
    assert common([(0, 2), (1, 4)], [(3, 5), (-1, 1)]) == 2


@pytest.mark.slow
def test_a_trace_shows_exchanges_during_computation(tmp_path: pathlib.Path) -> None:
    program = ROOT / "benchmarks" / "collectives_worker.py"
    options = ("steps", "--model", "transformer", "--steps", "5", "--trace", str(tmp_path / "trace.json"))
    shares = {}
    for bucket in ("1", "0"):
        environment = {"HPU_COLLECTIVE_BUCKET_MB": bucket, "PYTHONPATH": str(ROOT)}
        run_job(2, program, *options, environment=environment)
        shares[bucket] = hidden_share(tmp_path / "trace.json")
    assert shares["1"] > shares["0"], json.dumps(shares)
    assert shares["1"] > 0
