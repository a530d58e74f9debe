"""Programs in a process of their own, for tests whose subject is a fresh process."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Mapping

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Begins a program that must not find this tree, which a .pth file of the virtual environment may name.
HIDE_TREE = f"import sys\nsys.path = [entry for entry in sys.path if entry != {str(ROOT)!r}]\n"


def run_python(
    code: str,
    environment: Mapping[str, str | None] | None = None,
    timeout: float = 120,
    check: bool = True,
    cwd: pathlib.Path = ROOT,
    as_file: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs `code`; variables of `environment` are set, or removed where None. Fails the test if the program fails.

    as_file: runs it from a file, which multiprocessing's spawned children can import.
    """
    text = textwrap.dedent(code)
    if not as_file:
        return run([sys.executable, "-c", text], environment, timeout, check, cwd)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "program.py")
        path.write_text(text)
        return run([sys.executable, str(path)], environment, timeout, check, cwd)


def run(
    command: list[str],
    environment: Mapping[str, str | None] | None = None,
    timeout: float = 120,
    check: bool = True,
    cwd: pathlib.Path = ROOT,
) -> subprocess.CompletedProcess[str]:
    """Runs a command with the package of this tree on its path."""
    variables: dict[str, str | None] = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"}
    variables.update(environment or {})
    kept = {name: value for name, value in variables.items() if value is not None}
    done = subprocess.run(command, env=kept, cwd=cwd, capture_output=True, text=True, timeout=timeout)
    if check and done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done
