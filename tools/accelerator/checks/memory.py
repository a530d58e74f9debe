"""Check 9: constant device memory during training, according to TensorFlow's allocator and to the plugin."""

from __future__ import annotations

import gc
import sys
from typing import Any

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import habana_device, load_habana_module
from tools.accelerator.checks import outcome

_ROUNDS, _STEPS = 5, 20
# Accepted growth of the plugin's figure after the first round, as a share. The plugin's allocator rounds sizes.
_MAX_GROWTH = 0.01


def main() -> int:
    load_habana_module()
    problem = PROBLEMS["transformer"]
    trainer = Trainer(problem, outcome.HPU, "adam")
    tensors = trainer.to_device(problem.batch())
    in_use, reported = [], []
    for _ in range(_ROUNDS):
        for _ in range(_STEPS):
            loss = trainer.step(*tensors)
        loss.numpy()
        gc.collect()
        memory = habana_device.memory_info()
        in_use.append(memory.in_use)
        reported.append(memory.reported)
    values: dict[str, Any] = {
        "in use": in_use,
        "peak": memory.peak,
        "limit": memory.limit,
        "reported by the plugin": reported if reported[-1] else "not counted",
        "steps between two figures": _STEPS,
    }
    constant = len(set(in_use[1:])) == 1
    grows = reported[-1] > reported[1] * (1 + _MAX_GROWTH)
    mega = 1e6
    summary = f"tensors {in_use[-1] / mega:.1f} MB, {'constant' if constant else 'NOT constant'}; plugin " + (
        f"{reported[-1] / mega:.1f} MB, {'GROWS' if grows else 'does not grow'}" if reported[-1] else "counts nothing"
    )
    return outcome.report(constant and not grows, summary, values)


if __name__ == "__main__":
    sys.exit(main())
