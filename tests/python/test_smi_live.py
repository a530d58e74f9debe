"""`hpu smi --loop` on a terminal and in a pipe."""

from __future__ import annotations

import os
import pathlib
import pty
import re
import signal
import subprocess
import sys

from tests.support.processes import ROOT

COMMAND = [sys.executable, "-m", "habana_frameworks.tensorflow", "smi", "-l", "0.1"]
COLUMNS = 60


def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    """Two free modules, and a narrow terminal."""
    settings = {"HPU_BACKEND": "emulator", "HPU_MODULES": "2", "HPU_MODULE_LOCK_DIR": str(tmp_path)}
    return {**os.environ, **settings, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": str(COLUMNS), "LINES": "24"}


def screen(output: str) -> list[str]:
    """Lines that a terminal shows after `output`, whose only codes move the cursor up and clear below it."""
    lines: list[str] = []
    for up, text in re.findall(r"(?:\x1b\[(\d+)F\x1b\[J)?([^\x1b]*)", output.replace("\r\n", "\n")):
        if up:
            del lines[len(lines) - int(up) :]
        lines += text.splitlines()
    return lines


def interrupt(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130


def test_a_terminal_shows_one_table_with_a_bar_for_each_sample(tmp_path: pathlib.Path) -> None:
    terminal, child = pty.openpty()
    with subprocess.Popen(COMMAND, stdout=child, stderr=child, env=environment(tmp_path)) as process:
        os.close(child)
        output = b""
        while output.count(b"Temperatures") < 4:
            output += os.read(terminal, 4096)
        interrupt(process)
    os.close(terminal)
    # The last redraw may be incomplete: the screen before it has at least three samples.
    complete = re.match(rb"(.*)\x1b\[\d+F", output, re.DOTALL)
    assert complete is not None
    shown = screen(complete[1].decode())
    assert len([line for line in shown if "HPU_BACKEND=emulator" in line]) == 1
    assert [line.split()[1] for line in shown if line.startswith("module ")] == ["0", "1"]
    assert re.fullmatch(r"module 1  utilisation ▁{3,}  memory ▁{3,}", shown[-1])
    assert all(len(line) < COLUMNS for line in shown)


def test_a_pipe_gets_no_codes(tmp_path: pathlib.Path) -> None:
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, env=environment(tmp_path)) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().decode() for _ in range(10)]
        interrupt(process)
    assert not any("\x1b" in line for line in lines)
    assert len([line for line in lines if "HPU_BACKEND=emulator" in line]) == 2
