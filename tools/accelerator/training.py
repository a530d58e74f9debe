"""Training runs of the accelerator kit: recorded on the CPU, repeated on the card."""

from __future__ import annotations

import time

from benchmarks.models import Problem, Trainer
from tools.accelerator import programs

STEPS = 50


def train(problem: Problem, device: str, steps: int) -> tuple[list[float], float]:
    """Returns the losses of the first steps from reproducible weights, and the seconds until the first loss."""
    trainer = Trainer(problem, device)
    programs.set_weights(trainer.model)
    begin = time.perf_counter()
    (first,) = trainer.losses(problem.batch(), 1)
    seconds = time.perf_counter() - begin
    return [first, *trainer.losses(problem.batch(), steps - 1)], seconds
