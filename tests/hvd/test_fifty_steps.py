"""Horovod's weights after 50 steps, whatever the number of ranks, the launcher and the backend."""

from __future__ import annotations

import pathlib

import pytest

from tests.distribute.jobs import Backend, Trained, assert_trained_as, environment_of
from tests.hvd.jobs import Start, train

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TIMEOUT = 800.0  # of a job

CASES = ("cnn-keras", "cnn-tape", "transformer-keras", "transformer-tape", "normalised-keras")
STEPS = 50
STARTS = (Start.HOROVODRUN, Start.MPIRUN, Start.HPU_RUN, Start.MULTIPROCESSING)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """By one rank, on the emulator."""
    return train(tmp_path_factory.mktemp("alone"), 1, *CASES, steps=STEPS)


@pytest.mark.parametrize("backend", list(Backend), ids=lambda backend: backend.name)
@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.name)
def test_weights(start: Start, backend: Backend, alone: dict[str, list[Trained]], tmp_path: pathlib.Path) -> None:
    for count in (2, 4):
        directory = tmp_path / str(count)
        directory.mkdir()
        with environment_of(backend, directory) as environment:
            ranks = train(directory, count, *CASES, steps=STEPS, start=start, environment=environment, timeout=TIMEOUT)
        for case in CASES:
            assert_trained_as(ranks[case], count, alone[case][0])
