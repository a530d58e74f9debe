"""One run of an `hpu run` job: starts the ranks, forwards their output and collects their exit codes.

job_supervisor.py adds restarts.
"""

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
# Output lines kept per rank, for the report of a failure.
_KEPT_LINES = 30
_LONGEST_LINE = 1 << 16
_PR_SET_PDEATHSIG = 1
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)

# Called with the rank, the file descriptor (1: stdout, 2: stderr) and a line of output without its newline.
Sink = Callable[[int, int, str], None]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    # By rank. As in a shell, a process killed by signal n has the exit code 128 + n.
    exit_codes: tuple[int, ...]
    # The rank whose failure ended the job, or None.
    failed: int | None
    # The ranks that had ended with exit code 0 when that rank failed.
    ended_before: tuple[int, ...]
    # The last output lines of the failed rank.
    log: tuple[str, ...]
    # The signal that this process received and that ended the job, or None.
    signal: int | None

    @property
    def exit_code(self) -> int:
        """128 + n if signal n to this process ended the job, else the failed rank's exit code or 0."""
        if self.signal is not None:
            return 128 + self.signal
        return 0 if self.failed is None else self.exit_codes[self.failed]


@dataclasses.dataclass(frozen=True)
class Grace:
    """Seconds between the signal that requests the ranks to end and SIGKILL."""

    after_failure: float
    # After a signal to the launcher.
    after_signal: float


class Interruption:
    """Context manager that records the first SIGINT, SIGTERM or SIGHUP of this process. Main thread only."""

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
    """The stdout or stderr pipe of a rank."""

    rank: int
    number: int
    pipe: IO[bytes]
    rest: bytes = b""


class Job:
    """Runs one process per environment and waits for all of them. The first failure ends the others.

    Each process leads its own process group, so that its children can be killed with it. If this process dies, all
    groups are killed. Main thread only.
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
        """Starts all processes and returns when all have ended and all output has been passed to the sink."""
        failed: int | None = None
        ended_before: tuple[int, ...] = ()
        with _watcher() as self._watch:
            try:
                for rank in range(len(self._environments)):
                    self._start(rank)
                running = True
                while running and failed is None and self._interruption.signal is None:
                    self._read(_POLL_SECONDS)
                    # In this order, so that a failure between the two calls is found.
                    running = self._running()
                    failed = self._first_failure()
                if failed is not None:
                    ended_before = tuple(i for i, process in enumerate(self._processes) if _returncode(process) == 0)
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
        return Outcome(codes, failed, ended_before, log, self._interruption.signal)

    def _start(self, rank: int) -> None:
        process = subprocess.Popen(
            self._command,
            env=dict(self._environments[rank]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # safe: this process has no other thread
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
        """Returns a failed rank, or None. Prefers a rank killed by a signal, whose death may have failed the others."""
        codes = {rank: _returncode(process) for rank, process in enumerate(self._processes)}
        failed = {rank: code for rank, code in codes.items() if code}
        return min(failed, key=lambda rank: failed[rank] >= 0, default=None)

    def _read(self, timeout: float) -> bool:
        """Passes available output to the sink. Returns False if no pipe became readable within `timeout`."""
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
                self._emit(stream, line)
        return bool(events)

    def _emit(self, stream: _Stream, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip("\r")
        self._logs[stream.rank].append(text)
        self._sink(stream.rank, stream.number, text)

    def _drain(self) -> None:
        """Passes the remaining output to the sink. Does not wait for children that survived and hold the pipes open."""
        while self._selector.get_map() and self._read(0):
            pass
        for key in list(self._selector.get_map().values()):
            if key.data.rest:
                self._emit(key.data, key.data.rest)
        self._selector.close()

    def _announce(self, failed: int) -> None:
        """Adds a line with the failed rank to the output of every rank that is still running."""
        code = _returncode(self._processes[failed])
        assert code is not None
        reason = f"rank {failed} {how_ended(_shell_code(code))}"
        for rank, process in enumerate(self._processes):
            if _returncode(process) is None:
                self._sink(rank, 2, f"hpu run: rank {rank} is terminated, because {reason}")

    def _stop(self, number: int, seconds: float) -> None:
        """Sends a signal to all ranks and waits up to `seconds` for all ranks to end."""
        self._send(number)
        end = time.monotonic() + seconds
        while self._running() and time.monotonic() < end:
            self._read(_POLL_SECONDS)

    def _kill(self) -> None:
        """Kills the process groups of all ranks, and waits for the ranks."""
        self._send(signal.SIGKILL)
        for process in self._processes:
            process.wait()

    def _send(self, number: int) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)


@contextlib.contextmanager
def _watcher() -> Iterator[Callable[[int], None]]:
    """Starts job_watcher.py, which kills the job's process groups if this process dies within the context.

    Yields a function that registers a process group with the watcher.
    """
    command = [sys.executable, "-I", "-S", job_watcher.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0, start_new_session=True) as process:
        assert process.stdin is not None
        pipe = process.stdin

        def tell(word: object) -> None:
            with contextlib.suppress(BrokenPipeError):  # the watcher was killed
                pipe.write(f"{word}\n".encode())

        try:
            yield tell
        finally:
            tell(job_watcher.DONE)


def _end_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _returncode(process: subprocess.Popen[bytes]) -> int | None:
    """Like Popen.poll(), but leaves the process unreaped, so that its process group id is not reused."""
    state = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if state is None:
        return None
    return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status


def _shell_code(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode


def how_ended(exit_code: int) -> str:
    """Describes an exit code in words. As in a shell, a code above 128 means a signal."""
    return f"was ended by signal {exit_code - 128}" if exit_code > 128 else f"ended with exit code {exit_code}"
