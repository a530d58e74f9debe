"""Kills clients of a device server at random moments. No module, memory or stream may leak.

    python -m tests.soak.kill_clients --clients 8 --minutes 10 --seed 1

In each round, one process per module computes and checks results. The program kills and replaces some processes. At the
end of a round it kills all processes and checks the server's statistics. In the last round all processes end normally.
Exit code 1: a resource leaked, or a process saw an error.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from habana_frameworks.tensorflow import monitor
from tests.remote.servers import Server
from tests.soak.kill_clients_programs import compute_and_check
from tests.support.processes import WARM_PYTHON, call_to, start

# Number of rounds until the server's heap size settles.
_SETTLED_ROUND = 2
_MOST_GROWTH = 48 << 20
_READY_SECONDS = 240
# The server detects a closed connection immediately, and a silent client after its lease of 8 s.
_FREE_SECONDS = 20


@dataclasses.dataclass(frozen=True)
class Options:
    """Command line."""

    clients: int
    minutes: float
    round_seconds: float
    seed: int


@dataclasses.dataclass
class Outcome:
    """Counters and problems of the run."""

    started: int = 0
    killed: int = 0
    resident_bytes: list[int] = dataclasses.field(default_factory=list)
    """Resident memory of the server's process after each round, when no module is held."""
    sessions_opened: int = 0
    sessions_closed: int = 0
    problems: list[str] = dataclasses.field(default_factory=list)


class _Client:
    def __init__(self, backend: str, seed: int) -> None:
        command = [WARM_PYTHON, "-c", call_to(compute_and_check, seed)]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - goes with this object
        pipe = subprocess.PIPE
        self.process = start(command, {"HPU_BACKEND": backend}, stdin=pipe, stdout=pipe, stderr=self._errors)
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self._ready = False

    def ready(self) -> bool:
        """Whether the client has computed a correct result."""
        assert self.process.stdout is not None
        self._ready = self._ready or bool(self.process.stdout.read(1))
        return self._ready

    def wait_ready(self) -> str:
        """Waits for the first result. Returns the problem if none arrives."""
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.ready():
                return ""
            time.sleep(0.05)
        return self.end("did not get ready")

    def kill(self) -> str:
        """Kills the client. Returns the problem if it had already ended."""
        if self.process.poll() is not None:
            return self.end("ended")
        self.process.kill()
        self.process.communicate()
        return ""

    def finish(self) -> str:
        """Requests the client's end, and returns its problem."""
        try:
            self.process.communicate(timeout=_READY_SECONDS)
        except subprocess.TimeoutExpired:
            return self.end("hangs")
        return self.end("failed") if self.process.returncode else ""

    def end(self, what: str) -> str:
        self.process.kill()
        self.process.communicate()
        self._errors.seek(0)
        return f"process {self.process.pid} {what}: {self._errors.read()[-2000:]}"


def run(options: Options, directory: pathlib.Path) -> Outcome:
    """Runs all rounds against a new server, whose socket is in `directory`."""
    outcome = Outcome()
    chance = random.Random(options.seed)
    with Server(directory, "--modules", str(options.clients)) as server:
        deadline = time.monotonic() + 60 * options.minutes
        while not outcome.problems and (time.monotonic() < deadline or not outcome.resident_bytes):
            _run_round(server, options, chance, outcome)
            print(f"round {len(outcome.resident_bytes)}: {_line(outcome)}", file=sys.stderr, flush=True)
        _run_last(server, options, chance, outcome)
    settled = outcome.resident_bytes[_SETTLED_ROUND - 1 :]
    if settled and settled[-1] - settled[0] > _MOST_GROWTH:
        outcome.problems.append(f"the server grew by {(settled[-1] - settled[0]) >> 20} MiB")
    return outcome


def _start(server: Server, chance: random.Random, outcome: Outcome) -> _Client:
    outcome.started += 1
    return _Client(server.backend, chance.randrange(1 << 30))


def _run_round(server: Server, options: Options, chance: random.Random, outcome: Outcome) -> None:
    clients = [_start(server, chance, outcome) for _ in range(options.clients)]
    outcome.problems += filter(None, [client.wait_ready() for client in clients])
    end = time.monotonic() + options.round_seconds
    while not outcome.problems and time.monotonic() < end:
        time.sleep(chance.uniform(0, 4))
        victim = chance.randrange(len(clients))
        # The victim is mostly a working client, and sometimes a starting client.
        if not clients[victim].ready() and chance.random() < 0.7:
            continue
        outcome.problems += filter(None, [clients[victim].kill()])
        outcome.killed += 1
        clients[victim] = _start(server, chance, outcome)
    outcome.problems += filter(None, [client.kill() for client in clients])
    outcome.killed += len(clients)
    _take_statistics(server, outcome)


def _run_last(server: Server, options: Options, chance: random.Random, outcome: Outcome) -> None:
    """Runs a round in which every client releases its module normally."""
    clients = [_start(server, chance, outcome) for _ in range(options.clients)]
    problems = [client.wait_ready() for client in clients]
    problems += [client.finish() for client in clients]
    outcome.problems += filter(None, problems)
    _take_statistics(server, outcome)


def _take_statistics(server: Server, outcome: Outcome) -> None:
    """Waits until all modules are free and all sessions are counted as ended."""
    deadline = time.monotonic() + _FREE_SECONDS
    while True:
        state = monitor.read(server.backend)
        assert state.server
        held = [module.id for module in state.modules if module.holder]
        ended = not held and state.server.sessions_opened == state.server.sessions_closed
        if ended or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    if held:
        outcome.problems.append(f"modules {held} are held after all clients have ended")
    outcome.resident_bytes.append(state.server.resident_bytes)
    outcome.sessions_opened = state.server.sessions_opened
    outcome.sessions_closed = state.server.sessions_closed
    if not held and outcome.sessions_opened != outcome.sessions_closed:
        outcome.problems.append(f"{outcome.sessions_opened} sessions began, {outcome.sessions_closed} ended")


def _line(outcome: Outcome) -> str:
    return (
        f"{outcome.started} started, {outcome.killed} killed, {outcome.sessions_opened} sessions, "
        f"server {outcome.resident_bytes[-1] >> 20} MiB"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=8, help="number of clients and modules (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=10, help="duration (default: %(default)s)")
    parser.add_argument("--round-seconds", type=float, default=60, help="duration of a round (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    options = Options(arguments.clients, arguments.minutes, arguments.round_seconds, arguments.seed)
    with tempfile.TemporaryDirectory(prefix="hpu-soak-") as directory:
        outcome = run(options, pathlib.Path(directory))
    if arguments.json:
        print(json.dumps(dataclasses.asdict(outcome), indent=2))
    else:
        print(f"{_line(outcome)}; after each round: {[count >> 20 for count in outcome.resident_bytes]} MiB")
        print(*outcome.problems, sep="\n")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
