"""Killed ranks: the other ranks fail without hanging, and the job resumes from its checkpoint."""

from __future__ import annotations

import pathlib
import re

import pytest

from tests.distribute.jobs import assert_same_weights, trained
from tests.hvd.jobs import TRAIN, Start, run_program, train

ELASTIC = pathlib.Path(__file__).with_name("elastic.py")


@pytest.mark.slow
def test_ranks_without_launcher_end_by_themselves(tmp_path: pathlib.Path) -> None:
    """After one rank is killed, the other rank fails within spawn.py's grace period.

    A second start resumes from the checkpoint and reaches the weights of an undisturbed run.
    """
    arguments = ("--out", str(tmp_path), "--steps", "5", "--checkpoints", str(tmp_path / "checkpoints"), "cnn-tape")
    done = run_program(
        tmp_path, TRAIN, "--die-at", "3", *arguments, start=Start.MULTIPROCESSING, processes=2, check=False
    )
    assert "exit codes [1, -9]" in done.stdout, done.stdout + done.stderr
    assert "HorovodAllreduce" in done.stderr
    (whole,) = train(tmp_path / "whole", 1, "cnn-tape")["cnn-tape"]
    run_program(tmp_path, TRAIN, *arguments, start=Start.MULTIPROCESSING, processes=2)
    for rank in range(2):
        rest = trained(tmp_path, "cnn-tape", rank)
        assert len(rest.numbers) == 2
        assert_same_weights(rest, whole)


@pytest.mark.slow
def test_mpirun_ends_the_job(tmp_path: pathlib.Path) -> None:
    arguments = ("--out", str(tmp_path), "--steps", "1000", "--die-at", "3", "cnn-tape")
    done = run_program(tmp_path, TRAIN, *arguments, start=Start.MPIRUN, check=False)
    assert done.returncode != 0
    assert re.search(r"signal 9\b", done.stderr), done.stderr


@pytest.mark.slow
def test_hpu_run_starts_the_job_again(tmp_path: pathlib.Path) -> None:
    arguments = ("--out", str(tmp_path), "--steps", "5", "--checkpoints", str(tmp_path / "checkpoints"), "cnn-tape")
    done = run_program(tmp_path, TRAIN, "--die-at", "3", *arguments, start=Start.HPU_RUN_RESTARTS)
    assert "hpu run: rank 1 was ended by signal 9" in done.stderr
    assert "hpu run: the job succeeded after 1 of 1 restarts" in done.stderr
    (whole,) = train(tmp_path / "whole", 1, "cnn-tape")["cnn-tape"]
    for rank in range(2):
        rest = trained(tmp_path, "cnn-tape", rank)
        assert (len(rest.numbers), rest.replicas) == (2, 2)
        assert_same_weights(rest, whole)


@pytest.mark.slow
def test_an_elastic_job_continues_without_a_lost_host(tmp_path: pathlib.Path) -> None:
    """The job's state is in memory: the survivor resumes from its last commit without a restart."""
    done = run_program(tmp_path, ELASTIC, "--out", str(tmp_path), "--steps", "6", "--die-at", "3", start=Start.ELASTIC)
    assert "went on with 1 rank after step 3" in done.stdout, done.stdout + done.stderr
    run_program(tmp_path, ELASTIC, "--out", str(tmp_path / "whole"), "--steps", "6", start=Start.HPU_RUN, processes=1)
    survivor = trained(tmp_path, "elastic", 0)
    whole = trained(tmp_path / "whole", "elastic", 0)
    assert survivor.fallbacks == whole.fallbacks == 0
    assert_same_weights(survivor, whole)
