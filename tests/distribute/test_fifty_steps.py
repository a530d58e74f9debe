"""HPUStrategy's weights after 50 steps, whatever the number of workers, the launcher and the backend."""

from __future__ import annotations

import pathlib

import pytest

from habana_frameworks.tensorflow import ports
from tests.distribute.jobs import (
    TRAIN,
    Backend,
    Trained,
    assert_trained_as,
    environment_of,
    train,
    trained,
)
from tests.hvd.jobs import Start, run_program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TIMEOUT = 800.0  # of a job

CASES = ("cnn-fit", "cnn-loop", "transformer-fit", "transformer-loop", "normed-fit")
STEPS = ("--steps", "50")
STARTS = (Start.HPU_RUN, Start.MPIRUN_GLOO, Start.MULTIPROCESSING)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """By one worker, on the emulator."""
    directory = tmp_path_factory.mktemp("alone")
    return train(directory, 1, *CASES, options=STEPS)


@pytest.mark.parametrize("backend", list(Backend), ids=lambda backend: backend.name)
@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.name)
def test_weights(start: Start, backend: Backend, alone: dict[str, list[Trained]], tmp_path: pathlib.Path) -> None:
    for count in (2, 4):
        directory = tmp_path / str(count)
        directory.mkdir()
        with environment_of(backend, directory) as environment, ports.reserved(count) as numbers:
            arguments = ["--out", str(directory), *STEPS]
            if start is Start.MPIRUN_GLOO:
                arguments += ["--addresses", ",".join(f"127.0.0.1:{number}" for number in numbers)]
            run_program(
                directory,
                TRAIN,
                *arguments,
                *CASES,
                start=start,
                processes=count,
                environment=environment,
                timeout=TIMEOUT,
            )
        for case in CASES:
            assert_trained_as([trained(directory, case, rank) for rank in range(count)], count, alone[case][0])
