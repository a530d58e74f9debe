"""A rank that is killed: the others end with an error, and nothing hangs."""

from __future__ import annotations

import pathlib
import re

import pytest

from tests.hvd.jobs import TRAIN, Start, run_program


def test_ranks_that_nobody_ends_end_by_themselves(tmp_path: pathlib.Path) -> None:
    """Within the seconds that spawn.py gives them."""
    arguments = ("--out", str(tmp_path), "--steps", "1000", "--die-at", "3")
    done = run_program(tmp_path, TRAIN, *arguments, start=Start.MULTIPROCESSING, processes=3, check=False)
    assert "exit codes [1, 1, -9]" in done.stdout, done.stdout + done.stderr
    assert "HorovodAllreduce" in done.stderr


@pytest.mark.parametrize("start", [Start.HOROVODRUN, Start.HPU_RUN, Start.MPIRUN], ids=lambda start: start.name)
def test_launchers_end_the_job(start: Start, tmp_path: pathlib.Path) -> None:
    arguments = ("--out", str(tmp_path), "--steps", "1000", "--die-at", "3")
    done = run_program(tmp_path, TRAIN, *arguments, start=start, check=False)
    assert done.returncode != 0
    assert re.search(r"\b137\b|signal 9\b", done.stderr), done.stderr
