"""Jobs of four ranks with the double: HPUStrategy, Horovod and hccl."""

from __future__ import annotations

import pathlib

import pytest

from tests.distribute import jobs
from tests.gaudi import doubles
from tests.hvd import jobs as hvd_jobs
from tests.support.processes import ROOT

# The ranks share two processors, and each loads TensorFlow.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RANKS = 4
HCCL_PROGRAMS = ROOT / "tests" / "distribute" / "hccl_programs.py"


@pytest.fixture
def environment() -> dict[str, str]:
    return {"HPU_BACKEND": doubles.backend("1.18")}


def test_strategy(tmp_path: pathlib.Path, environment: dict[str, str]) -> None:
    case = "cnn-loop"
    (alone,) = jobs.train(tmp_path / "alone", 1, case, environment=environment)[case]
    workers = jobs.train(tmp_path / "job", RANKS, case, environment=environment)[case]
    jobs.assert_trained_as(workers, RANKS, alone)
    assert all(worker.clusters for worker in workers)


def test_horovod(tmp_path: pathlib.Path, environment: dict[str, str]) -> None:
    pytest.importorskip("horovod", reason="Horovod is not installed (make horovod)")
    case = "cnn-tape"
    (alone,) = hvd_jobs.train(tmp_path / "alone", 1, case, environment=environment)[case]
    ranks = hvd_jobs.train(tmp_path / "job", RANKS, case, environment=environment)[case]
    jobs.assert_trained_as(ranks, RANKS, alone)
    assert all(rank.clusters for rank in ranks)


def test_hccl(environment: dict[str, str]) -> None:
    result = jobs.run_job(RANKS, HCCL_PROGRAMS, environment=environment, timeout=600)
    for rank in range(RANKS):
        assert f"[{rank}] 100 programs agree" in result.output, result.output
        assert f"[{rank}] errors agree" in result.output, result.output
