"""Attacks a device server while an honest client trains. The attacks may affect only the attackers.

    python -m tests.soak.attack_server --minutes 30 --clients 4 --seed 1

Attackers send mutated and targeted programs, random messages and forged recipes. They leave answers unread, connections
silent and collectives unfinished, and are killed by SIGKILL at random moments. After each round all attackers are
killed. The server's processes, descriptors, shared memory and held modules must then be as before the first round.
Exit code 1: a problem. For example, the server ended, the training's result changed, a client received another client's
canary, or a resource leaked.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
from typing import Any

from tests.remote.attacks.footprint import Footprint, Marker
from tests.remote.attacks.victim import Victim
from tests.remote.device_client import Monitor
from tests.remote.servers import Server
from tests.soak.attacks import counters
from tests.soak.attacks.attacker import Target, attack, context
from tests.soak.attacks.canaries import Canaries
from tests.soak.attacks.counters import Counters
from tests.support.processes import ROOT, WARM_PYTHON, start
from tests.support.processes import run as run_process

_DIRECTORY = ROOT / "tests" / "soak" / "attacks"
_VICTIM = 0
_TRAINING_SECONDS = 240.0
_RECOVERY_SECONDS = 60.0
_LIMITS = (
    *("--launch-timeout", "5", "--compile-timeout", "20", "--compile-workers", "2"),
    *("--max-memory-mb", "256", "--max-recipe-mb", "256", "--max-in-flight-mb", "128", "--max-recipes", "256"),
)
_MAX_FRONT_GROWTH_MIB = 48
_SESSION_CRASH = re.compile(r"process \d+ of the device server ended: (signal \d+)")


@dataclasses.dataclass(frozen=True)
class Options:
    """Command line."""

    minutes: float
    clients: int
    seed: int
    round_seconds: float = 60.0
    kept: str = ""
    """Directory for programs that ended their session; empty: programs are not stored."""


@dataclasses.dataclass
class Outcome:
    """Counters and problems of the campaign."""

    seconds: float = 0.0
    rounds: int = 0
    attackers_started: int = 0
    attackers_killed: int = 0
    attackers_failed: int = 0
    """Attackers that ended on their own, which is a bug of this program."""
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    """Actions of the attackers, by name."""
    crashes: dict[str, int] = dataclasses.field(default_factory=dict)
    """Session processes and compile workers that a signal ended, according to the server's log."""
    trainings: int = 0
    """Rounds that the honest client completed during the attack."""
    victim_rounds: int = 0
    min_available_mib: int = 1 << 40
    """Minimum of the machine's available memory."""
    front_mib: list[int] = dataclasses.field(default_factory=list)
    """Resident memory of the front process after each round."""
    log_mib: int = 0
    """Size of the server's log."""
    problems: list[str] = dataclasses.field(default_factory=list)
    log_end: str = ""
    """End of the server's log, if there are problems."""


def run(options: Options, directory: pathlib.Path) -> Outcome:
    """Runs the campaign against a new server, whose socket is in `directory`."""
    outcome = Outcome()
    run_process([WARM_PYTHON, str(_DIRECTORY / "seed_programs.py"), str(directory)], {"HPU_BACKEND": None})
    programs = tuple(path.read_bytes() for path in sorted(directory.glob("*.hlo")))
    assert programs
    marker = Marker()
    modules = str(2 * options.clients + 2)
    with Server(directory, "--modules", modules, *_LIMITS, environment=marker.environment) as server:
        campaign = _Campaign(server, marker, options, programs, directory, outcome)
        try:
            campaign.run()
        finally:
            campaign.close()
    log = server.log()
    outcome.log_mib = len(log) >> 20
    outcome.log_end = log[-10_000:] if outcome.problems else ""
    for signal in _SESSION_CRASH.findall(log):
        outcome.crashes[signal] = outcome.crashes.get(signal, 0) + 1
    return outcome


class _Training:
    """The honest client's process."""

    def __init__(self, backend: str, rounds: int | None = None) -> None:
        command = [WARM_PYTHON, str(_DIRECTORY / "innocent.py"), *([] if rounds is None else [str(rounds)])]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - goes with this object
        pipe = subprocess.PIPE
        self.process = start(command, {"HPU_BACKEND": backend}, stdin=pipe, stdout=pipe, stderr=self._errors)
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self._text = b""

    def lines(self) -> list[str]:
        """Returns the rounds that have ended since the last call."""
        assert self.process.stdout is not None
        self._text += self.process.stdout.read() or b""
        *lines, self._text = self._text.split(b"\n")
        return [line.decode() for line in lines]

    def wait_for_line(self) -> str:
        """Waits for the next round. Returns "" after the time limit or a failure."""
        deadline = time.monotonic() + _TRAINING_SECONDS
        while time.monotonic() < deadline:
            lines = self.lines()
            if lines:
                return lines[0]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        return ""

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-3000:]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self._errors.close()


class _Campaign:
    def __init__(
        self,
        server: Server,
        marker: Marker,
        options: Options,
        programs: tuple[bytes, ...],
        directory: pathlib.Path,
        outcome: Outcome,
    ) -> None:
        self._server = server
        self._marker = marker
        self._options = options
        self._outcome = outcome
        self._chance = random.Random(options.seed)
        self._evidence = directory / "evidence"
        self._canaries = Canaries.create(options.clients + 1)
        self._target = Target(server.backend, programs, self._canaries, options.kept)
        self._values = [context().RawArray("Q", len(counters.NAMES)) for _ in range(options.clients)]
        self._counters = [Counters(values) for values in self._values]
        self._attackers: list[Any] = []
        self._expected = self._train_quietly()
        self._monitor = Monitor(server.backend)
        self._victim = Victim(server.backend, canary=self._canaries.canary(_VICTIM))
        self._training = _Training(server.backend)

    def run(self) -> None:
        outcome = self._outcome
        if self._training.wait_for_line() != self._expected or not self._expected:
            outcome.problems.append(f"the training differs before the attack: {self._training.errors()}")
            return
        self._victim.assert_unharmed()
        held, quiet = self._monitor.held(), self._footprint()
        begin = time.monotonic()
        while not outcome.problems and (outcome.rounds == 0 or time.monotonic() - begin < 60 * self._options.minutes):
            self._run_round()
            outcome.rounds += 1
            self._check(held, quiet)
            outcome.seconds = time.monotonic() - begin
            outcome.counts = counters.total(self._counters)
            outcome.victim_rounds = self._victim.rounds
            sys.stderr.write(f"round {outcome.rounds}: {_line(outcome)}\n")

    def close(self) -> None:
        for process in self._attackers:
            process.kill()
        self._training.close()
        self._victim.close()
        self._monitor.close()

    def _train_quietly(self) -> str:
        training = _Training(self._server.backend, rounds=1)
        line = training.wait_for_line()
        training.close()
        return line

    def _start_attacker(self, index: int) -> Any:
        self._outcome.attackers_started += 1
        seed, evidence = self._chance.randrange(1 << 60), str(self._evidence)
        arguments = (self._target, index + 1, seed, self._values[index], evidence)
        process = context().Process(target=attack, args=arguments, daemon=True)
        process.start()
        return process

    def _run_round(self) -> None:
        outcome = self._outcome
        before = [counter.get("actions") for counter in self._counters]
        self._attackers = [self._start_attacker(index) for index in range(self._options.clients)]
        deadline = time.monotonic() + self._options.round_seconds
        while time.monotonic() < deadline and not outcome.problems:
            time.sleep(self._chance.uniform(0, 6))
            self._watch()
            index = self._chance.randrange(len(self._attackers))
            if self._attackers[index].is_alive():
                outcome.attackers_killed += 1
            else:
                outcome.attackers_failed += 1
                outcome.problems.append(f"attacker {index} ended by itself: {self._attackers[index].exitcode}")
            self._attackers[index].kill()
            self._attackers[index].join()
            self._attackers[index] = self._start_attacker(index)
        for process in self._attackers:
            process.kill()
            process.join()
        outcome.attackers_killed += len(self._attackers)
        for index, counter in enumerate(self._counters):
            if counter.get("actions") == before[index]:
                outcome.problems.append(f"client {index + 1} did nothing for a round: the server does not answer")

    def _watch(self) -> None:
        """Checks the conditions that must hold during an attack."""
        outcome, problems = self._outcome, self._outcome.problems
        if self._server.process.poll() is not None:
            problems.append(f"the server ended with {self._server.process.returncode}: {self._server.log()[-3000:]}")
        if self._victim.problem:
            problems.append(self._victim.problem)
        for line in self._training.lines():
            outcome.trainings += 1
            if line != self._expected:
                problems.append(f"the training computed {line!r} instead of {self._expected!r}")
        if self._training.process.poll() is not None:
            problems.append(f"the training ended: {self._training.errors()}")
        for name in ("leaks", "wrong_results"):
            if any(counter.get(name) for counter in self._counters):
                problems.append(f"{name}: {self._evidence.read_text()[:3000] if self._evidence.exists() else ''}")
        outcome.min_available_mib = min(outcome.min_available_mib, _kibibytes("/proc/meminfo", "MemAvailable") >> 10)

    def _check(self, held: set[int], quiet: Footprint) -> None:
        """Checks the conditions that must hold after the attackers' end."""
        self._watch()
        problems = self._outcome.problems
        if problems:
            return
        try:
            self._victim.assert_unharmed()
        except AssertionError as error:
            problems.append(str(error))
        deadline = time.monotonic() + _RECOVERY_SECONDS
        while True:
            now_held, now = self._monitor.held(), self._footprint()
            if (now_held == held and now == quiet) or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        if now_held != held:
            problems.append(f"modules {now_held} are held, before {held}")
        if now != quiet:
            problems.append(f"left behind: {now}, before {quiet}")
        front = self._outcome.front_mib
        front.append(_kibibytes(f"/proc/{self._server.process.pid}/status", "VmRSS") >> 10)
        if front[-1] - front[0] > _MAX_FRONT_GROWTH_MIB:
            problems.append(f"the front process grew: {front} MiB")
        state = self._monitor.describe()
        if state.pid != self._server.process.pid:
            problems.append(f"process {state.pid} answers instead of {self._server.process.pid}")
        if state.sessions_opened - state.sessions_closed != len(held):
            problems.append(f"{state.sessions_opened} sessions began and {state.sessions_closed} ended")

    def _footprint(self) -> Footprint:
        return Footprint.take(self._server.process.pid, self._marker)


def _kibibytes(path: str, name: str) -> int:
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0


def _line(outcome: Outcome) -> str:
    counts = outcome.counts
    return (
        f"{counts['programs_sent']} programs sent, {counts['programs_refused']} refused, "
        f"{counts['programs_compiled']} compiled, {counts['programs_run']} run; {counts['worker_crashes']} crashes of "
        f"compile workers; {counts['messages_sent']} messages; {counts['sessions']} sessions, "
        f"{counts['sessions_ended']} of them ended, {counts['sessions_crashed']} by a crash; "
        f"{outcome.attackers_killed} clients killed; {outcome.trainings} trainings; {outcome.min_available_mib} MiB "
        f"free at least, front process {outcome.front_mib[-1] if outcome.front_mib else 0} MiB"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30, help="duration (default: %(default)s)")
    parser.add_argument("--clients", type=int, default=4, help="number of attackers (default: %(default)s)")
    parser.add_argument("--round-seconds", type=float, default=60, help="duration of a round (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="", metavar="DIR", help="store programs that ended their session")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    options = Options(arguments.minutes, arguments.clients, arguments.seed, arguments.round_seconds, arguments.keep)
    with tempfile.TemporaryDirectory(prefix="hpu-soak-") as directory:
        outcome = run(options, pathlib.Path(directory))
    text = json.dumps(dataclasses.asdict(outcome), indent=2) if arguments.json else _text(outcome)
    sys.stdout.write(f"{text}\n")
    return 1 if outcome.problems else 0


def _text(outcome: Outcome) -> str:
    counts = [f"{count:>10}  {name.replace('_', ' ')}" for name, count in outcome.counts.items()]
    return "\n".join([f"{_line(outcome)}; crashes: {outcome.crashes}", *counts, *outcome.problems, outcome.log_end])


if __name__ == "__main__":
    sys.exit(main())
