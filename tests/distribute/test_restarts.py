"""`hpu run --restarts`: starts after failures, number of restarts, ranks. Programs without TensorFlow."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from habana_frameworks.tensorflow._internal.launch.job import Interruption, Outcome
from habana_frameworks.tensorflow._internal.launch.job_supervisor import Attempt, Modules, Placement, Supervisor
from tests.distribute.jobs import Result, run_job
from tests.remote.servers import Server, wait_until
from tests.support.processes import ROOT, run

PROGRAM = pathlib.Path(__file__).with_name("failing.py")
HPU_RUN = [sys.executable, "-m", "habana_frameworks.tensorflow", "run"]


def start(directory: pathlib.Path, attempt: int, rank: int) -> dict[str, Any]:
    """Reads the environment that a rank of an attempt received."""
    fields: dict[str, Any] = json.loads((directory / f"start_{attempt}_{rank}.json").read_text())
    return fields


def run_failing(
    directory: pathlib.Path, processes: int, options: tuple[str, ...], *arguments: str, backend: str = "emulator"
) -> Result:
    # A private lock directory, so that all 8 emulated modules are free.
    environment = {"HPU_MODULE_LOCK_DIR": str(directory / "modules"), "HPU_BACKEND": backend}
    arguments = ("--out", str(directory), *arguments)
    return run_job(
        processes, PROGRAM, *arguments, options=options, environment=environment, check=False, python=sys.executable
    )


def has_ended(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def assert_no_process_left(directory: pathlib.Path) -> None:
    pids = [pid for path in directory.glob("start_*.json") for pid in json.loads(path.read_text())["pids"]]
    assert pids
    deadline = time.monotonic() + 60
    while not all(map(has_ended, pids)):
        assert time.monotonic() < deadline, [pid for pid in pids if not has_ended(pid)]
        time.sleep(0.05)


def test_a_failed_job_is_started_again(tmp_path: pathlib.Path) -> None:
    result = run_failing(tmp_path, 3, ("--restarts", "3"), "--hang", "--fail", "0:1", "--fail", "1:2", "--fail", "*:0")
    # Rank 0 fails in each attempt, and other ranks may fail too; any of them may be reported first.
    assert len(result.attempts) == 4
    assert result.exit_code == 7
    assert_no_process_left(tmp_path)


def test_the_last_attempt_is_the_outcome(tmp_path: pathlib.Path) -> None:
    result = run_failing(tmp_path, 3, ("--restarts", "5"), "--children", "--fail", "0:1", "--fail", "1:2")
    assert (result.exit_code, result.exit_codes, result.failed, result.log) == (0, [0, 0, 0], None, [])
    assert [attempt.failed for attempt in result.attempts] == [1, 2, None]
    assert [attempt.ranks for attempt in result.attempts] == [3, 3, 3]
    assert result.attempts[0].log == ["rank 1 fails"]
    assert "hpu run: rank 1 ended with exit code 7; its last line: rank 1 fails\n" in result.output
    assert "hpu run: restart 1 of 5, with 3 ranks\n" in result.output
    assert result.output.splitlines()[-1] == "hpu run: the job succeeded after 2 of 5 restarts"
    workers = [start(tmp_path, attempt, 0)["workers"] for attempt in range(3)]
    for attempt in range(3):
        assert all(start(tmp_path, attempt, rank)["workers"] == workers[attempt] for rank in range(3))
    assert len(set(map(tuple, workers))) == 3, "two attempts have the same ports"
    assert_no_process_left(tmp_path)


@pytest.mark.parametrize("how", ["exit code 7", "signal 9"])
def test_a_rank_that_always_fails(how: str, tmp_path: pathlib.Path) -> None:
    by_signal = how == "signal 9"
    arguments = ("--hang", "--children", "--fail", "*:1", *(("--signal", "9") if by_signal else ()))
    result = run_failing(tmp_path, 3, ("--restarts", "2"), *arguments)
    assert result.exit_code == (137 if by_signal else 7)
    assert [attempt.failed for attempt in result.attempts] == [1, 1, 1]
    assert [attempt.exit_codes[0] for attempt in result.attempts] == [128 + signal.SIGTERM] * 3
    assert result.output.splitlines()[-1] == "hpu run: the job failed; 2 of 2 restarts were used"
    ended = f"rank 1 {'was ended by' if by_signal else 'ended with'} {how}"
    for rank in (0, 2):
        assert result.output.count(f"[{rank}] hpu run: rank {rank} is terminated, because {ended}\n") == 3
    assert_no_process_left(tmp_path)


def test_without_restarts_a_failure_is_the_end(tmp_path: pathlib.Path) -> None:
    result = run_failing(tmp_path, 2, (), "--fail", "0:0")
    assert (result.exit_code, len(result.attempts)) == (7, 1)
    assert "restart" not in result.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("attempt", [0, 1])
def test_a_signal_restarts_nothing(number: signal.Signals, attempt: int, tmp_path: pathlib.Path) -> None:
    arguments = ["--out", str(tmp_path), "--hang", "--children", *(["--fail", "0:1"] if attempt else [])]
    command = [*HPU_RUN, "-np", "2", "--restarts", "5", "--json", str(PROGRAM), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    job = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob(f"start_{attempt}_*.json"))) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        job.send_signal(number)
        output, _ = job.communicate(timeout=60)
    finally:
        job.kill()
    assert job.returncode == 128 + number
    fields = json.loads(output)
    assert (fields["signal"], len(fields["attempts"])) == (number, attempt + 1)
    assert_no_process_left(tmp_path)


def test_a_module_that_fails_twice_at_start_is_given_up(tmp_path: pathlib.Path) -> None:
    options = ("--restarts", "5", "--min-ranks", "2", "--modules", "4,5,6")
    result = run_failing(tmp_path, 3, options, "--fail", "0:1", "--fail", "1:1")
    assert result.exit_code == 0
    assert [attempt.modules for attempt in result.attempts] == [[4, 5, 6], [4, 5, 6], [4, 6]]
    assert "rank 1 ended with exit code 7 at two starts in a row: module 5 counts as lost" in result.output
    assert "restart 2 of 5, with 2 ranks instead of 3" in result.output
    for rank in range(2):
        assert start(tmp_path, 2, rank)["modules"] == "4,6"
        assert len(start(tmp_path, 2, rank)["workers"]) == 2


def test_ranks_without_a_module_are_left_out(tmp_path: pathlib.Path) -> None:
    """The emulator has modules 0 to 7, so module 8 does not exist."""
    options = ("--restarts", "5", "--min-ranks", "2", "--modules", "7,8,6")
    result = run_failing(tmp_path, 3, options, "--fail", "0:1")
    assert [attempt.modules for attempt in result.attempts] == [[7, 8, 6], [7, 6]]
    assert result.exit_code == 0


def test_a_job_with_too_few_modules_for_min_ranks_is_not_started(tmp_path: pathlib.Path) -> None:
    options = ("-np", "3", "--restarts", "5", "--min-ranks", "2", "--modules", "7,8,9")
    done = run([*HPU_RUN, *options, str(PROGRAM), "--out", str(tmp_path)], {"HPU_BACKEND": "emulator"}, check=False)
    assert done.returncode == 1 and "hpu run: no module 8, 9: HPU_BACKEND=" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_server_restarts_with_fewer_modules(tmp_path: pathlib.Path) -> None:
    options = ("--restarts", "3", "--min-ranks", "2")
    file = tmp_path / "server is gone"
    with Server(tmp_path, "--modules", "3") as server, concurrent.futures.ThreadPoolExecutor() as pool:
        arguments = ("--fail", "0:1", "--after", str(file))
        job = pool.submit(run_failing, tmp_path, 3, options, *arguments, backend=server.backend)
        wait_until(lambda: job.done() or len(list(tmp_path.glob("start_0_*.json"))) == 3)
        server.kill()
        file.touch()
        with Server(tmp_path, "--modules", "2") as fewer:
            assert fewer.backend == server.backend
            result = job.result()
    assert (result.exit_code, [attempt.ranks for attempt in result.attempts]) == (0, [3, 2])
    assert "hpu run: restart 1 of 3, with 2 ranks instead of 3\n" in result.output


def test_wrong_usage(tmp_path: pathlib.Path) -> None:
    def refused(*options: str) -> str:
        done = run([*HPU_RUN, "-np", "2", *options, str(PROGRAM)], check=False)
        assert done.returncode == 2
        return done.stderr

    assert "--min-ranks 3 exceeds the number of processes (-np 2)" in refused("--restarts", "1", "--min-ranks", "3")
    assert "--min-ranks 1 applies to restarts: add --restarts" in refused("--min-ranks", "1")
    assert "--restarts: -1 is not a whole number from 0 to" in refused("--restarts", "-1")


@dataclasses.dataclass
class Job:
    """Fake job, whose attempts end with the given exit codes by rank. Later attempts succeed."""

    exit_codes: list[list[int]]
    modules: list[Modules | None]
    requested: Placement = dataclasses.field(default_factory=lambda: Placement(3))
    restarts: int = 9
    min_ranks: int = 3
    interruption: Interruption = dataclasses.field(default_factory=Interruption)
    reports: list[str] = dataclasses.field(default_factory=list)

    def run(self) -> list[Attempt]:
        supervisor = Supervisor(self.requested, self.restarts, self.min_ranks, self.interruption, self.reports.append)
        return supervisor.run(self._start, self._read_modules if self.modules else None)

    def _start(self, placement: Placement, restart_count: int) -> Outcome:
        codes = self.exit_codes[restart_count] if restart_count < len(self.exit_codes) else [0] * placement.ranks
        assert len(codes) == placement.ranks
        failed = next((rank for rank, code in enumerate(codes) if code), None)
        return Outcome(tuple(codes), failed, (), (), None)

    def _read_modules(self) -> Modules | None:
        return self.modules.pop(0) if len(self.modules) > 1 else self.modules[0]


def placements(attempts: list[Attempt]) -> list[tuple[int, ...]]:
    return [(attempt.placement.ranks, *attempt.placement.modules) for attempt in attempts]


def modules(*free: int, held: tuple[int, ...] = ()) -> Modules:
    return Modules(frozenset(free), frozenset(held))


def test_a_module_that_is_still_held_is_waited_for() -> None:
    job = Job([[0, 1, 0]], [modules(0, held=(1, 2)), None, modules(0, 2, held=(1,)), modules(0, 1, 2)])
    assert placements(job.run()) == [(3,), (3,)]
    assert len(job.modules) == 1


def test_restarted_ranks_keep_their_modules() -> None:
    job = Job([[1, 0, 0], [1, 0]], [modules(0, 2), modules(0, 1, 2)], Placement(3, (0, 1, 2)), min_ranks=1)
    assert placements(job.run()) == [(3, 0, 1, 2), (2, 0, 2), (3, 0, 1, 2)]
    assert job.reports[:2] == ["restart 1 of 9, with 2 ranks instead of 3", "restart 2 of 9, with 3 ranks"]


def test_too_few_modules_end_the_job() -> None:
    job = Job([[0, 0, 9]], [modules(0)], min_ranks=2)
    attempts = job.run()
    assert attempts[-1].outcome.exit_code == 9
    assert job.reports == [
        "no restart: modules are available for only 1 rank, and --min-ranks is 2; free modules, or lower --min-ranks",
        "the job failed; 0 of 9 restarts were used",
    ]


def test_a_spare_module_takes_the_place_of_a_lost_one() -> None:
    job = Job([[0, 1], [0, 1]], [], Placement(2, (4, 5, 6)), min_ranks=2)
    assert placements(job.run()) == [(2, 4, 5, 6), (2, 4, 5, 6), (2, 4, 6)]


def test_only_the_same_failure_twice_gives_up_a_module() -> None:
    codes = [[0, 1, 0], [0, 2, 0], [2, 0, 0], [0, 2, 0], [0, 2, 0]]
    attempts = Job(codes, [], min_ranks=1).run()
    assert placements(attempts) == [(3,)] * 5 + [(2,)]


def test_all_ranks_are_needed_unless_fewer_are_allowed() -> None:
    attempts = Job([[0, 1, 0]] * 4, [], restarts=3).run()
    assert placements(attempts) == [(3,)] * 4
    assert attempts[-1].outcome.exit_code == 1


def test_a_signal_between_two_attempts_ends_the_job() -> None:
    job = Job([[0, 1, 0]], [modules(held=(0, 1, 2))])
    with job.interruption:
        timer = subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(1); os.kill({os.getpid()}, 15)"])
        attempts = job.run()
        timer.wait(timeout=60)
    assert len(attempts) == 1
    assert attempts[0].outcome.exit_code == 128 + signal.SIGTERM
