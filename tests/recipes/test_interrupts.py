"""Ctrl-C during a compile."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

import pytest

from tests.recipes import interrupt_programs as programs
from tests.support.processes import WARM_PYTHON, call_to, start

# The first and the last compile end long after the interruption.
ENVIRONMENT: dict[str, str | None] = {"HPU_FAULTS": "slow_compile@1:10000,slow_compile@2:6000,slow_compile@3:10000"}


def interrupt_next_compile(process: subprocess.Popen[Any]) -> str:
    """Waits for the line of a compile, then interrupts the process. Returns the line."""
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("HPU: compiling habana_cluster_slow_0"), line + process.stderr.read()
    process.send_signal(signal.SIGINT)
    return str(line)


def test_ctrl_c_during_a_compile() -> None:
    command = [WARM_PYTHON, "-c", call_to(programs.compile_and_be_interrupted)]
    process = start(command, ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    answers = map(json.loads, process.stdout)
    try:
        interrupt_next_compile(process)
        assert next(answers) == {"interrupted": True, "compiled": 0}, "KeyboardInterrupt is raised during the compile"
        assert "interrupted after" in process.stderr.readline()
        assert next(answers) == {"result": pytest.approx(8.0), "compiled": 1}, "the next call uses the same compile"

        interrupt_next_compile(process)
        assert next(answers) == {"result": pytest.approx(9.0), "compiled": 2, "calls": 1}, "a handler of its own"
        assert "done after" in process.stderr.readline()

        interrupt_next_compile(process)
        assert next(answers) == {"interrupted": True, "compiled": 2}
        assert process.wait(60) == 5, "a program that exits during a compile keeps its exit code"
    finally:
        process.kill()
        process.communicate()
