"""`hpu smi --loop` on a terminal: redraws the table in place, with plots of the utilisation and the memory."""

from __future__ import annotations

import collections
import os
import shutil
import sys
from collections.abc import Sequence

from habana_frameworks.tensorflow.cli.smi import views
from habana_frameworks.tensorflow.cli.smi.sample import Sample
from habana_frameworks.tensorflow.cli.sparkline import sparkline
from habana_frameworks.tensorflow.monitor import Module

_SAMPLES = 40


def can_redraw() -> bool:
    """Whether stdout is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class LiveTable:
    """Draws each sample at the same place of the terminal. Cuts lines and columns that exceed the terminal's size."""

    def __init__(self) -> None:
        self._drawn = 0
        self._utilizations: dict[int, collections.deque[float | None]] = collections.defaultdict(_history)
        self._memory: dict[int, collections.deque[float | None]] = collections.defaultdict(_history)

    def draw(self, sample: Sample) -> None:
        """Replaces the drawn lines by the lines of `sample`."""
        for module in sample.modules:
            self._utilizations[module.id].append(sample.utilizations[module.id])
            self._memory[module.id].append(_memory_share(module))
        columns, rows = shutil.get_terminal_size()
        lines = [line[: columns - 1] for line in (*views.table_lines(sample), *self._plots(sample))][: rows - 1]
        # Moves the cursor to the first drawn line, and clears from there.
        back = f"\x1b[{self._drawn}F\x1b[J" if self._drawn else ""
        print(back + "\n".join(lines))
        self._drawn = len(lines)

    def _plots(self, sample: Sample) -> Sequence[str]:
        return [
            f"module {module.id}  utilisation {_bars(self._utilizations[module.id])}  "
            f"memory {_bars(self._memory[module.id])}"
            for module in sample.modules
        ]


def _history() -> collections.deque[float | None]:
    return collections.deque(maxlen=_SAMPLES)


def _memory_share(module: Module) -> float | None:
    """Used part of the memory, from 0 to 1; None if unknown."""
    if module.memory_used is None or not module.memory_total:
        return None
    return module.memory_used / module.memory_total


def _bars(values: Sequence[float | None]) -> str:
    return sparkline(list(values), 1.0, _SAMPLES)
