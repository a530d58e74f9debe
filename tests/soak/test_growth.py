"""Constant memory over many train steps."""

from __future__ import annotations

import pytest

from benchmarks.models import PROBLEMS, Trainer
from tests.support.memory import MOST_GROWTH, in_use, resident_bytes

WARM_UP = 300


@pytest.mark.parametrize(
    ("problem", "optimizer", "steps"),
    [
        pytest.param("mlp", "adam", 2000, marks=pytest.mark.slow),
        pytest.param("cnn", "sgd", 2000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)]),
        pytest.param("mlp", "sgd", 50000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)]),
    ],
)
def test_train_steps(hpu: str, problem: str, optimizer: str, steps: int) -> None:
    trainer = Trainer(PROBLEMS[problem], hpu, optimizer)
    batch = trainer.to_device(PROBLEMS[problem].batch())

    def train(count: int) -> None:
        for step in range(count):
            loss = trainer.step(*batch)
            if step % 50 == 0:
                loss.numpy()

    train(WARM_UP)
    device_before, resident_before = in_use(), resident_bytes()
    train(steps)
    device_after, resident_after = in_use(), resident_bytes()
    assert device_after == device_before
    assert resident_after - resident_before < MOST_GROWTH
