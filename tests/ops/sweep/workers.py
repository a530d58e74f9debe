"""Worker processes with a time limit per request, and diagnosis of their end."""

from __future__ import annotations

import fcntl
import os
import pathlib
import pickle
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from tests.ops.sweep.records import FRAME_BYTES, Ended, Started
from tests.support import crashes

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASE_SECONDS = 60.0
_START_SECONDS = 120.0
# Fills new device memory, and the C library's memory through MALLOC_PERTURB_, so that reads of unwritten memory show.
_POISON = 0xFB


class WorkerEndedError(Exception):
    """The process ended or exceeded the time limit. The text contains the cause and the last output."""


class Worker:
    """Client of a worker process, which starts at the first request and after each end."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._parent: subprocess.Popen[bytes] | None = None
        self._process = 0  # process that runs the cases; 0 if it has ended
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
        fcntl.fcntl(self._errors, fcntl.F_SETFL, fcntl.fcntl(self._errors, fcntl.F_GETFL) | os.O_APPEND)
        self._pending = b""

    def ask(self, *request: Any, seconds: float = CASE_SECONDS) -> Iterator[Any]:
        """Yields the replies. Raises WorkerEndedError if the process ends or exceeds the time limit."""
        parent = self._started()
        assert parent.stdin is not None
        parent.stdin.write(pickle.dumps(request))
        parent.stdin.flush()
        while (reply := self._read(seconds)) is not None:
            if isinstance(reply, Ended):
                raise self._ended(reply, "")
            yield reply

    def contained_crashes(self, keep: bool = False) -> list[str]:
        """Returns the lines about crashes that the plugin contained since the last call. keep: for refusals()."""
        self._errors.seek(0)
        lines = [*crashes.lines_of(self._errors.read().decode(errors="replace"))]
        if lines and not keep:
            self._errors.truncate(0)
        return lines

    def refusals(self) -> list[str]:
        """Returns the refusals of bounded recipes since the last call, without node names."""
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace")
        self._errors.truncate(0)
        return re.findall(r"no bounded recipe: \w+: (?:\{\{node [^}]*\}\}: )?(.*)", text)

    def end(self) -> None:
        """Kills the process. The next request starts a new process."""
        if self._process:
            os.kill(self._process, signal.SIGKILL)
            self._read(_START_SECONDS)
            self._process = 0

    def close(self) -> None:
        if self._parent is not None:
            assert self._parent.stdin is not None
            self._parent.stdin.close()
            self._parent.wait()
            self._parent = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._parent is None:
            self._parent = subprocess.Popen(
                [sys.executable, "-m", "tests.ops.sweep.worker", self._kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=ROOT,
                env={**os.environ, **_environment(self._kind)},
            )
        while not self._process:
            started = self._read(_START_SECONDS)
            if isinstance(started, Started):
                self._process = started.process
        return self._parent

    def _read(self, seconds: float) -> Any:
        """Returns the next reply."""
        assert self._parent is not None and self._parent.stdout is not None
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._parent.stdout, selectors.EVENT_READ)
            while (frame := self._take()) is None:
                if not selector.select(max(0.0, end - time.monotonic())):
                    os.kill(self._process, signal.SIGKILL)
                    raise self._ended(self._read(_START_SECONDS), f"no answer for {seconds:.0f} s")
                self._pending += os.read(self._parent.stdout.fileno(), 1 << 20)
        return pickle.loads(frame)

    def _take(self) -> bytes | None:
        """Returns a complete reply from the received bytes; None if incomplete."""
        size = int.from_bytes(self._pending[:FRAME_BYTES], "little")
        if len(self._pending) < FRAME_BYTES + max(1, size):
            return None
        frame, self._pending = self._pending[FRAME_BYTES : FRAME_BYTES + size], self._pending[FRAME_BYTES + size :]
        return frame

    def _ended(self, end: Ended, reason: str) -> WorkerEndedError:
        self._process = 0
        name = signal.Signals(-end.code).name if end.code < 0 else f"exit code {end.code}"
        return WorkerEndedError(f"{reason or name}: {self._last_words()}")

    def _last_words(self) -> str:
        """Returns the message of a failed CHECK or an uncaught exception, or else the last line."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        self._errors.truncate(0)
        telling = [line for line in lines if re.search(r"Check fail|terminate called|what\(\)|: F ", line)]
        return (telling[-1] if telling else (lines[-1] if lines else ""))[:300]


def _environment(kind: str) -> dict[str, str]:
    common = {
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "PYTHONWARNINGS": "ignore",
        "MALLOC_PERTURB_": str(_POISON),
        "HPU_EAGER_COMPILE_AFTER": "2",
        "HPU_EAGER_MAX_SIGNATURES": "1000000",
        "HPU_MIN_CLUSTER_SIZE": "1",
        "HPU_MEMORY_MB": "2048",
        "TF_CPU_ALLOCATOR_SIZE_G": "1",
    }
    if kind == "cpu":
        return common
    bounded = {
        "HPU_COMPILE_MODE": "strict",
        "TF_ENABLE_DYNAMIC_SHAPES": "1",
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_CPP_VMODULE": "bounded_recipes=1",  # prints refusals
    }
    kinds = {
        "hpu": {},
        "static": {"HPU_COMPILE_MODE": "strict"},
        "bounded": bounded,
        "random": {**bounded, "HPU_FILL_MEMORY": "255", "HPU_COMPILE_EFFORT": "0"},  # new memory is NaN
    }
    return {**common, "HPU_FILL_MEMORY": str(_POISON), **kinds[kind]}
