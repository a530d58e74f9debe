"""Runs the worker of `hpu synapse-check`. If a graph's compilation crashes or hangs, restarts it at the next graph."""

from __future__ import annotations

import dataclasses
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from habana_frameworks.tensorflow.cli.checks import Finding
from habana_frameworks.tensorflow.cli.synapse_check.report import Graph, Library, Outcome, Report

_WORKER = "habana_frameworks.tensorflow.cli.synapse_check.worker"
_READ_BYTES = 1 << 16
_MAX_LOG_BYTES = 4000


class CheckError(Exception):
    """The library cannot be used."""


@dataclasses.dataclass(frozen=True)
class Options:
    """Arguments of the worker; empty texts select the defaults of hpu_synapse_check (c_api.h)."""

    library: str
    generation: str
    programs: str
    timeout_seconds: float
    """Longest time between two steps of the worker."""


def check(options: Options, findings: tuple[Finding, ...]) -> Report:
    """Checks all graphs. Raises CheckError if the library cannot be used."""
    library: Library | None = None
    graphs: list[Graph] = []
    while library is None or len(graphs) < library.graphs:
        run = _Run(options, len(graphs))
        library = run.library or library
        graphs += run.graphs
        if run.error:
            raise CheckError(run.error)
        if library is None or not run.graphs:
            raise CheckError(f"the check of {options.library} {run.end}: {run.log or 'no output'}")
    return Report(library, findings, tuple(graphs))


class _Log:
    """Output of the worker, which may contain anything that the library writes."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._read = 0

    def take(self, end: int | None = None) -> str:
        """Returns the text since the last call up to byte `end`; only the last part of a long text.

        Does not move the worker's position.
        """
        descriptor = self.file.fileno()
        end = os.fstat(descriptor).st_size if end is None else end
        start, self._read = max(self._read, end - _MAX_LOG_BYTES), end
        return os.pread(descriptor, end - start, start).decode(errors="replace").strip()


class _Run:
    """One process of the worker, until it ends."""

    def __init__(self, options: Options, first: int) -> None:
        self.library: Library | None = None
        self.graphs: list[Graph] = []
        self.error = ""
        self._running: dict[str, Any] | None = None
        with tempfile.TemporaryFile() as file:
            log = _Log(file)
            self.end = self._run(options, first, log)
            self.log = log.take()
        if self._running is not None:
            reason = f"the process {self.end}"
            self._add({**self._running, "outcome": Outcome.CRASHED.name, "reason": reason}, self.log)

    def _run(self, options: Options, first: int, log: _Log) -> str:
        """Reads all steps. Returns how the process ended."""
        reader, writer = os.pipe()
        command = [sys.executable, "-m", _WORKER, str(writer), options.library, options.generation, options.programs]
        with os.fdopen(reader, "rb", buffering=0) as steps:
            process = subprocess.Popen(
                [*command, str(first)],
                stdin=subprocess.DEVNULL,
                stdout=log.file,
                stderr=log.file,
                pass_fds=[writer],
            )
            os.close(writer)
            try:
                for line in _lines(steps, options.timeout_seconds):
                    self._take(json.loads(line), log)
                return _describe(process.wait())
            except TimeoutError:
                return f"had no result after {options.timeout_seconds:g} s"
            finally:
                process.kill()
                process.wait()

    def _take(self, step: dict[str, Any], log: _Log) -> None:
        if "library" in step:
            fields = step["library"]
            self.library = Library(**{**fields, "missing_functions": tuple(fields["missing_functions"])})
        elif "error" in step:
            self.error = step["error"]
        elif step["graph"]["outcome"] == Outcome.RUNNING.name:
            self._running = step["graph"]
        else:
            self._add(step["graph"], log.take(step["log_bytes"]))

    def _add(self, fields: dict[str, Any], log: str) -> None:
        self._running = None
        self.graphs.append(Graph(**{**fields, "outcome": Outcome[fields["outcome"]]}, log=log))


def _lines(steps: IO[bytes], timeout_seconds: float) -> Iterator[bytes]:
    """Yields the lines of a pipe until its end. Raises TimeoutError if the next one does not follow in time."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(steps, selectors.EVENT_READ)
        while True:
            if not selector.select(timeout_seconds):
                raise TimeoutError
            data = os.read(steps.fileno(), _READ_BYTES)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            yield from lines


def _describe(code: int) -> str:
    return f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
