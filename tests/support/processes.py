"""Programs in a process of their own, for tests whose subject is a fresh process.

The programs of test_x.py are functions of x_programs.py, so that mypy and ruff read them; call_to() names one. Text is
for programs whose text is the subject.

Importing TensorFlow takes a new interpreter seconds. So programs that need not show how it is imported are run by
WARM_PYTHON, which takes what Python takes, and has the program run in a fork of an interpreter that has imported it and
nothing else (warm_interpreter.py), be it a test that starts it or a program of a test. NumPy's numbers without a seed
are the same in all of them. To who starts it, it is the program: it gives its files and its environment to it, passes
signals on, and ends as it does, and the other way round. But its process id is another one, and limits, namespaces,
what SIGSTOP does, and the like are not the program's. It becomes a new interpreter where importing would read other
settings, where options are given, and where no interpreter has been made for the log level.
"""

from __future__ import annotations

import ast
import atexit
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import ParamSpec

Parameters = ParamSpec("Parameters")

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARM_PYTHON = str(ROOT / "tests" / "support" / "python")
# Begins a program that must not find this tree, which a .pth file of the virtual environment may name.
HIDE_TREE = f"import sys\nsys.path = [entry for entry in sys.path if entry != {str(ROOT)!r}]\n"


def call_to(function: Callable[Parameters, object], *values: Parameters.args, **options: Parameters.kwargs) -> str:
    """A program for the functions below: imports `function` from its module, and calls it.

    Arguments are passed as literals.
    """
    ast.literal_eval(repr((values, options)))  # raises where an argument has none
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
    """Runs `code`; variables of `environment` are set, or removed where None. Fails the test if the program fails.

    as_file: runs it from a file, which multiprocessing's spawned children can import.
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
    """Runs a command with the package of this tree on its path."""
    done = subprocess.run(
        command,
        env=_variables(command, environment),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        input=input,
    )
    return _checked(done) if check else done


def start(
    command: list[str], environment: Mapping[str, str | None] | None = None, **options: Any
) -> subprocess.Popen[Any]:
    """As run() does, without waiting for its end; `options` are Popen's."""
    return subprocess.Popen(command, env=_variables(command, environment), **{"cwd": ROOT, **options})


def _variables(command: list[str], environment: Mapping[str, str | None] | None) -> dict[str, str]:
    """This process's, with `environment` over them, and what WARM_PYTHON needs where it may be started."""
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
    """run_python() for programs that need not show how TensorFlow is imported: by WARM_PYTHON."""
    return run_python(code, environment, timeout, check, cwd, as_file, WARM_PYTHON)


@functools.cache
def _directory() -> pathlib.Path:
    """Of the sockets of warm interpreters; goes with this process."""
    directory = tempfile.TemporaryDirectory(prefix="hpu-tests-")
    atexit.register(directory.cleanup)
    return pathlib.Path(directory.name)


# Of TF_CPP_MIN_LOG_LEVEL: those that more than one program has.
_LOG_LEVELS = ("1", "2")


@functools.cache
def _start_warm_interpreter(log_level: str) -> None:
    """One that ends with this process."""
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
