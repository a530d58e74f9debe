"""HPUStrategy: the weights that one worker would come to, whatever the number of workers."""

from __future__ import annotations

import pathlib

import pytest

from tests.distribute.jobs import Trained, assert_same_weights, train
from tests.remote.servers import Server

CASES = ("cnn-fit", "cnn-loop", "transformer-loop")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """By one worker."""
    return train(tmp_path_factory.mktemp("alone"), 1, *CASES)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """By two workers."""
    return train(tmp_path_factory.mktemp("pair"), 2, *CASES)


@pytest.mark.parametrize("case", CASES)
def test_two_workers_train_as_one_does(
    case: str, alone: dict[str, list[Trained]], pair: dict[str, list[Trained]]
) -> None:
    (expected,) = alone[case]
    assert expected.replicas == 1
    for rank, worker in enumerate(pair[case]):
        assert worker.replicas == 2
        assert worker.devices == [f"/job:worker/replica:0/task:{rank}/device:HPU:0"]
        assert worker.fallbacks == 0
        assert worker.clusters, "nothing ran on the HPU"
        assert_same_weights(worker, expected)
        assert worker.numbers == pytest.approx(expected.numbers, rel=1e-4)


def test_four_workers_on_modules_of_a_device_server(tmp_path: pathlib.Path, alone: dict[str, list[Trained]]) -> None:
    with Server(tmp_path) as server:
        workers = train(tmp_path, 4, "cnn-loop", environment={"HPU_BACKEND": server.backend})["cnn-loop"]
    for worker in workers:
        assert worker.replicas == 4
        assert_same_weights(worker, alone["cnn-loop"][0])


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, "transformer-fit"])
def test_fifty_steps_on_one_two_and_four_workers(case: str, tmp_path: pathlib.Path) -> None:
    (expected,) = train(tmp_path / "1", 1, case, options=("--steps", "50"))[case]
    for count in (2, 4):
        for worker in train(tmp_path / str(count), count, case, options=("--steps", "50"))[case]:
            assert_same_weights(worker, expected)
