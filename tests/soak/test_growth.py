"""Memory does not grow with the number of train steps."""

from __future__ import annotations

import gc
import pathlib
import resource

import pytest

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import habana_device

MOST_GROWTH = 20 << 20
WARM_UP = 300


def resident_bytes() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def in_use() -> int:
    habana_device.synchronize()
    gc.collect()
    return habana_device.memory_info().in_use


@pytest.mark.parametrize(
    ("problem", "optimizer", "steps"),
    [
        ("mlp", "adam", 2000),
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
