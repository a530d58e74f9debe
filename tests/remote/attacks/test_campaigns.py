"""Short runs of the attack campaigns. `make attack-server` and `make kill-ranks` run them longer."""

from __future__ import annotations

import pathlib

import pytest

from tests.soak import attack_server, kill_ranks


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_attack_affects_the_attackers_alone(tmp_path: pathlib.Path) -> None:
    options = attack_server.Options(minutes=0, clients=2, seed=1, round_seconds=20)
    outcome = attack_server.run(options, tmp_path)
    assert outcome.problems == []
    assert outcome.rounds == 1
    for name in ("programs_sent", "programs_refused", "programs_run", "messages_sent", "sessions"):
        assert outcome.counts[name] > 0, name
    assert outcome.attackers_killed > 2


def test_survivors_of_a_collective_learn_the_lost_rank(tmp_path: pathlib.Path) -> None:
    outcome = kill_ranks.run(kill_ranks.Options(kills=8, seed=3, max_mib=64), tmp_path)
    assert outcome.problems == []
    assert outcome.kills == 8
    assert outcome.survivors >= 8
    assert outcome.bystander_operations > 0
