"""Device servers for tests: `hpu serve` in a process of its own."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType

from tests.support.processes import ROOT


class Server:
    """A running server; `backend` is the HPU_BACKEND that reaches it. Ended with the scope.

    Its socket, its key and its log lie in `directory`.
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
        self.backend = str(json.loads(line)["backend"])

    def log(self) -> str:
        """What it has written to stderr so far."""
        return self._log.read_text()

    def kill(self) -> None:
        """As a crash would end it."""
        self.process.kill()
        self.process.wait(timeout=30)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.terminate()
        self.process.communicate(timeout=60)
