"""Worker processes for random programs. A crash or hang is an outcome; the next program uses a new process."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from tests.support import crashes
from tests.support.processes import WARM_PYTHON, start

TIMEOUT_S = 120.0
# Programs per process: enough to amortise its start, few enough to limit leftover state.
PROGRAMS = 400


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Outcome of a program. `difference` is empty if both devices agree.

    alone: whether the difference also occurs in a fresh process.
    """

    seed: int
    difference: str = ""
    mode: str = ""
    steps: tuple[int, ...] = ()
    observations: int = 0
    error: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    settings: dict[str, str] = dataclasses.field(default_factory=dict)
    listing: tuple[str, ...] = ()
    alone: bool = True
    dropped: tuple[int, ...] = ()


class Worker:
    """A worker process that runs programs."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (close() does)
        self._process = start(
            [WARM_PYTHON, "-m", "tests.ops.chains.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._bytes_read = 0  # of the errors
        self.programs = 0
        self.alive = True

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def examine(
        self, seed: int, dropped: Collection[int] = (), without: Collection[str] = (), cpu_only: bool = False
    ) -> Outcome:
        """Runs a program and compares the devices. cpu_only: runs only on the CPU, for the listing."""
        request = {"seed": seed, "dropped": list(dropped), "without": list(without), "cpu_only": cpu_only}
        self.programs += 1
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=self._timeout_s + (60 if self.programs == 1 else 0))
        except queue.Empty:
            return self._ended(seed, dropped, f"no end within {self._timeout_s:.0f} s")
        if not line:
            return self._ended(seed, dropped, self._death())
        answer: dict[str, Any] = json.loads(line)
        if contained := self._contained_crashes():
            answer["difference"] = answer.get("difference") or contained[0]
        lists = {name: tuple(answer.get(name, ())) for name in ("steps", "listing", "dropped")}
        return Outcome(**{**answer, **lists})

    def _contained_crashes(self) -> list[str]:
        """Returns the lines about crashes that the plugin contained since the last call."""
        text = os.pread(self._errors.fileno(), 1 << 22, self._bytes_read)  # keeps the process's position in the file
        self._bytes_read += len(text)
        return [*crashes.lines_of(text.decode(errors="replace"))]

    def _death(self) -> str:
        code = self._process.wait()
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().splitlines() if line.strip()]
        told = [line for line in lines if "Check failed" in line or "terminate called" in line or "what():" in line]
        return f"the process ended: {name} {' '.join((told or lines)[-3:])[:600]}"

    def _ended(self, seed: int, dropped: Collection[int], how: str) -> Outcome:
        self.close()
        return Outcome(seed, how, dropped=tuple(dropped))

    def close(self) -> None:
        """Ends the worker process."""
        if not self.alive:
            return
        self.alive = False
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._errors.close()


@contextlib.contextmanager
def worker() -> Iterator[Worker]:
    """Yields a new worker, and closes it at the end of the block."""
    made = Worker()
    try:
        yield made
    finally:
        made.close()


def described(outcome: Outcome, without: Collection[str] = ()) -> Outcome:
    """Adds the program's listing to an outcome whose process ended without one."""
    if outcome.listing:
        return outcome
    with worker() as own:
        told = own.examine(outcome.seed, outcome.dropped, without, cpu_only=True)
    return dataclasses.replace(told, difference=outcome.difference)


def examine_alone(seed: int, dropped: Collection[int] = (), without: Collection[str] = ()) -> Outcome:
    """Runs a program in a fresh process."""
    with worker() as own:
        outcome = own.examine(seed, dropped, without)
    return described(outcome, without)


def examine_all(seeds: Iterable[int], without: Collection[str] = ()) -> Iterator[Outcome]:
    """Runs programs, many per process. Reruns differing programs in fresh processes."""
    current: Worker | None = None
    try:
        for seed in seeds:
            if current is None or not current.alive or current.programs >= PROGRAMS:
                if current is not None:
                    current.close()
                current = Worker()
            outcome = current.examine(seed, without=without)
            if outcome.difference:
                again = examine_alone(seed, without=without)
                alone = bool(again.difference)
                outcome = again if alone else dataclasses.replace(described(outcome, without), alone=False)
            yield outcome
    finally:
        if current is not None:
            current.close()
