"""Runs one program on one device: `python -m tests.libraries.run MODULE NAME DEVICE FILE`.

Writes a Result to FILE as JSON, and the weights to FILE.npz.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import pathlib
import statistics as numbers
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from habana_frameworks.tensorflow.explanation import Explanation

WARM_UP, STEPS = 3, 12


@dataclasses.dataclass(frozen=True)
class Result:
    """Training of a program on one device. Without an HPU, the counts are 0."""

    losses: list[float]
    step_ms: float
    tolerance: float
    launches: float = 0
    """Launches per step after WARM_UP steps, of clusters and of eager ops."""
    fallbacks: float = 0
    """Runs on the CPU per step, of clusters and of eager ops that the HPU has."""
    reasons: tuple[str, ...] = ()
    """Why a step is more than one launch."""


def main(module: str, name: str, device: str, file: str) -> None:
    if device == "hpu":
        from habana_frameworks.tensorflow import load_habana_module

        load_habana_module()
    import numpy as np
    import tensorflow as tf

    tf.keras.utils.set_random_seed(1)
    counted = _Counted(device == "hpu")
    training = importlib.import_module(f"tests.libraries.programs.{module}").PROGRAMS[name]()
    losses, times = [], []
    for index in range(WARM_UP + STEPS):
        if index == WARM_UP:
            counted.start()
        start = time.perf_counter()
        losses.append(float(np.asarray(training.step())))
        times.append(time.perf_counter() - start)
    launches, fallbacks, reasons = counted.stop()
    ms = 1e3 * numbers.median(times[WARM_UP:])
    result = Result(losses, ms, training.tolerance, launches / STEPS, fallbacks / STEPS, reasons)
    pathlib.Path(file).write_text(json.dumps(dataclasses.asdict(result)))
    np.savez(file + ".npz", *[np.asarray(weight) for weight in training.weights()])


class _Counted:
    """Counts launches and CPU runs from start() to stop(). Collects the reasons from the beginning."""

    def __init__(self, on: bool) -> None:
        if on:
            from habana_frameworks.tensorflow.explanation import Collector

            self._collector = Collector()
            self._collector.start()
        self._on = on

    def start(self) -> None:
        self._before = self._counts()

    def stop(self) -> tuple[int, int, tuple[str, ...]]:
        if not self._on:
            return 0, 0, ()
        launches, fallbacks = (after - before for after, before in zip(self._counts(), self._before))
        return launches, fallbacks, tuple(dict.fromkeys(_reasons(self._collector.stop())))

    def _counts(self) -> tuple[int, int]:
        if not self._on:
            return 0, 0
        from habana_frameworks.tensorflow import statistics

        now = statistics.get()
        return now.launches, now.fallbacks


def _reasons(explanation: Explanation) -> Iterator[str]:
    """Yields why ops of the graphs that ran in each step are on the CPU or in different clusters."""
    from habana_frameworks.tensorflow.explanation import rules
    from tests.support.clusters import OUTSIDE

    for graph in explanation.graphs:
        if max((cluster.launches for cluster in graph.clusters), default=0) < STEPS:
            continue
        for refusal in graph.lowered:
            yield f"{refusal.op}: {refusal.reason}"
        for op in graph.ops:
            expected = op.rule is None or rules.find(op.rule).expected
            if not expected and op.type not in (*OUTSIDE, "Const"):
                yield f"{op.type}: {op.reason}"
        for split in graph.splits:
            yield split.reason


if __name__ == "__main__":
    main(*sys.argv[1:])
