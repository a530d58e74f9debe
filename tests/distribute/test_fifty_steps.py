"""HPUStrategy's weights after 50 steps are independent of the number of workers, the launcher and the backend."""

from __future__ import annotations

import pathlib

import pytest

from habana_frameworks.tensorflow._internal.launch import ports
from tests.distribute.jobs import (
    TRAIN,
    Backend,
    Trained,
    assert_rounded_as,
    assert_trained_as,
    environment_of,
    train,
    trained,
)
from tests.hvd.jobs import Start, run_program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TIMEOUT = 800.0  # seconds per job

CASES = ("cnn-fit", "cnn-loop", "transformer-fit", "transformer-loop", "normed-fit")
ROUNDED = ("cnn-loop", "transformer-fit", "normed-fit")
CONVERSION = {"TF_BF16_CONVERSION": "full"}
STEPS = ("--steps", "50")
STARTS = (Start.HPU_RUN, Start.MPIRUN_GLOO, Start.HOROVODRUN, Start.MULTIPROCESSING)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """Results of one worker on the emulator."""
    directory = tmp_path_factory.mktemp("alone")
    return train(directory, 1, *CASES, options=STEPS)


def train_by(
    start: Start, backend: Backend, count: int, directory: pathlib.Path, *cases: str, **environment: str
) -> dict[str, list[Trained]]:
    """Trains on `count` workers. Returns each worker's result, by case."""
    with environment_of(backend, directory) as variables, ports.reserved(count) as numbers:
        arguments = ["--out", str(directory), *STEPS]
        if start in (Start.MPIRUN_GLOO, Start.HOROVODRUN):
            arguments += ["--addresses", ",".join(f"127.0.0.1:{number}" for number in numbers)]
        run_program(
            directory,
            TRAIN,
            *arguments,
            *cases,
            start=start,
            processes=count,
            environment={**variables, **environment},
            timeout=TIMEOUT,
        )
    return {case: [trained(directory, case, rank) for rank in range(count)] for case in cases}


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("backend", list(Backend), ids=lambda backend: backend.name)
@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.name)
def test_weights(
    start: Start, backend: Backend, count: int, alone: dict[str, list[Trained]], tmp_path: pathlib.Path
) -> None:
    workers = train_by(start, backend, count, tmp_path, *CASES)
    for case in CASES:
        assert_trained_as(workers[case], count, alone[case][0])


@pytest.fixture(scope="module")
def rounded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """Results of one worker with bf16 conversion."""
    return train(tmp_path_factory.mktemp("rounded"), 1, *ROUNDED, options=STEPS, environment=CONVERSION)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("backend", list(Backend), ids=lambda backend: backend.name)
def test_weights_under_bf16_conversion(
    backend: Backend,
    count: int,
    alone: dict[str, list[Trained]],
    rounded: dict[str, list[Trained]],
    tmp_path: pathlib.Path,
) -> None:
    workers = train_by(Start.HPU_RUN, backend, count, tmp_path, *ROUNDED, **CONVERSION)
    for case in ROUNDED:
        assert_rounded_as(workers[case], count, rounded[case][0], alone[case][0])
