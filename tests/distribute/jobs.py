"""Jobs of several workers for tests, started with `hpu run`."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tests.remote.servers import Server
from tests.support.compare import distance
from tests.support.processes import ROOT, WARM_PYTHON, run

TRAIN = pathlib.Path(__file__).with_name("train.py")


@dataclasses.dataclass(frozen=True)
class Attempt:
    """One start of a job, parsed from the output of `hpu run --json`."""

    ranks: int
    modules: list[int]
    exit_codes: list[int]
    failed: int | None
    ended_before: list[int]
    log: list[str]
    signal: int | None
    seconds: float


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of a job, parsed from the output of `hpu run --json`."""

    exit_code: int
    exit_codes: list[int]
    failed: int | None
    ended_before: list[int]
    log: list[str]
    seconds: float
    attempts: list[Attempt]
    output: str


def run_job(
    processes: int,
    script: pathlib.Path | str,
    *arguments: str,
    options: tuple[str, ...] = (),
    environment: Mapping[str, str | None] | None = None,
    timeout: float = 200,
    check: bool = True,
    python: str = WARM_PYTHON,
) -> Result:
    """Runs a script on `processes` workers. Fails the test if the job fails, unless check=False."""
    command = [python, "-m", "habana_frameworks.tensorflow", "run", "-np", str(processes), "--json", *options]
    done = run([*command, str(script), *arguments], environment, timeout, check=False, cwd=ROOT)
    assert done.stdout, done.stderr
    fields = json.loads(done.stdout)
    assert fields.pop("signal") is None, f"the job was ended from outside:\n{done.stderr}"
    assert done.returncode == fields["exit_code"], f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    if check and done.returncode != 0:
        raise AssertionError(done.stderr)
    attempts = [Attempt(**attempt) for attempt in fields.pop("attempts")]
    return Result(**fields, attempts=attempts, output=done.stderr)


@dataclasses.dataclass(frozen=True)
class Trained:
    """Result of a worker of train.py."""

    weights: list[np.ndarray[Any, Any]]
    numbers: list[float]
    replicas: int
    travelled: float  # distance from the first weights
    loss_scale: float  # of the optimizer; 1 without loss scaling
    fallbacks: int
    clusters: dict[str, int]
    compiled: int
    disk_hits: int
    devices: list[str]


def trained(directory: pathlib.Path, case: str, rank: int) -> Trained:
    """Reads the files that a worker wrote for a case."""
    record = json.loads((directory / f"record_{case}_{rank}.json").read_text())
    with np.load(directory / f"weights_{case}_{rank}.npz") as weights:
        return Trained([weights[str(i)] for i in range(len(weights.files))], **record)


def train(
    directory: pathlib.Path,
    processes: int,
    *cases: str,
    options: tuple[str, ...] = (),
    environment: Mapping[str, str | None] | None = None,
) -> dict[str, list[Trained]]:
    """Trains cases of train.py on `processes` workers. Returns each worker's result, by case."""
    directory.mkdir(parents=True, exist_ok=True)
    run_job(processes, TRAIN, "--out", str(directory), *options, *cases, environment=environment)
    return {case: [trained(directory, case, rank) for rank in range(processes)] for case in cases}


class Backend(enum.Enum):
    """Location of the workers' modules."""

    EMULATOR = "in each process"
    SERVER = "in a device server"


@contextlib.contextmanager
def environment_of(backend: Backend, directory: pathlib.Path) -> Iterator[dict[str, str]]:
    """Yields the environment with which a job uses this backend. A server stops at the end of the context."""
    if backend is Backend.EMULATOR:
        yield {}
        return
    with Server(directory) as server:
        yield {"HPU_BACKEND": server.backend}


def assert_same_weights(one: Trained, other: Trained, rtol: float = 1e-4) -> None:
    assert len(one.weights) == len(other.weights) > 0
    for index, (a, b) in enumerate(zip(one.weights, other.weights)):
        # Biases may be near 0, so the tolerance depends on their scale.
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(1e-2, float(np.abs(b).max())), err_msg=str(index))


def assert_rounded_as(workers: list[Trained], count: int, rounded: Trained, exact: Trained) -> None:
    """Compares workers that trained together in bfloat16 with one worker in bfloat16 and one in float32.

    Each worker rounds its own part of the batch. Its weights may therefore differ from one worker's as much as bfloat16
    differs from float32, and single weights by a large share of their value. The check compares distances of whole
    models.
    """
    error = distance(rounded.weights, exact.weights)
    assert 0 < error < exact.travelled / 4, "bfloat16 changes the weights of one worker too much, or not at all"
    assert len(workers) == count
    for worker in workers:
        assert (worker.replicas, worker.fallbacks) == (count, 0)
        for own, other in zip(worker.weights, workers[0].weights):
            np.testing.assert_array_equal(own, other, "the workers' weights differ")
        assert distance(worker.weights, exact.weights) < 2 * error
        np.testing.assert_allclose(worker.numbers, exact.numbers, rtol=2e-2)


def assert_trained_as(workers: list[Trained], count: int, expected: Trained) -> None:
    """Checks that `count` workers trained together, without CPU fallbacks, with the results `expected`."""
    assert len(workers) == count
    for worker in workers:
        assert worker.replicas == count
        assert worker.fallbacks == 0
        assert_same_weights(worker, expected)
