"""A job: a command for each rank, its output, and its end (`hpu run`). job_supervisor.py restarts one that failed."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import dataclasses
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Any

from habana_frameworks.tensorflow._internal.launch import job_watcher

_POLL_SECONDS = 0.05
# What a rank that failed is remembered by.
_KEPT_LINES = 30
_LONGEST_LINE = 1 << 16
_PR_SET_PDEATHSIG = 1
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)

# Takes the rank, the number of the stream (1: stdout, 2: stderr) and a line of output without its end.
Sink = Callable[[int, int, str], None]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    # By rank, as a shell tells them: 128 and the signal's number for a process that a signal ended.
    exit_codes: tuple[int, ...]
    # The rank that failed first; None if none did.
    failed: int | None
    # Its last lines of output.
    log: tuple[str, ...]
    # The signal that ended the job from outside; None if none did.
    signal: int | None

    @property
    def exit_code(self) -> int:
        """The job's own."""
        if self.signal is not None:
            return 128 + self.signal
        return 0 if self.failed is None else self.exit_codes[self.failed]


@dataclasses.dataclass(frozen=True)
class Grace:
    """Seconds between asking processes to end and killing them."""

    after_failure: float
    # The job is ended from outside.
    after_signal: float


class Interruption:
    """The first of SIGINT, SIGTERM and SIGHUP that this process gets while the context is open. Main thread only."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        self._previous = {number: signal.signal(number, self._note) for number in _STOPPING}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: object) -> None:
        self.signal = self.signal or number


@dataclasses.dataclass
class _Stream:
    """One of a rank's two pipes."""

    rank: int
    number: int
    pipe: IO[bytes]
    rest: bytes = b""


class Job:
    """Runs one process for each environment and waits for all. The first failure ends the others.

    Each process leads a session of its own, so that what it starts ends with it; all of it ends if this process dies,
    however. To be run by the main thread.
    """

    def __init__(
        self,
        command: Sequence[str],
        environments: Sequence[Mapping[str, str]],
        sink: Sink,
        grace: Grace,
        interruption: Interruption,
    ) -> None:
        """`interruption` ends the job."""
        self._command = list(command)
        self._environments = environments
        self._sink = sink
        self._grace = grace
        self._processes: list[subprocess.Popen[bytes]] = []
        self._selector = selectors.DefaultSelector()
        self._logs = [collections.deque[str](maxlen=_KEPT_LINES) for _ in environments]
        self._interruption = interruption
        self._watch: Callable[[int], None] = lambda group: None

    def run(self) -> Outcome:
        """Starts all processes; returns when all have ended and their output has been given."""
        failed: int | None = None
        with _watcher() as self._watch:
            try:
                for rank in range(len(self._environments)):
                    self._start(rank)
                while failed is None and self._interruption.signal is None and self._running():
                    self._read(_POLL_SECONDS)
                    failed = self._first_failure()
                if failed is not None:
                    self._announce(failed)
                if self._interruption.signal is not None:
                    self._stop(self._interruption.signal, self._grace.after_signal)
                elif failed is not None:
                    self._stop(signal.SIGTERM, self._grace.after_failure)
            finally:
                self._kill()
                self._drain()
        codes = tuple(_shell_code(process.wait()) for process in self._processes)
        log = tuple(self._logs[failed]) if failed is not None else ()
        return Outcome(codes, failed, log, self._interruption.signal)

    def _start(self, rank: int) -> None:
        process = subprocess.Popen(
            self._command,
            env=dict(self._environments[rank]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # there is no other thread
        )
        self._processes.append(process)
        self._watch(process.pid)
        assert process.stdout is not None and process.stderr is not None
        for number, pipe in ((1, process.stdout), (2, process.stderr)):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, _Stream(rank, number, pipe))

    def _running(self) -> bool:
        return any(_returncode(process) is None for process in self._processes)

    def _first_failure(self) -> int | None:
        """Of ranks that failed between two looks, one that a signal ended: that may be why others failed."""
        codes = {rank: _returncode(process) for rank, process in enumerate(self._processes)}
        failed = {rank: code for rank, code in codes.items() if code}
        return min(failed, key=lambda rank: failed[rank] >= 0, default=None)

    def _read(self, timeout: float) -> bool:
        """Passes on what there is to read; whether there was anything."""
        if not self._selector.get_map():
            time.sleep(timeout)  # all pipes are closed
            return False
        events = self._selector.select(timeout)
        for key, _ in events:
            stream: _Stream = key.data
            data = stream.pipe.read(_LONGEST_LINE)
            if not data:
                self._selector.unregister(stream.pipe)
                data = b"\n" if stream.rest else b""
            lines = (stream.rest + data).split(b"\n")
            stream.rest = lines.pop()
            if len(stream.rest) >= _LONGEST_LINE:
                lines.append(stream.rest)
                stream.rest = b""
            for line in lines:
                self._give(stream, line)
        return bool(events)

    def _give(self, stream: _Stream, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip("\r")
        self._logs[stream.rank].append(text)
        self._sink(stream.rank, stream.number, text)

    def _drain(self) -> None:
        """Gives what is left in the pipes, without waiting for processes that left their session and kept them."""
        while self._selector.get_map() and self._read(0):
            pass
        for key in list(self._selector.get_map().values()):
            if key.data.rest:
                self._give(key.data, key.data.rest)
        self._selector.close()

    def _announce(self, failed: int) -> None:
        """Adds a line that names the failed rank to the output of every rank that still runs."""
        code = _returncode(self._processes[failed])
        assert code is not None
        reason = f"rank {failed} {how_ended(_shell_code(code))}"
        for rank, process in enumerate(self._processes):
            if _returncode(process) is None:
                self._sink(rank, 2, f"hpu run: rank {rank} is ended, because {reason}")

    def _stop(self, number: int, seconds: float) -> None:
        """Asks all to end and waits for as long as they may take."""
        self._send(number)
        end = time.monotonic() + seconds
        while self._running() and time.monotonic() < end:
            self._read(_POLL_SECONDS)

    def _kill(self) -> None:
        """Ends what is left of every rank's session."""
        self._send(signal.SIGKILL)
        for process in self._processes:
            process.wait()

    def _send(self, number: int) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)


@contextlib.contextmanager
def _watcher() -> Iterator[Callable[[int], None]]:
    """What takes the process groups that a process of its own kills, should this one be killed within the context."""
    command = [sys.executable, "-I", "-S", job_watcher.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0, start_new_session=True) as process:
        assert process.stdin is not None
        pipe = process.stdin

        def tell(word: object) -> None:
            with contextlib.suppress(BrokenPipeError):  # somebody has killed it
                pipe.write(f"{word}\n".encode())

        try:
            yield tell
        finally:
            tell(job_watcher.DONE)


def _end_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _returncode(process: subprocess.Popen[bytes]) -> int | None:
    """As Popen's, but leaves the process unreaped, so that the number of its group stays its own."""
    state = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if state is None:
        return None
    return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status


def _shell_code(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode


def how_ended(exit_code: int) -> str:
    """Describes the end of a process by its exit code as a shell tells it."""
    return f"was ended by signal {exit_code - 128}" if exit_code > 128 else f"ended with exit code {exit_code}"
