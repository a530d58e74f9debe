"""Installs a wheel into a new virtual environment outside the tree, and trains with it.

python -m tools.wheel.trial dist/*.whl

Trains README.md's first program on the emulated HPU, then on a module of `hpu serve`. PATH has the environment's
programs only, so no compiler is found. Needs only Python's standard library, so that bare containers can run it.
Exit code 0: everything ran; 1: a step failed, and its output is on stderr; 2: wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
_RELEASES = runpy.run_path(str(ROOT / "habana_frameworks" / "tensorflow" / "_internal" / "releases.py"))
TENSORFLOW = f"tensorflow-cpu=={_RELEASES['release_for_python']().version}"
_FIRST_PROGRAM = re.compile(r"<!-- block: file first\.py -->\n```python\n(.*?)```\n", re.DOTALL)
_DEVICE = "/job:localhost/replica:0/task:0/device:HPU:0"
_TIMEOUT = 1800  # seconds for one step; pip downloads 300 MB for TensorFlow
_IS_ELSEWHERE = "import sys, habana_frameworks.tensorflow as package; sys.exit(sys.prefix not in package.__file__)"


class TrialError(Exception):
    """A step that failed. The text has the reason, and the output of a failed command."""


@dataclasses.dataclass
class Times:
    """Seconds of each step. `tensorflow` is 0 if its files are used from another environment."""

    environment: float = 0
    tensorflow: float = 0
    wheel: float = 0
    training: float = 0
    remote_training: float = 0


class Environment:
    """A virtual environment of this Python, whose programs see no other program and no source tree."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory
        self._programs = directory / "venv" / "bin"
        self._run([sys.executable, "-m", "venv", str(directory / "venv")])

    def use_packages_of(self, site_packages: pathlib.Path) -> None:
        """Makes the packages of a directory importable. Ignores its .pth files, which may name a source tree."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        own = self._directory / "venv" / "lib" / version / "site-packages"
        (own / "other_packages.pth").write_text(f"{site_packages.resolve()}\n")

    def run(self, *command: str, **variables: str) -> str:
        """Runs a program of the environment and returns what it prints. Raises TrialError."""
        return self._run([str(self._programs / command[0]), *command[1:]], variables)

    @contextlib.contextmanager
    def server(self) -> Iterator[str]:
        """Runs `hpu serve` with one module; yields the HPU_BACKEND of its clients. Raises TrialError."""
        address = f"unix:{self._directory / 'box'}"
        command = [str(self._programs / "hpu"), "serve", "--modules", "1", "--json", "--listen", address]
        log_path = self._directory / "server.log"
        with log_path.open("w") as log:
            process = subprocess.Popen(
                command,
                cwd=self._directory,
                env=self._variables({}),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise TrialError(f"hpu serve ended with {process.wait(_TIMEOUT)}:\n{log_path.read_text()}")
            yield str(json.loads(line)["backend"])
        finally:
            process.terminate()
            process.communicate(timeout=_TIMEOUT)
        if process.returncode != 0:
            raise TrialError(f"hpu serve ended with {process.returncode}:\n{log_path.read_text()}")

    def _run(self, command: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            command,
            cwd=self._directory,
            env=self._variables(variables or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT,
        )
        if done.returncode != 0:
            raise TrialError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def _variables(self, more: Mapping[str, str]) -> dict[str, str]:
        """Returns the caller's variables without this package's settings, Python's variables and programs in PATH."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HPU_", "PYTHON"))}
        own = {"PATH": str(self._programs), "HOME": str(self._directory), "TF_CPP_MIN_LOG_LEVEL": "1"}
        locks = {"HPU_MODULE_LOCK_DIR": str(self._directory / "locks")}
        return {**kept, **own, **locks, **more}


def first_program(readme: pathlib.Path = ROOT / "README.md") -> str:
    """The text of first.py in README.md."""
    match = _FIRST_PROGRAM.search(readme.read_text(encoding="utf-8"))
    if match is None:
        raise TrialError(f"{readme.name} has no block with the marker `file first.py`")
    return match[1]


def install(environment: Environment, wheel: pathlib.Path, site_packages: pathlib.Path | None, times: Times) -> None:
    """Installs TensorFlow, or uses the one in `site_packages`, then the wheel. Raises TrialError."""
    pip = ["pip", "install", "--quiet", "--disable-pip-version-check"]
    if site_packages is None:
        with _timed(times, "tensorflow"):
            environment.run(*pip, TENSORFLOW)
    else:
        environment.use_packages_of(site_packages)
    with _timed(times, "wheel"):
        environment.run(*pip, str(wheel.resolve()))
    environment.run("python", "-c", _IS_ELSEWHERE)


def train(environment: Environment, program: pathlib.Path, times: Times) -> None:
    """Runs the program on the emulated HPU, then on a module of a device server. Raises TrialError."""
    with _timed(times, "training"):
        _require_hpu(environment.run("python", str(program)))
    with environment.server() as backend, _timed(times, "remote_training"):
        _require_hpu(environment.run("python", str(program), HPU_BACKEND=backend))


def _require_hpu(printed: str) -> None:
    if printed.splitlines()[-1:] != [_DEVICE]:
        raise TrialError(f"the weights are not on the HPU:\n{printed}")


@contextlib.contextmanager
def _timed(times: Times, step: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    setattr(times, step, round(time.monotonic() - start, 1))


def run(wheel: pathlib.Path, site_packages: pathlib.Path | None = None) -> Times:
    """Tries the wheel in a temporary directory. Raises TrialError."""
    times = Times()
    with tempfile.TemporaryDirectory(prefix="hpu-trial-") as made:
        directory = pathlib.Path(made)
        (directory / "first.py").write_text(first_program(), encoding="utf-8")
        with _timed(times, "environment"):
            environment = Environment(directory)
        install(environment, wheel, site_packages, times)
        train(environment, directory / "first.py", times)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument(
        "--packages",
        metavar="DIRECTORY",
        type=pathlib.Path,
        help=f"site-packages of this Python with TensorFlow; by default pip downloads {TENSORFLOW}",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    try:
        times = dataclasses.asdict(run(arguments.wheel, arguments.packages))
    except (TrialError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(times) if arguments.json else "\n".join(f"{name:16} {s:6.1f} s" for name, s in times.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
