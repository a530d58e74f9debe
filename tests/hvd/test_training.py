"""Horovod's weights are independent of the number of ranks and of the launcher."""

from __future__ import annotations

import pathlib

import pytest

from tests.distribute.jobs import Trained, assert_same_weights, assert_trained_as
from tests.hvd.jobs import Start, train
from tests.remote.servers import Server

pytestmark = pytest.mark.timeout(1260)  # two jobs with a minute of work each, on a busy machine

CASES = ("cnn-keras", "cnn-tape", "transformer-tape", "normalised-keras")
CONVERTED = "cnn-keras-bf16"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """Results of one rank."""
    return train(tmp_path_factory.mktemp("alone"), 1, *CASES)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """Results of two ranks."""
    return train(tmp_path_factory.mktemp("pair"), 2, *CASES, CONVERTED)


def check(alone: list[Trained], pair: list[Trained], has_two_clusters: bool = True) -> None:
    (expected,) = alone
    assert expected.replicas == 1
    assert_trained_as(pair, 2, expected)
    for rank in pair:
        assert all(device.endswith("device:HPU:0") for device in rank.devices)
        # Two clusters: forward and backward pass; update.
        assert not has_two_clusters or list(rank.clusters.values()) == [5, 5], rank.clusters
        assert rank.numbers == pytest.approx(expected.numbers, rel=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_two_ranks_train_as_one_does(
    case: str, alone: dict[str, list[Trained]], pair: dict[str, list[Trained]]
) -> None:
    check(alone[case], pair[case], has_two_clusters=not case.startswith("normalised"))


@pytest.mark.slow
def test_two_ranks_fit_a_transformer_as_one_does(tmp_path: pathlib.Path) -> None:
    case = "transformer-keras"
    check(train(tmp_path / "alone", 1, case)[case], train(tmp_path / "pair", 2, case)[case])


# Horovod's controller MPI. `hpu run`, which starts the other tests' jobs, uses Gloo, and other launchers take minutes.
QUICK_LAUNCHERS = (Start.MPIRUN,)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(start, id=start.name, marks=() if start in QUICK_LAUNCHERS else pytest.mark.slow)
        for start in Start
        if start is not Start.HPU_RUN
    ],
)
def test_every_launcher(start: Start, tmp_path: pathlib.Path, alone: dict[str, list[Trained]]) -> None:
    for rank in train(tmp_path, 2, "cnn-tape", start=start)["cnn-tape"]:
        assert rank.replicas == 2
        assert rank.clusters
        assert_same_weights(rank, alone["cnn-tape"][0])


@pytest.mark.slow
def test_modules_of_a_device_server(tmp_path: pathlib.Path, alone: dict[str, list[Trained]]) -> None:
    with Server(tmp_path) as server:
        ranks = train(tmp_path, 2, "cnn-keras", environment={"HPU_BACKEND": server.backend})["cnn-keras"]
    for rank in ranks:
        assert rank.replicas == 2
        assert_same_weights(rank, alone["cnn-keras"][0])


def test_conversion_to_bfloat16(alone: dict[str, list[Trained]], pair: dict[str, list[Trained]]) -> None:
    ranks = pair[CONVERTED]
    for rank in ranks:
        assert_same_weights(rank, ranks[0], rtol=0)
        assert_same_weights(rank, alone["cnn-keras"][0], rtol=2e-2)
        assert rank.numbers != alone["cnn-keras"][0].numbers, "nothing was converted"


def test_automatic_mixed_precision(tmp_path: pathlib.Path, alone: dict[str, list[Trained]]) -> None:
    """Two ranks convert their graphs to bfloat16, scale the loss, and train as one rank does in float32."""
    (expected,) = alone["cnn-keras"]
    ranks = train(tmp_path, 2, "cnn-keras", environment={"TF_ENABLE_AUTO_MIXED_PRECISION": "1"})["cnn-keras"]
    for rank in ranks:
        assert (rank.replicas, rank.loss_scale, expected.loss_scale) == (2, 2.0**15, 1.0)
        assert_same_weights(rank, ranks[0], rtol=0)
        assert_same_weights(rank, expected, rtol=5e-2)
        assert rank.numbers != expected.numbers, "nothing was converted"
