"""Programs in a process of their own, for tests whose subject is a fresh process."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
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
    done = subprocess.run(
        command, env=_variables(environment), cwd=cwd, capture_output=True, text=True, timeout=timeout
    )
    return _checked(done) if check else done


def _variables(environment: Mapping[str, str | None] | None) -> dict[str, str]:
    """This process's, with `environment` over them."""
    variables: dict[str, str | None] = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"}
    variables.update(environment or {})
    return {name: value for name, value in variables.items() if value is not None}


def _checked(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


# What TensorFlow and Python read when they are imported, and not later.
_READ_AT_IMPORT = ("HOME", "LD_", "OMP_", "PYTHON", "TF_CPP_", "TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS", "XLA_FLAGS")


def run_with_tensorflow(
    code: str,
    environment: Mapping[str, str | None] | None = None,
    timeout: float = 120,
    check: bool = True,
    cwd: pathlib.Path = ROOT,
) -> subprocess.CompletedProcess[str]:
    """run_python() for programs that need not show how TensorFlow is imported: it has been when they begin.

    They run in forks of an interpreter that has imported it and nothing else, which saves each of them seconds. NumPy's
    numbers without a seed are the same in all of them. Where the import would read other settings, or a thread of this
    process runs such a program already, this one gets a new interpreter.
    """
    variables = _variables(environment)
    ours = _variables({"TF_CPP_MIN_LOG_LEVEL": variables.get("TF_CPP_MIN_LOG_LEVEL")})
    names = {name for name in (*variables, *ours) if name.startswith(_READ_AT_IMPORT)}
    if all(variables.get(name) == ours.get(name) for name in names):
        interpreter = _warm_interpreter(variables.get("TF_CPP_MIN_LOG_LEVEL", "0"))
        if interpreter.lock.acquire(blocking=False):
            try:
                done = interpreter.run(textwrap.dedent(code), variables, timeout, cwd)
            finally:
                interpreter.lock.release()
            return _checked(done) if check else done
    return run_python(code, environment, timeout, check, cwd)


class _WarmInterpreter:
    """tests/support/warm_interpreter.py in a process, which ends with this one. Runs one program at a time."""

    def __init__(self, log_level: str) -> None:
        self.lock = threading.Lock()
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(ROOT / "tests" / "support" / "warm_interpreter.py"), str(theirs.fileno())],
                env=_variables({"TF_CPP_MIN_LOG_LEVEL": log_level}),
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def run(
        self, program: str, environment: Mapping[str, str], timeout: float, directory: pathlib.Path
    ) -> subprocess.CompletedProcess[str]:
        """As subprocess.run() of a new interpreter would."""
        command = [sys.executable, "-c", program]
        request = {"program": program, "environment": environment, "directory": str(directory)}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            socket.send_fds(self._channel, [json.dumps(request).encode()], [out.fileno(), err.fileno()])
            self._channel.settimeout(None)
            child = int(self._channel.recv(64))
            self._channel.settimeout(timeout)
            try:
                code = int(self._channel.recv(64))
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                self._channel.settimeout(None)
                self._channel.recv(64)
                raise subprocess.TimeoutExpired(command, timeout) from None
            for file in (out, err):
                file.seek(0)
            return subprocess.CompletedProcess(command, code, out.read().decode(), err.read().decode())


@functools.cache
def _warm_interpreter(log_level: str) -> _WarmInterpreter:
    return _WarmInterpreter(log_level)
