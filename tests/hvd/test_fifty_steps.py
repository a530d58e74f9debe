"""Horovod's weights after 50 steps are independent of the number of ranks, the launcher and the backend."""

from __future__ import annotations

import pathlib

import pytest

from tests.distribute.jobs import Backend, Trained, assert_rounded_as, assert_trained_as, environment_of
from tests.hvd.jobs import Start, train

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TIMEOUT = 800.0  # seconds per job

CASES = ("cnn-keras", "cnn-tape", "transformer-keras", "transformer-tape", "normalised-keras")
ROUNDED = ("cnn-keras", "transformer-tape", "normalised-keras")
CONVERSION = {"TF_BF16_CONVERSION": "full"}
STEPS = 50
STARTS = (Start.HOROVODRUN, Start.MPIRUN, Start.HPU_RUN, Start.MULTIPROCESSING)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """Results of one rank on the emulator."""
    return train(tmp_path_factory.mktemp("alone"), 1, *CASES, steps=STEPS)


def train_by(
    start: Start, backend: Backend, count: int, directory: pathlib.Path, *cases: str, **environment: str
) -> dict[str, list[Trained]]:
    """Trains on `count` ranks. Returns each rank's result, by case."""
    with environment_of(backend, directory) as variables:
        return train(
            directory,
            count,
            *cases,
            steps=STEPS,
            start=start,
            environment={**variables, **environment},
            timeout=TIMEOUT,
        )


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("backend", list(Backend), ids=lambda backend: backend.name)
@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.name)
def test_weights(
    start: Start, backend: Backend, count: int, alone: dict[str, list[Trained]], tmp_path: pathlib.Path
) -> None:
    ranks = train_by(start, backend, count, tmp_path, *CASES)
    for case in CASES:
        assert_trained_as(ranks[case], count, alone[case][0])


@pytest.fixture(scope="module")
def rounded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """Results of one rank with bf16 conversion."""
    return train(tmp_path_factory.mktemp("rounded"), 1, *ROUNDED, steps=STEPS, environment=CONVERSION)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("backend", list(Backend), ids=lambda backend: backend.name)
def test_weights_under_bf16_conversion(
    backend: Backend,
    count: int,
    alone: dict[str, list[Trained]],
    rounded: dict[str, list[Trained]],
    tmp_path: pathlib.Path,
) -> None:
    ranks = train_by(Start.HPU_RUN, backend, count, tmp_path, *ROUNDED, **CONVERSION)
    for case in ROUNDED:
        assert_rounded_as(ranks[case], count, rounded[case][0], alone[case][0])
