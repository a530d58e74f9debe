"""`hpu serve --faults FILE`: deterministic effects of each fault on programs, and invalid files."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import pytest

from habana_frameworks.tensorflow._internal.serve import fault_schedule
from tests.remote import faults_programs as programs
from tests.remote.servers import Server
from tests.support.processes import call_to, run, run_with_tensorflow


def schedule(directory: pathlib.Path, **content: Any) -> pathlib.Path:
    path = directory / "faults.json"
    path.write_text(json.dumps(content))
    return path


def train(backend: str, steps: int = 6, **variables: str) -> list[str]:
    program = call_to(programs.train, steps)
    return run_with_tensorflow(program, {"HPU_BACKEND": backend, **variables}).stdout.splitlines()


def value(lines: list[str], name: str) -> str:
    return next(line.partition(": ")[2] for line in lines if line.startswith(f"{name}: "))


# By session: rule, error class, part of the error's text, failing steps of six (None: not checked).
ERRORS = [
    ({"kind": "launch", "at": 3}, "InternalError", "launch of ", [3]),
    ({"kind": "out_of_memory", "at": 2}, "ResourceExhaustedError", "out of device memory", [2]),
    ({"kind": "copy", "at": 3}, "InternalError", "copy@3", None),
    ({"kind": "lost", "at": 5}, "AbortedError", "the HPU is lost", None),
    ({"kind": "drop", "at": 2}, "UnavailableError", "is unreachable or ended the session", None),
    ({"kind": "drop", "at": 8}, "UnavailableError", "is unreachable or ended the session", None),  # during compilation
    ({"kind": "silence", "from": 1}, "UnavailableError", "is unreachable or ended the session", None),
]


def test_each_error_is_the_cards(tmp_path: pathlib.Path) -> None:
    rules = [{**rule, "session": number} for number, (rule, *_) in enumerate(ERRORS, start=1)]
    path = schedule(tmp_path, faults=[*rules, {"kind": "busy", "from": len(ERRORS) + 1}])
    with Server(tmp_path, "--faults", str(path)) as server:
        for rule, error, text, steps in ERRORS:
            # A client detects a silent server only after seconds, so it trains until the error.
            lines = train(server.backend, steps=6 if rule["kind"] != "silence" else 10**9)
            assert lines[0].startswith(error), lines
            assert any(text in line for line in lines), lines
            if steps:  # later work succeeds
                assert value(lines, "failed") == str(steps)
        lines = train(server.backend, steps=1)
        assert lines[0].startswith("UnavailableError"), lines
        assert any("no HPU module is free" in line for line in lines), lines


@pytest.mark.cpu_fallback
def test_a_failed_compile_falls_back_or_raises(tmp_path: pathlib.Path) -> None:
    crash = {"kind": "compiler_crash", "at": 1, "session": 3}
    path = schedule(tmp_path, faults=[{"kind": "compile", "from": 1, "session": n} for n in (1, 2)] + [crash])
    with Server(tmp_path, "--faults", str(path)) as server:
        lines = train(server.backend)
        assert value(lines, "failed") == "[]"
        assert int(value(lines, "fallbacks")) == 6
        lines = train(server.backend, TF_CPU_RUNTIME_FALLBACK="forbid")
        assert lines[0].startswith("InternalError")
        assert any("compile@1" in line for line in lines), lines
        assert value(lines, "failed") == "[1, 2, 3, 4, 5, 6]"
        lines = train(server.backend, TF_CPU_RUNTIME_FALLBACK="forbid")
        assert any("the compiler crashed on program 'habana_cluster_step_0' (process " in line for line in lines), lines


def test_delays_are_no_failures(tmp_path: pathlib.Path) -> None:
    delays = ("slow_copy", "slow_compile", "delay")
    rules = [
        {"kind": kind, "from": 1, "milliseconds": 100, "session": number} for number, kind in enumerate(delays, start=1)
    ]
    with Server(tmp_path, "--faults", str(schedule(tmp_path, faults=rules))) as server:
        for _ in delays:
            lines = train(server.backend)
            assert value(lines, "failed") == "[]"
            assert float(value(lines, "seconds")) > 0.1
        assert value(lines, "fallbacks") == "0"


def test_the_seed_decides(tmp_path: pathlib.Path) -> None:
    failed = []
    for seed in (3, 3, 4):
        rules = [{"kind": "launch", "probability": 0.1}, {"kind": "copy", "probability": 0.02}]
        with Server(tmp_path, "--faults", str(schedule(tmp_path, seed=seed, faults=rules))) as server:
            failed.append(value(train(server.backend, steps=100), "failed"))
    assert failed[0] == failed[1] != failed[2]
    assert failed[0] != "[]"


def test_without_a_file_nothing_fails(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        assert value(train(server.backend), "failed") == "[]"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"fault": []}, "fault is not a valid key; did you mean faults?"),
        ({"seed": 1}, "faults must be a list"),
        ({"seed": -1, "faults": []}, "seed is -1, not a whole number from 0"),
        ([], "the schedule must be a JSON object"),
        ({"faults": [{"kind": "lots", "at": 1}]}, "faults[0].kind is 'lots'; did you mean lost?"),
        ({"faults": [{"kind": "lost"}]}, "faults[0] needs exactly one of at, from, probability, not none"),
        ({"faults": [{"kind": "lost", "at": 1, "from": 2}]}, ", not at, from"),
        ({"faults": [{"kind": "lost", "at": 0}]}, "faults[0].at is 0"),
        ({"faults": [{"kind": "lost", "at": True}]}, "faults[0].at is True"),
        ({"faults": [{"kind": "lost", "probabilty": 0.1}]}, "did you mean probability?"),
        ({"faults": [{"kind": "copy", "probability": 1.5}]}, "faults[0].probability is 1.5"),
        ({"faults": [{"kind": "copy", "at": 1}, {"kind": "delay", "at": 1}]}, "faults[1]: delay requires milliseconds"),
        ({"faults": [{"kind": "copy", "at": 1, "milliseconds": 5}]}, "copy does not accept milliseconds"),
        ({"faults": [{"kind": "delay", "at": 1, "milliseconds": 20000}]}, "faults[0].milliseconds is 20000"),
        ({"faults": [{"kind": "busy", "at": 1, "session": 1}]}, "busy does not accept session"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: pathlib.Path, content: Any, message: str) -> None:
    path = tmp_path / "faults.json"
    path.write_text(json.dumps(content))
    with pytest.raises(fault_schedule.FaultScheduleError) as error:
        fault_schedule.read(str(path))
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)


def test_the_command_refuses_them(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "habana_frameworks.tensorflow", "serve", "--faults"]
    path = tmp_path / "faults.json"
    path.write_text('{"seed": 1\n"faults": []}')
    done = run([*command, str(path)], check=False)
    assert done.returncode == 2
    assert f"{path}: line 2: " in done.stderr
    done = run([*command, str(tmp_path / "none")], check=False)
    assert done.returncode == 2
    assert "No such file" in done.stderr
