"""Trainings whose ranks are killed at random steps resume from checkpoints and end with equal weights."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import random
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from habana_frameworks.tensorflow.monitor import server as device_server
from tests.distribute import kills
from tests.distribute.jobs import Backend, Result, environment_of, run_job
from tests.remote.servers import Server, wait_until
from tests.support.compare import distance
from tests.support.processes import ROOT

PROGRAM = pathlib.Path(__file__).with_name("restarted.py")
STEPS = 3 * kills.STEPS_PER_EPOCH

Weights = list[np.ndarray[Any, Any]]


def train(
    directory: pathlib.Path,
    way: str,
    ranks: int,
    *arguments: str,
    environment: Mapping[str, str],
    options: tuple[str, ...] = (),
) -> Result:
    directory.mkdir()
    # All starts compile the same recipes, so a recipe directory saves time.
    variables = {"TF_RECIPE_CACHE_PATH": str(directory.parent / "recipes"), **environment}
    arguments = ("--out", str(directory), "--steps", str(STEPS), *arguments, way)
    return run_job(ranks, PROGRAM, *arguments, options=options, environment=variables, timeout=280)


def weights(directory: pathlib.Path, rank: int) -> Weights:
    with np.load(directory / f"weights_{rank}.npz") as arrays:
        return [arrays[str(i)] for i in range(len(arrays.files))]


def record(directory: pathlib.Path, rank: int) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((directory / f"record_{rank}.json").read_text())
    return fields


def check_killed_training(
    directory: pathlib.Path, way: str, ranks: int, seed: int, environment: Mapping[str, str]
) -> None:
    """Two attempts lose a rank each. The third attempt ends with the weights of an undisturbed training."""
    train(directory / "whole", way, ranks, environment=environment)
    drawn = kills.draw(seed, 2, ranks, STEPS)
    options = [f"--kill={kill}" for kill in drawn]
    result = train(directory / "killed", way, ranks, *options, environment=environment, options=("--restarts", "2"))
    assert [attempt.failed for attempt in result.attempts] == [*(kill.rank for kill in drawn), None], drawn
    assert "hpu run: the job succeeded after 2 of 2 restarts" in result.output
    for attempt, kill in zip(result.attempts, drawn):
        assert attempt.exit_codes[kill.rank] == 137
        assert f"rank {kill.rank} was ended by signal 9" in result.output
    whole = weights(directory / "whole", 0)
    for rank in range(ranks):
        fields = record(directory / "killed", rank)
        assert (fields["restart_count"], fields["ranks"]) == (2, ranks)
        assert fields["in_server"] == ("HPU_BACKEND" in environment)
        for own, expected in zip(weights(directory / "killed", rank), whole):
            np.testing.assert_array_equal(own, expected, f"rank {rank}, {drawn}")
    assert record(directory / "whole", 0)["first_step"] == 0


@pytest.mark.parametrize(
    ("way", "ranks", "backend", "seed"),
    [
        ("fit", 2, Backend.EMULATOR, 1),
        pytest.param("loop", 3, Backend.EMULATOR, 2, marks=pytest.mark.slow),
        pytest.param("loop", 2, Backend.SERVER, 3, marks=pytest.mark.slow),
        pytest.param("fit", 3, Backend.SERVER, 4, marks=pytest.mark.slow),
    ],
    ids=lambda value: value.name if isinstance(value, Backend) else str(value),
)
def test_the_weights_are_those_of_an_undisturbed_training(
    way: str, ranks: int, backend: Backend, seed: int, tmp_path: pathlib.Path
) -> None:
    with environment_of(backend, tmp_path) as environment:
        check_killed_training(tmp_path, way, ranks, seed, environment)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["fit", "loop"])
def test_other_steps_each_time(way: str, tmp_path: pathlib.Path) -> None:
    for _ in range(3):
        seed = random.SystemRandom().randrange(1 << 32)
        (tmp_path / str(seed)).mkdir()
        check_killed_training(tmp_path / str(seed), way, 2, seed, {})


@pytest.mark.slow
def test_a_server_restarts_with_fewer_modules(tmp_path: pathlib.Path) -> None:
    """If a server restarts with fewer modules, the job continues with fewer ranks and keeps its progress."""
    train(tmp_path / "whole", "loop", 1, environment={})
    checkpoints = tmp_path / "job" / "checkpoints"
    with Server(tmp_path, "--modules", "3") as server, concurrent.futures.ThreadPoolExecutor() as pool:
        job = pool.submit(
            train,
            tmp_path / "job",
            "loop",
            3,
            "--pause",
            "0.2",
            environment={"HPU_BACKEND": server.backend},
            options=("--restarts", "3", "--min-ranks", "2"),
        )
        wait_until(lambda: job.done() or any(checkpoints.glob("*.index")), "no checkpoint")
        server.kill()
        with Server(tmp_path, "--modules", "2") as fewer:
            assert fewer.backend == server.backend
            result = job.result(timeout=250)
            assert not any(module.held for module in device_server.describe(fewer.backend).modules)
    assert [attempt.ranks for attempt in result.attempts] == [3, 2]
    assert "hpu run: restart 1 of 3, with 2 ranks instead of 3" in result.output
    whole = weights(tmp_path / "whole", 0)
    for rank in range(2):
        assert record(tmp_path / "job", rank)["first_step"] >= 2
        # Sums over two parts of a batch are rounded differently from a sum over the whole batch.
        assert distance(weights(tmp_path / "job", rank), whole) < 1e-3 * distance(whole, [0 * array for array in whole])


@pytest.mark.slow
def test_the_example(tmp_path: pathlib.Path) -> None:
    arguments = ("--backup", str(tmp_path / "backup"), "--lose-rank", "1")
    result = run_job(2, ROOT / "examples" / "digits_restart.py", *arguments, options=("--restarts", "2"))
    assert [attempt.failed for attempt in result.attempts] == [1, None]
    ends = re.findall(r"^\[\d\] epochs (\[.*\]) of 8, (loss .*)$", result.output, flags=re.MULTILINE)
    assert [epochs for epochs, _ in ends] == ["[3, 4, 5, 6, 7]"] * 2
    assert len(set(ends)) == 1
