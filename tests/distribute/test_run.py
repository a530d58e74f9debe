"""`hpu run`: ranks, environment, output, failures, signals."""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from habana_frameworks.tensorflow._internal.launch import ports
from habana_frameworks.tensorflow._internal.launch.job import Grace, Interruption, Job
from habana_frameworks.tensorflow._internal.launch.last_error import last_error
from habana_frameworks.tensorflow._internal.patches import verbosity
from tests.distribute import run_programs as programs
from tests.distribute.jobs import run_job
from tests.support.processes import ROOT, call_to, run

HPU_RUN = [sys.executable, "-m", "habana_frameworks.tensorflow", "run"]


@pytest.fixture
def script(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "program.py"


def test_the_environment_of_each_rank(script: pathlib.Path) -> None:
    script.write_text(call_to(programs.describe_rank))
    # Variables of another launcher, which this job must ignore.
    environment = {"OMPI_COMM_WORLD_SIZE": "9", "OMPI_COMM_WORLD_RANK": "7", "HLS_MODULE_ID": "5"}
    done = run([*HPU_RUN, "-np", "3", "--modules", "6,4,2", str(script), "--flag", "x y"], environment)
    lines = sorted(done.stdout.splitlines())
    assert [line[:4] for line in lines] == ["[0] ", "[1] ", "[2] "]
    told = [json.loads(line[4:]) for line in lines]
    assert [t["ranks"] for t in told] == [[rank, 3, rank, 3] for rank in range(3)]
    assert [t["module"] for t in told] == ["6", "4", "2"]
    assert [t["prefix"] for t in told] == ["rank_0_", "rank_1_", "rank_2_"]
    assert [t["config"]["task"] for t in told] == [{"type": "worker", "index": rank} for rank in range(3)]
    workers = told[0]["config"]["cluster"]["worker"]
    assert len(set(workers)) == 3 and all(t["config"]["cluster"]["worker"] == workers for t in told)
    assert all(t["arguments"] == ["--flag", "x y"] and t["stdin"] == "" for t in told)


def test_modules_and_autoload(tmp_path: pathlib.Path) -> None:
    (tmp_path / "program.py").write_text('import sys\nprint(__name__, sys.argv[1:], "tensorflow" in sys.modules)\n')
    environment = {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    plain = run([*HPU_RUN, "--no-prefix", "-m", "program", "a"], environment)
    assert plain.stdout == "__main__ ['a'] False\n"
    loaded = run([*HPU_RUN, "--no-prefix", "--autoload", "-m", "program", "a"], environment)
    assert loaded.stdout == "__main__ ['a'] True\n"
    assert "Warning" not in loaded.stderr, "the program that loads the HPU is not imported before it runs"
    loaded = run([*HPU_RUN, "--no-prefix", "--autoload", str(tmp_path / "program.py"), "a"])
    assert loaded.stdout == "__main__ ['a'] True\n"


def test_first_failure_stops_the_job(script: pathlib.Path) -> None:
    script.write_text(call_to(programs.fail_in_rank_1))
    result = run_job(3, script, check=False, python=sys.executable)
    assert (result.exit_code, result.failed, result.log) == (7, 1, ["about to fail"])
    assert result.exit_codes == [128 + signal.SIGTERM, 7, 128 + signal.SIGTERM]
    assert "hpu run: rank 1 ended with exit code 7; its last line: about to fail\n" in result.output


@pytest.mark.parametrize(("ranks", "words"), [(2, "rank 1"), (3, "ranks 1, 2")])
def test_a_failure_names_ranks_that_had_ended(
    script: pathlib.Path, tmp_path: pathlib.Path, ranks: int, words: str
) -> None:
    (tmp_path / "ended").mkdir()
    script.write_text(call_to(programs.fail_after_the_others, f"{tmp_path}/ended"))
    result = run_job(ranks, script, check=False, python=sys.executable)
    assert (result.failed, result.exit_codes) == (0, [3] + [0] * (ranks - 1))
    assert result.ended_before == list(range(1, ranks))
    assert f"hpu run: before, {words} had ended with exit code 0." in result.output


def test_a_missing_horovod_has_its_remedy(script: pathlib.Path) -> None:
    script.write_text("raise ModuleNotFoundError(\"No module named 'horovod'\")\n")
    output = run_job(1, script, check=False, python=sys.executable).output
    assert "ModuleNotFoundError: No module named 'horovod'; build Horovod: make horovod" in output


def test_a_rank_that_a_signal_ended(script: pathlib.Path) -> None:
    script.write_text(call_to(programs.kill_itself))
    result = run_job(1, script, check=False, python=sys.executable)
    assert (result.exit_code, result.failed) == (137, 0)
    assert "rank 0 was ended by signal 9" in result.output


class _SlowStart(Job):
    """A job that looks at a rank only after the rank has ended."""

    def _start(self, rank: int) -> None:
        super()._start(rank)
        os.waitid(os.P_PID, self._processes[rank].pid, os.WEXITED | os.WNOWAIT)


def test_failures_before_the_first_look() -> None:
    command = [sys.executable, "-c", "exit(3)"]
    with Interruption() as interruption:
        outcome = _SlowStart(
            command, [dict(os.environ)], lambda rank, number, line: None, Grace(1, 1), interruption
        ).run()
    assert (outcome.exit_codes, outcome.failed) == ((3,), 0)


def test_a_rank_that_ignores_signals_is_killed(script: pathlib.Path) -> None:
    ready = script.with_suffix(".ready")
    script.write_text(call_to(programs.heed_no_signal, str(ready)))
    environments = [{**os.environ, "PYTHONPATH": str(ROOT), "RANK": str(rank)} for rank in range(2)]
    command = [sys.executable, str(script)]
    with Interruption() as interruption:
        outcome = Job(command, environments, lambda rank, number, line: None, Grace(0.2, 60), interruption).run()
    assert (outcome.exit_codes, outcome.failed, outcome.exit_code) == ((128 + signal.SIGKILL, 3), 1, 3)


def ended(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until(condition: object, seconds: float = 30) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"the condition is still false after {seconds} s"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_leave_no_process(script: pathlib.Path, number: int, tmp_path: pathlib.Path) -> None:
    # Each rank has started a child process.
    script.write_text(call_to(programs.start_another, str(tmp_path)))
    job = subprocess.Popen([*HPU_RUN, "-np", "2", str(script)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        wait_until(lambda: len(list(tmp_path.glob("pids_*[0-9]"))) == 2)
        pids = [[int(pid) for pid in path.read_text().split()] for path in tmp_path.glob("pids_*[0-9]")]
        job.send_signal(number)
        code = job.wait(timeout=30)
    finally:
        job.kill()
    if number == signal.SIGKILL:
        # The launcher's watcher kills the processes, with a delay.
        wait_until(lambda: all(ended(pid) for pair in pids for pid in pair))
        return
    assert code == 128 + number
    assert all(ended(pid) for pair in pids for pid in pair)


def test_wrong_usage(script: pathlib.Path) -> None:
    def refused(*arguments: str) -> str:
        done = run([*HPU_RUN, *arguments], {"HABANA_VISIBLE_MODULES": None}, check=False)
        assert done.returncode == 2
        return done.stderr

    assert "no program at" in refused(str(script))
    script.touch()
    assert "too few modules for 3 processes: 0,1" in refused("-np", "3", "--modules", "0,1", str(script))
    assert "a (from --modules or HABANA_VISIBLE_MODULES) is not a list of module" in refused(
        "--modules", "a", str(script)
    )
    assert "1,01 (from --modules or HABANA_VISIBLE_MODULES) names a module twice" in refused(
        "-np", "2", "--modules", "1,01", str(script)
    )
    for count in ("0", "x", "1.5"):
        assert f"-np/--processes: {count} is not a whole number from 1 to" in refused("-np", count, str(script))


def test_too_few_modules_start_nothing(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    script.write_text("print('started')")
    settings = {"HPU_BACKEND": "emulator", "HPU_MODULES": "2", "HPU_MODULE_LOCK_DIR": str(tmp_path)}
    settings["HABANA_VISIBLE_MODULES"] = ""

    def refused(*arguments: str, **variables: str) -> str:
        done = run([*HPU_RUN, *arguments, str(script)], {**settings, **variables}, check=False)
        assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
        return done.stderr

    too_few = "hpu run: 3 processes need 3 modules, but HPU_BACKEND=emulator has 2 modules"
    assert refused("-np", "3") == f"{too_few}; lower -np, or raise HPU_MODULES\n"
    assert "no module 2: HPU_BACKEND=emulator has 2 modules, numbered from 0" in refused("--modules", "2")
    assert "HPU_BACKEND=abacus is not a backend" in refused(HPU_BACKEND="abacus")
    assert "is not a backend: set it to one of auto, emulator, " in refused(HPU_BACKEND="emulater")
    assert "did you mean emulator?" in refused(HPU_BACKEND="emulater")
    assert "no device server answers" in refused(HPU_BACKEND=f"grpc+unix:{tmp_path}/none")
    lock = tmp_path / "module-1"
    lock.write_text("4711\npython train.py\n")
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        held = "module 1 by process 4711 (python train.py)"
        text = f"but HPU_BACKEND=emulator has 2 modules, and 1 of them is held: {held}"
        assert f"2 processes need 2 modules, {text}" in refused("-np", "2")
        assert f"modules are held: {held}; end the process" in refused("--modules", "1")
        done = run([*HPU_RUN, "--modules", "0", str(script)], settings)
    assert done.stdout == "[0] started\n"


ERRORS = {
    "": "; it printed nothing",
    "one\ntwo\n\n": "; its last line: two",
    "Traceback (most recent call last):\n  File\nValueError: a\n  b\nlast": ": ValueError: a b last",
    # Only the last lines are known, without the traceback's beginning.
    '  File "a.py", line 1, in <module>\n    f()\nkeras.errors.FitError: no data': ": keras.errors.FitError: no data",
    "Traceback (most recent call last):\n  File\nKeyError: 1\n\nDuring handling\n\nTraceback (most recent call last):\n"
    "  File\nOSError: 2": ": OSError: 2",
    "ValueError: only printed\nend": "; its last line: end",
    "x" * 400: f"; its last line: {'x' * 299}…",
}


def test_the_error_of_a_failed_rank_is_one_line() -> None:
    assert {output: last_error(output.split("\n")) for output in ERRORS} == ERRORS


@pytest.mark.parametrize(("rank", "expected"), [(0, 2), (1, 0)])
def test_only_rank_0_prints_epochs(rank: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorflow as tf

    from tests.support.keras_package import IS_KERAS_2, PACKAGE

    task = {"type": "worker", "index": rank}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["127.0.0.1:1", "127.0.0.1:2"]}, "task": task}))
    owner: Any
    if IS_KERAS_2:
        owner = importlib.import_module(f"{PACKAGE.__name__}.src.engine.training")
        name = "_get_verbosity"
    else:
        owner, name = PACKAGE.callbacks.ProgbarLogger, "set_params"
    monkeypatch.setattr(owner, name, getattr(owner, name))  # restored afterwards

    def chosen(verbose: Any) -> Any:
        if IS_KERAS_2:
            return owner._get_verbosity(verbose, tf.distribute.get_strategy())
        logger = owner()
        logger.set_params({"verbose": verbose, "epochs": 1, "steps": 1})
        return logger.verbose

    verbosity.install(PACKAGE)  # outside of `hpu run`
    assert chosen("auto") == 1
    monkeypatch.setenv("HPU_RESTART_COUNT", "0")
    verbosity.install(PACKAGE)
    assert [chosen(verbose) for verbose in ("auto", 0, 1, 2)] == [expected, 0, 1, 2]


def test_reserved_ports_are_exclusive() -> None:
    import socket

    with ports.reserved(4) as numbers:
        assert len(set(numbers)) == 4
        for number in numbers:
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", number))
            with socket.socket() as server:  # gRPC opens its sockets with the same options
                server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                server.bind(("127.0.0.1", number))
                server.listen()
