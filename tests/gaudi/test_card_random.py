"""HPU_GAUDI_RANDOM=card: stateful random ops draw the numbers of the card's generator."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tests.gaudi import doubles
from tests.gaudi import random_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

EXACT = {"HPU_GAUDI_RANDOM": "exact"}
CARD = {"HPU_GAUDI_RANDOM": "card"}
UNPROVEN = {"HPU_GAUDI_RANDOM": "card", "HPU_GAUDI_UNPROVEN": "1"}
STATEFUL = ("uniform", "normal", "bfloat16")


def draws(backend: str, settings: list[dict[str, str]]) -> list[Any]:
    done = run_with_tensorflow(call_to(programs.draw, settings), {"HPU_BACKEND": backend})
    return json.loads(done.stdout.splitlines()[-1])


def assert_same(got: Any, expected: Any) -> None:
    for call, numbers in zip(got, expected, strict=True):
        for name in numbers:
            np.testing.assert_allclose(call[name], numbers[name], rtol=2e-5, atol=1e-6, err_msg=name)


def test_other_devices_draw_tensorflows_numbers() -> None:
    exact, card = draws("emulator", [EXACT, CARD])
    assert_same(card, exact)


def test_the_card_draws_where_its_kernels_are_allowed() -> None:
    backend = doubles.backend("1.18")
    exact, card, again = draws(backend, [EXACT, UNPROVEN, UNPROVEN])
    (refused,) = draws(backend, [CARD])
    assert_same(refused, exact)  # the CPU draws
    for call, numbers in zip(card, exact, strict=True):
        np.testing.assert_array_equal(call["stateless"], numbers["stateless"])
        for name in STATEFUL:
            assert not np.allclose(call[name], numbers[name]), name
        for name in ("uniform", "bfloat16"):
            assert np.min(call[name]) >= 0 and np.max(call[name]) < 1
            assert abs(np.mean(call[name]) - 0.5) < 0.05
        assert abs(np.mean(call["normal"])) < 0.15 and abs(np.std(call["normal"]) - 1) < 0.15
    # The state advances with each call, and begins with the seed.
    assert all(card[0][name] != card[1][name] for name in STATEFUL)
    assert again == card
