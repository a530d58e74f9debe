"""Programs in separate processes, for tests that need a new process.

The programs of test_x.py are functions in x_programs.py, so that mypy and ruff check them; call_to() names one. Program
text in strings is for tests of that text.

A new interpreter needs seconds to import TensorFlow. WARM_PYTHON avoids the import. It has Python's command line, and
runs the program in a fork of an interpreter that has imported only TensorFlow (warm_interpreter.py). Use WARM_PYTHON
for all programs that do not test the import itself, also in programs of tests. NumPy's random numbers without a seed
are equal in all its programs.

To its caller, WARM_PYTHON is the program: it passes on files, environment and signals, and ends like the program. The
program has another process id, and does not inherit resource limits, namespaces or the effect of SIGSTOP.

WARM_PYTHON becomes a new interpreter in three cases: for interpreter options, for other values of settings that imports
read, and for a log level without a warm interpreter.
"""

from __future__ import annotations

import ast
import atexit
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import ParamSpec

from tests.support import crashes

Parameters = ParamSpec("Parameters")

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARM_PYTHON = str(ROOT / "tests" / "support" / "python")
# Prefix of a program that must not find this tree, which a .pth file of the virtual environment may name.
HIDE_TREE = f"import sys\nsys.path = [entry for entry in sys.path if entry != {str(ROOT)!r}]\n"


# Environment variable with the directory of shared_recipes(). All workers of pytest-xdist inherit it.
RECIPES = "TEST_RECIPES"


def shared_recipes() -> dict[str, str | None]:
    """Returns the environment with which programs of this test run share their compiled recipes.

    For tests of other subjects than compilation, whose processes would each compile the same clusters. Empty outside
    of pytest.
    """
    directory = os.environ.get(RECIPES)
    return {"TF_RECIPE_CACHE_PATH": directory} if directory else {}


def call_to(function: Callable[Parameters, object], *values: Parameters.args, **options: Parameters.kwargs) -> str:
    """Returns a program that imports `function` from its module and calls it, for the functions below.

    Arguments are passed as literals.
    """
    ast.literal_eval(repr((values, options)))  # raises if an argument has no literal
    arguments = [*map(repr, values), *(f"{name}={value!r}" for name, value in options.items())]
    name = function.__name__
    return f"from {function.__module__} import {name}\n\n{name}({', '.join(arguments)})\n"


def run_python(
    code: str,
    environment: Mapping[str, str | None] | None = None,
    timeout: float = 120,
    check: bool = True,
    cwd: pathlib.Path = ROOT,
    as_file: bool = False,
    python: str = sys.executable,
) -> subprocess.CompletedProcess[str]:
    """Runs `code` in a new process. Fails the test if the program fails.

    environment: variables to set, or to remove if None. as_file: runs the code from a file, which processes spawned by
    multiprocessing can import.
    """
    text = textwrap.dedent(code)
    if not as_file:
        return run([python, "-c", text], environment, timeout, check, cwd)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "program.py")
        path.write_text(text)
        return run([python, str(path)], environment, timeout, check, cwd)


def run(
    command: list[str],
    environment: Mapping[str, str | None] | None = None,
    timeout: float = 120,
    check: bool = True,
    cwd: pathlib.Path = ROOT,
    input: str | None = None,  # noqa: A002 (as subprocess.run)
) -> subprocess.CompletedProcess[str]:
    """Runs a command with this tree's package on its path."""
    done = subprocess.run(
        command,
        env=_variables(command, environment),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        input=input,
    )
    crashes.note(done.stderr)
    return _checked(done) if check else done


def start(
    command: list[str], environment: Mapping[str, str | None] | None = None, **options: Any
) -> subprocess.Popen[Any]:
    """Like run(), without waiting for the end. `options` are Popen's."""
    return subprocess.Popen(command, env=_variables(command, environment), **{"cwd": ROOT, **options})


def _variables(command: list[str], environment: Mapping[str, str | None] | None) -> dict[str, str]:
    """Returns this process's variables, updated with `environment`, and the variables of WARM_PYTHON if necessary."""
    variables: dict[str, str | None] = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"}
    variables.update(environment or {})
    if WARM_PYTHON in (*command, *variables.values()):
        level = variables.get("TF_CPP_MIN_LOG_LEVEL") or "0"
        if level in _LOG_LEVELS:
            _start_warm_interpreter(level)
        variables |= {"WARM_DIRECTORY": str(_directory()), "WARM_NEW": sys.executable}
    return {name: value for name, value in variables.items() if value is not None}


def _checked(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def run_with_tensorflow(
    code: str,
    environment: Mapping[str, str | None] | None = None,
    timeout: float = 120,
    check: bool = True,
    cwd: pathlib.Path = ROOT,
    as_file: bool = False,
) -> subprocess.CompletedProcess[str]:
    """run_python() with WARM_PYTHON, for programs that do not test the import of TensorFlow."""
    return run_python(code, environment, timeout, check, cwd, as_file, WARM_PYTHON)


@functools.cache
def _directory() -> pathlib.Path:
    """Returns the directory for warm interpreters' sockets, which is removed at exit."""
    directory = tempfile.TemporaryDirectory(prefix="hpu-tests-")
    atexit.register(directory.cleanup)
    return pathlib.Path(directory.name)


# Values of TF_CPP_MIN_LOG_LEVEL that several programs use.
_LOG_LEVELS = ("1", "2")


@functools.cache
def _start_warm_interpreter(log_level: str) -> None:
    """Starts a warm interpreter that ends with this process."""
    path = _directory() / log_level
    command = [sys.executable, str(ROOT / "tests" / "support" / "warm_interpreter.py"), str(path)]
    process = subprocess.Popen(
        command,
        env=_variables(command, {"TF_CPP_MIN_LOG_LEVEL": log_level, "PYTHONPATH": None}),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not path.exists():
        assert process.poll() is None, "no warm interpreter"
        time.sleep(0.05)


def own_lines(stderr: str) -> str:
    """The lines that TensorFlow 2.21 does not print at every start, whatever TF_CPP_MIN_LOG_LEVEL is."""
    start = re.compile(r"WARNING: All log messages before absl::InitializeLog|I0000 .* (port|service|cpu_utils)\.cc:")
    return "".join(line for line in stderr.splitlines(keepends=True) if not start.match(line))
