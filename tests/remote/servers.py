"""Device servers for tests: `hpu serve` in a separate process."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType

from tests.support.processes import ROOT


def wait_until(condition: Callable[[], bool], what: str = "") -> None:
    """Waits for the condition. Fails the test with `what` after a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def descendants(pid: int) -> list[int]:
    """Returns the running descendants of the process."""
    parents = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                parents[int(entry.name)] = int(parent)
    found = [pid]
    for ancestor in found:
        found += [child for child, parent in parents.items() if parent == ancestor]
    return found[1:]


class Server:
    """A running server, which ends with the scope. `backend` is the HPU_BACKEND that reaches it.

    Its socket, key and log are in `directory`.
    """

    def __init__(self, directory: pathlib.Path, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        address = f"unix:{directory / 'server'}"
        command = [sys.executable, "-m", "habana_frameworks.tensorflow", "serve", "--json", "--listen", address]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"}
        variables |= {"XDG_STATE_HOME": str(directory / "state"), **(environment or {})}
        self._log = directory / "server.log"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *arguments], stdout=subprocess.PIPE, stderr=log, env=variables, cwd=ROOT, text=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server ended with {self.process.wait(timeout=30)}: {self.log()}"
        report = json.loads(line)
        self.backend = str(report["backend"])
        self.token_file = str(report.get("token_file", ""))
        """Path of the token that the server generated for its port; empty without one."""

    def log(self) -> str:
        """Returns the server's stderr so far."""
        return self._log.read_text()

    def kill(self) -> None:
        """Kills the server, like a crash."""
        self.process.kill()
        self.process.wait(timeout=30)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops the server's processes within the block, so that they answer nothing."""
        self.process.send_signal(signal.SIGSTOP)
        # Threads stop one by one, over 0.2 s on a busy machine. waitid() returns when all have stopped.
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        stopped = [self.process.pid, *descendants(self.process.pid)]
        for pid in stopped[1:]:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.terminate()
        self.process.communicate(timeout=60)
