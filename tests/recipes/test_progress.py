"""Progress messages during compilation. plugin/compiler/background/compile_progress_test.cc tests their timing."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import sys
from collections.abc import Iterator

import pytest

from tests.recipes import progress_programs as programs
from tests.remote.servers import Server
from tests.support.processes import call_to, run_python, start


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> Iterator[dict[str, str | None]]:
    """Environment with a device server whose compilations are slow."""
    faults = tmp_path / "faults.json"
    faults.write_text(json.dumps({"faults": [{"kind": "slow_compile", "from": 1, "milliseconds": 5000}]}))
    with Server(tmp_path, "--faults", str(faults)) as server:
        yield {"HPU_BACKEND": server.backend, "TF_CPP_MIN_LOG_LEVEL": "0"}


def test_a_long_compile_is_reported(environment: dict[str, str | None]) -> None:
    done = run_python(call_to(programs.compile_slowly, (8,)), environment)
    lines = [line for line in done.stderr.splitlines() if " so far" in line]
    assert lines and all("habana_cluster_slow_0 (" in line and " ops): " in line for line in lines), done.stderr
    assert "\r" not in done.stderr


def test_a_bar_on_a_terminal_where_several_are_to_be_made(environment: dict[str, str | None]) -> None:
    terminal, stderr = pty.openpty()
    process = start(
        [sys.executable, "-c", call_to(programs.compile_in_background, (9, 10, 11))], environment, stderr=stderr
    )
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
    assert b" of 3 recipes; habana_cluster_slow_0 (" in shown, shown
