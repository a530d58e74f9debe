"""Ops of the op sweep (tests/ops/sweep) with arguments of chosen sizes, and workers that run them."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

import numpy as np

from tests.ops.sweep import excluded, generic, makers, registry, values
from tests.ops.sweep.makers import calls
from tests.ops.sweep.program import Program


def names(pattern: str) -> list[str]:
    """Returns the ops whose whole name matches the regular expression. Requires the loaded plugin."""
    claimed = [claim.op for claim in registry.claims() if claim.op not in excluded.reasons()]
    return [op for op in claimed if re.fullmatch(pattern, op)]


class Sizes:
    """Replaces the sizes that the sweep draws by sizes of about `elements` elements."""

    def __init__(self, elements: int) -> None:
        self._elements = elements

    def draw_dimension(self, rng: np.random.Generator) -> int:
        return max(1, round(self._elements ** (1 / 3)))

    def draw_shape(self, rng: np.random.Generator, rank: int | None = None) -> tuple[int, ...]:
        rank = int(rng.integers(1, 5)) if rank is None else rank
        return (max(1, round(self._elements ** (1 / max(1, rank)))),) * rank

    def install(self) -> None:
        makers.find("Add")  # imports all makers
        for name, module in list(sys.modules.items()):
            if name.startswith("tests.ops.sweep"):
                for function in ("draw_dimension", "draw_shape"):
                    if hasattr(module, function):
                        setattr(module, function, getattr(self, function))
                if hasattr(module, "draw_style"):
                    setattr(module, "draw_style", lambda rng: values.Style.UNIT)  # noqa: B010


def program(op: str, size: int, rng: np.random.Generator) -> Program:
    """Draws a call of the op. Requires Sizes(size).install()."""
    if op in _MAKERS:
        return _MAKERS[op](size, rng)
    maker = makers.find(op)
    return maker(rng) if maker else generic.draw(op, rng)


def _gather(elements: int, rng: np.random.Generator) -> Program:
    rows = max(1, round(elements**0.5))
    arguments = {
        "params": rng.random((rows, rows), np.float32),
        "indices": rng.integers(0, rows, rows, np.int32),
        "axis": np.array(0, np.int32),
    }
    return calls.call("GatherV2", arguments)


# Makers of programs for ops whose arguments in the sweep end TensorFlow for larger dimensions.
_MAKERS = {"GatherV2": _gather}


class WorkerEndedError(Exception):
    """The process ended, or exceeded the time limit."""

    def __init__(self, text: str, timed_out: bool) -> None:
        super().__init__(text)
        self.timed_out = timed_out


class LineWorker:
    """A process that answers a line by lines, and ends each answer with an empty line.

    The process starts at the first request, and again after each end.
    """

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._command = command
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: str) -> Iterator[str]:
        """Yields the lines of the answer. Raises WorkerEndedError if the process ends or exceeds the time limit."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        timed_out = threading.Event()

        def end() -> None:
            timed_out.set()
            process.kill()

        timer = threading.Timer(self._timeout, end)
        timer.start()
        try:
            process.stdin.write(f"{request}\n")
            process.stdin.flush()
            while (line := process.stdout.readline()).strip():
                yield line
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            raise WorkerEndedError(_end_of(process.wait()), timed_out.is_set())

    def close(self) -> None:
        """Ends the process. The next request starts a new process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def _end_of(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"
