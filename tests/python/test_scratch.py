"""Temporary directories go with their process, however it ends."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from habana_frameworks.tensorflow import scratch
from tests.support.processes import ROOT

HOLD = """
import sys
from habana_frameworks.tensorflow import scratch
with scratch.directory("test-") as made:
    (made / "file").touch()
    print(made, flush=True)
    sys.stdin.read()
"""


def start() -> tuple[subprocess.Popen[str], pathlib.Path]:
    """A process with such a directory, and that."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    assert process.stdout is not None
    return process, pathlib.Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_goes_with_the_next(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    killed, left = start()
    alive, used = start()
    assert left.parent == used.parent == tmp_path
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert (left / "file").exists()
    (tmp_path / "test-link").symlink_to(used)
    with scratch.directory("test-") as made:
        assert made.is_dir() and made.stat().st_mode & 0o777 == 0o700
        assert not left.exists()
        assert (used / "file").exists()
    assert not made.exists()
    alive.communicate("")
    assert not used.exists()


def test_an_error_in_the_block_is_raised_and_leaves_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match="in the block"), scratch.directory("test-"):
        raise OSError("in the block")
    assert list(tmp_path.iterdir()) == []
