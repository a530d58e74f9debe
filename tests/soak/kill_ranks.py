"""Kills ranks at random moments of collective operations. Survivors must get an error that names the lost rank.

    python -m tests.soak.kill_ranks --kills 1000 --seed 1

Each job has 2 or 3 ranks, which are clients of one device server, with operands of 1 to 512 MiB. SIGKILL ends one rank.
Two bystanders, ranks of another communicator, repeat an operation and check its results. Exit code 1: a survivor hung,
got another error, or lost its session; a bystander saw an error; or a resource leaked.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import math
import pathlib
import random
import sys
import tempfile
import time

import grpc

from tests.remote.attacks.footprint import Footprint, Marker
from tests.remote.device_client import MIB, Monitor
from tests.remote.servers import Server
from tests.soak.ranks import OPERATIONS, End, Job, Rank, context

_MAX_RANKS = 3
_ENDS = {grpc.StatusCode.ABORTED.value[0]: "ABORTED", grpc.StatusCode.CANCELLED.value[0]: "CANCELLED"}
_MAX_END_SECONDS = 5.0
_JOIN_SECONDS = 120.0
_RECOVERY_SECONDS = 30.0
_BYSTANDER_BYTES = 4 * MIB
# Longer than an operation of 512 MiB on a busy machine, so that some ranks die between operations.
_MAX_MOMENT_SECONDS = 1.0
_KILLS_BETWEEN_CHECKS = 10


@dataclasses.dataclass(frozen=True)
class Options:
    """Command line."""

    kills: int
    seed: int
    max_mib: int = 512


@dataclasses.dataclass
class Outcome:
    """Counters and problems of the run."""

    kills: int = 0
    survivors: int = 0
    ends: dict[str, int] = dataclasses.field(default_factory=dict)
    """Codes with which the survivors' operations ended, with counts."""
    max_seconds: float = 0.0
    """Maximum time from a kill to the end of a survivor's operation."""
    median_seconds: float = 0.0
    operations: dict[str, int] = dataclasses.field(default_factory=dict)
    """Kills by kind of operation."""
    bytes: int = 0
    """Total size of the operands."""
    bystander_operations: int = 0
    problems: list[str] = dataclasses.field(default_factory=list)


def run(options: Options, directory: pathlib.Path) -> Outcome:
    """Runs all kills on a new server, whose socket is in `directory`."""
    outcome = Outcome()
    marker = Marker()
    with Server(directory, "--modules", str(_MAX_RANKS + 2), environment=marker.environment) as server:
        campaign = _Campaign(server, marker, options, outcome)
        try:
            campaign.run()
        finally:
            campaign.close()
    return outcome


class _Campaign:
    def __init__(self, server: Server, marker: Marker, options: Options, outcome: Outcome) -> None:
        self._server = server
        self._marker = marker
        self._options = options
        self._outcome = outcome
        self._chance = random.Random(options.seed)
        self._monitor = Monitor(server.backend)
        self._seconds: list[float] = []
        self._progress = [context().RawValue("Q", 0) for _ in range(2)]
        job = Job(server.backend, b"bystanders", "all_reduce", _BYSTANDER_BYTES, 2)
        self._bystanders = [Rank(job, rank, progress) for rank, progress in enumerate(self._progress)]

    def run(self) -> None:
        outcome, options = self._outcome, self._options
        if not all(rank.report(_JOIN_SECONDS) == "joined" for rank in self._bystanders):
            outcome.problems.append("the bystanders did not join")
            return
        self._monitor.describe()
        quiet = self._footprint()
        ends: collections.Counter[str] = collections.Counter()
        operations: collections.Counter[str] = collections.Counter()
        while outcome.kills < options.kills and not outcome.problems:
            job = self._next_job()
            ends.update(self._kill_one(job))
            operations[job.operation] += 1
            outcome.bytes += job.size
            if outcome.kills % _KILLS_BETWEEN_CHECKS == 0 or outcome.kills == options.kills:
                self._check(quiet)
                sys.stderr.write(f"{outcome.kills} kills, at most {outcome.max_seconds:.2f} s: {dict(ends)}\n")
        outcome.ends, outcome.operations = dict(ends), dict(operations)
        outcome.median_seconds = sorted(self._seconds)[len(self._seconds) // 2] if self._seconds else 0.0
        outcome.bystander_operations = sum(progress.value for progress in self._progress)

    def close(self) -> None:
        for rank in self._bystanders:
            rank.finish()
        self._monitor.close()

    def _next_job(self) -> Job:
        size = int(2 ** self._chance.uniform(0, math.log2(self._options.max_mib)) * MIB)
        ranks = self._chance.randint(2, _MAX_RANKS)
        operation = self._chance.choice(OPERATIONS)
        identity = b"job %d" % self._outcome.kills
        return Job(self._server.backend, identity, operation, size // 1024 * 1024, ranks)

    def _kill_one(self, job: Job) -> list[str]:
        """Kills a rank of a job. Returns the codes with which the survivors' operations ended."""
        outcome = self._outcome
        progress = context().RawValue("Q", 0)
        ranks = [Rank(job, rank, progress) for rank in range(job.ranks)]
        try:
            if not all(rank.report(_JOIN_SECONDS) == "joined" for rank in ranks):
                outcome.problems.append(f"{job} was not joined; the server's log: {self._server.log()[-2000:]}")
                return []
            # The square makes early moments, in the first operation, more likely.
            time.sleep(self._chance.random() ** 2 * _MAX_MOMENT_SECONDS)
            lost = self._chance.choice(ranks)
            moment = lost.kill()
            outcome.kills += 1
            return [self._survived(job, rank, lost.rank, moment) for rank in ranks if rank is not lost]
        finally:
            for rank in ranks:
                rank.finish()

    def _survived(self, job: Job, rank: Rank, lost: int, moment: float) -> str:
        """Checks the end of a survivor's operation, and returns the name of its status code."""
        outcome = self._outcome
        outcome.survivors += 1
        end = rank.report(_RECOVERY_SECONDS)
        what = f"rank {rank.rank} of {job.ranks}, {job.operation} of {job.size} bytes without rank {lost}"
        if not isinstance(end, End):
            outcome.problems.append(f"{what}: did not end within {_RECOVERY_SECONDS} s")
            return "none"
        seconds = end.seconds - moment
        self._seconds.append(seconds)
        outcome.max_seconds = max(outcome.max_seconds, seconds)
        if end.code not in _ENDS or f"rank {lost}" not in end.message:
            outcome.problems.append(f"{what}: ended with code {end.code}, {end.message!r}")
        if seconds > _MAX_END_SECONDS:
            outcome.problems.append(f"{what}: ended after {seconds:.1f} s")
        if end.problem:
            outcome.problems.append(f"{what}: {end.problem}")
        return _ENDS.get(end.code, str(end.code))

    def _check(self, quiet: Footprint) -> None:
        """Checks that the jobs left nothing behind, and that the bystanders continue."""
        problems = self._outcome.problems
        before = [progress.value for progress in self._progress]
        deadline = time.monotonic() + _RECOVERY_SECONDS
        while True:
            left = self._footprint()
            held = self._monitor.held()
            advanced = all(progress.value > count for progress, count in zip(self._progress, before))
            if (left == quiet and len(held) == 2 and advanced) or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        if left != quiet:
            problems.append(f"left behind: {left}, before {quiet}")
        if len(held) != 2:
            problems.append(f"modules {held} are held by 2 clients")
        for rank in self._bystanders:
            end = rank.report(0)
            if end is not None or not rank.process.is_alive():
                problems.append(f"bystander {rank.rank} ended: {end}")
        if not advanced:
            problems.append(f"a bystander completed no operation in {_RECOVERY_SECONDS} s")

    def _footprint(self) -> Footprint:
        return Footprint.take(self._server.process.pid, self._marker)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, help="number of kills (default: %(default)s)")
    parser.add_argument("--max-mib", type=int, default=512, help="maximum operand size (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hpu-soak-") as directory:
        outcome = run(Options(arguments.kills, arguments.seed, arguments.max_mib), pathlib.Path(directory))
    if arguments.json:
        print(json.dumps(dataclasses.asdict(outcome), indent=2))
    else:
        print(f"{outcome.kills} kills, {outcome.survivors} survivors: {outcome.ends}")
        print(f"operations end after {outcome.median_seconds:.2f} s, at most {outcome.max_seconds:.2f} s")
        print(*outcome.problems, sep="\n")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
