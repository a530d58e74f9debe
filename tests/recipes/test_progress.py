"""Progress messages during compilation. plugin/compiler/background/compile_progress_test.cc tests their timing."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import re
from collections.abc import Iterator

import pytest

from tests.recipes import progress_programs as programs
from tests.remote.servers import Server
from tests.support.processes import WARM_PYTHON, call_to, run_with_tensorflow, start


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> Iterator[dict[str, str | None]]:
    """Environment with a device server whose compilations are slow."""
    faults = tmp_path / "faults.json"
    faults.write_text(json.dumps({"faults": [{"kind": "slow_compile", "from": 1, "milliseconds": 5000}]}))
    with Server(tmp_path, "--faults", str(faults)) as server:
        yield {"HPU_BACKEND": server.backend}


def on_terminal(program: str, environment: dict[str, str | None]) -> str:
    """Runs the program with a terminal as stderr. Returns what the terminal received."""
    terminal, stderr = pty.openpty()
    process = start([WARM_PYTHON, "-c", program], environment, stderr=stderr)
    os.close(stderr)
    shown = b""
    try:
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # Linux reports a pseudo-terminal whose other end is closed
                break
            if not data:
                break
            shown += data
        assert process.wait(60) == 0, shown
    finally:
        process.kill()
        os.close(terminal)
    return shown.decode()


def test_a_long_compile_is_reported(environment: dict[str, str | None]) -> None:
    done = run_with_tensorflow(call_to(programs.compile_slowly, (8, 9)), environment)
    first, *_, last = lines = done.stderr.splitlines()
    assert re.fullmatch(r"HPU: compiling habana_cluster_slow_0 \(\d+ ops\): generating code, \d+ s", first), lines
    assert re.fullmatch(r"HPU: compiling habana_cluster_slow_0 \(\d+ ops\): done after \d+ s", last), lines
    assert "\r" not in done.stderr and any("s last time)" in line for line in lines[2:])


def test_no_line_is_shown_with_hpu_quiet(environment: dict[str, str | None]) -> None:
    done = run_with_tensorflow(call_to(programs.compile_slowly, (8,)), {**environment, "HPU_QUIET": "1"})
    assert done.stderr == ""


def test_one_line_is_redrawn_on_a_terminal() -> None:
    shown = on_terminal(call_to(programs.compile_slowly, (8,)), {"HPU_FAULTS": "slow_compile@1+:5000"})
    line = r"\rHPU: compiling habana_cluster_slow_0 \(\d+ ops\): generating code, \d+ s\x1b\[K"
    assert re.search(line, shown), shown
    assert shown.endswith("\r\x1b[K") and "\n" not in shown, shown


def test_the_line_on_a_terminal_counts_recipes(environment: dict[str, str | None]) -> None:
    shown = on_terminal(call_to(programs.compile_in_background, (9, 10, 11)), environment)
    assert " of 3 recipes; habana_cluster_slow_0 (" in shown, shown
