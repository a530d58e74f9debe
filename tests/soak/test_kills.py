"""Short runs of kill_clients.py and kill_server.py. `make soak` runs them for minutes."""

from __future__ import annotations

import pathlib

import pytest

from tests.soak import kill_clients, kill_server


def test_killed_clients_leave_nothing_behind(tmp_path: pathlib.Path) -> None:
    options = kill_clients.Options(clients=2, minutes=0, round_seconds=3, seed=1)
    outcome = kill_clients.run(options, tmp_path)
    assert outcome.problems == []
    assert outcome.killed >= 2
    assert outcome.sessions_opened >= 4


@pytest.mark.slow
def test_a_training_outlives_its_server(tmp_path: pathlib.Path) -> None:
    outcome = kill_server.run(kill_server.Options(kills=2, epochs=30, seed=3), tmp_path)
    assert outcome.problems == []
    assert outcome.kills == 2
    assert outcome.trainings >= 1
