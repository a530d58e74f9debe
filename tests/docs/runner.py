"""Runs the code blocks of a page, and compares their outputs with the outputs in the page.

Programs of a page run one at a time in one folder. The folder contains the files of the page's `file` blocks, links to
the tree's `examples/`, `benchmarks/` and `build/`, and `train.py` (programs/train.py). A program's script has the line
numbers of the page. The script prints a separator after each block, so that the runner can split the output by block.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from tests.docs import outputs
from tests.docs.blocks import Block, Language, Page, Program, Step
from tests.support.processes import ROOT, WARM_PYTHON, start

_SEPARATOR = "\x1e"
# Commands of shell blocks. They run in a warm interpreter.
_COMMANDS = {
    "python": f'exec {WARM_PYTHON} "$@"\n',
    "hpu": f'exec {WARM_PYTHON} -m habana_frameworks.tensorflow "$@"\n',
}


@dataclasses.dataclass(frozen=True)
class Failure:
    """A block that fails, or prints other text than the page shows."""

    place: str
    text: str

    def __str__(self) -> str:
        shown = self.text if len(self.text) < 8000 else f"{self.text[:4000]}\n[…]\n{self.text[-4000:]}"
        return f"{self.place}: {shown}"


@dataclasses.dataclass
class Outcome:
    """Outcome of a page. Numbers are numbers of blocks."""

    run: int = 0
    compared: int = 0
    files: int = 0
    skipped: list[str] = dataclasses.field(default_factory=list)
    failures: list[Failure] = dataclasses.field(default_factory=list)

    def add(self, other: Outcome) -> None:
        self.run += other.run
        self.compared += other.compared
        self.files += other.files
        self.skipped += other.skipped
        self.failures += other.failures


def run_page(page: Page, slow: bool = False, timeout: float = 280) -> Outcome:
    """Runs the page's programs: the slow ones if `slow`, else the others. A program may run for `timeout` seconds."""
    outcome = Outcome(files=len(page.files) + len(page.parts))
    for part in page.parts:
        if part.text not in (ROOT / part.markers.part_of).read_text():
            outcome.failures.append(Failure(part.place, f"the block is not a part of {part.markers.part_of}"))
    programs = [program for program in page.programs if program.slow == slow]
    if not programs:
        return outcome
    with _folder(page) as folder:
        for program in programs:
            missing = [name for name in program.needs if not _is_installed(name)]
            if missing:
                outcome.skipped += [f"{step.block.place}: {', '.join(missing)} is missing" for step in program.steps]
                continue
            outcome.run += len(program.steps)
            outcome.compared += sum(_expected(step) is not None for step in program.steps)
            outcome.failures += _run(program, folder, timeout)
    return outcome


def _is_installed(name: str) -> bool:
    if "/" in name:
        return (ROOT / name).exists()
    if shutil.which(name) is not None:
        return True
    with contextlib.suppress(ModuleNotFoundError):  # a parent package is missing
        return importlib.util.find_spec(name) is not None
    return False


@contextlib.contextmanager
def _folder(page: Page) -> Iterator[pathlib.Path]:
    with tempfile.TemporaryDirectory(prefix="hpu-docs-") as made:
        root = pathlib.Path(made)
        folder = root / "work"
        for directory in (folder, root / "home", root / "bin"):
            directory.mkdir()
        for name, text in _COMMANDS.items():
            (root / "bin" / name).write_text(f"#!/bin/sh\n{text}")
            (root / "bin" / name).chmod(0o755)
        for name in ("examples", "benchmarks", "build"):
            (folder / name).symlink_to(ROOT / name)
        shutil.copy(pathlib.Path(__file__).parent / "programs" / "train.py", folder)
        for block in page.files:
            (folder / block.markers.file).write_text(block.text)
        yield folder


def _run(program: Program, folder: pathlib.Path, timeout: float) -> list[Failure]:
    python = program.language is Language.PYTHON
    # The prefix keeps the page logging.md from replacing the module logging.
    script = folder.parent / f"page_{program.steps[0].block.page.stem}.{'py' if python else 'sh'}"
    script.write_text(_script(program))
    process = start(
        [WARM_PYTHON, str(script)] if python else ["bash", str(script)],
        {
            "HOME": str(folder.parent / "home"),
            "PATH": os.pathsep.join(
                [str(folder.parent / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "HPU_MODULE_LOCK_DIR": str(folder.parent / "locks"),
            "HPU_QUIET": "1",  # the progress of compiles is shown on slow machines only
            "DOCS_PYTHON": WARM_PYTHON,  # start() then starts a warm interpreter for shells
            "PYTHONUNBUFFERED": "1",
        },
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if python else subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return [Failure(program.steps[0].block.place, f"runs for more than {timeout} seconds")]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # also the background processes of a shell
    return _compare(program, printed, errors or "", process.returncode)


def _script(program: Program) -> str:
    """Returns a script with the program's blocks at their lines of the page, each followed by a separator."""
    python = program.language is Language.PYTHON
    lines = [""] * program.steps[-1].block.end
    if not python:
        lines[0] = (
            "set -euo pipefail; trap 'kill $(jobs -p) 2> /dev/null || true' EXIT"  # background jobs hold the output
        )
    for step in program.steps:
        block = step.block
        code = block.text.splitlines()
        if block.language == Language.CONSOLE.value:
            code = [line for line, _ in _console(block)]
        lines[block.line - 1 : block.end - 1] = code
        lines[block.end - 1] = f'print("{_SEPARATOR}", flush=True)' if python else f"echo '{_SEPARATOR}'"
    return "\n".join(lines) + "\n"


def _console(block: Block) -> Iterator[tuple[str, str]]:
    """Yields (command, output) for each line of a console block. One of the two is empty."""
    command = False
    for line in block.text.splitlines():
        command = line.startswith("$ ") or (command and line.endswith("\\"))
        if line.startswith("$ "):
            yield line[2:], ""
        else:
            yield "", line


def _expected(step: Step) -> str | None:
    if step.output is not None:
        return step.output.text
    if step.block.language == Language.CONSOLE.value:
        return "\n".join(output for command, output in _console(step.block) if not command)
    return None


def _compare(program: Program, printed: str, errors: str, code: int) -> list[Failure]:
    *chunks, rest = printed.split(f"{_SEPARATOR}\n")
    failures = []
    for step, actual in zip(program.steps, chunks):
        place = step.block.place
        expected = _expected(step)
        vary = step.block.markers.figures_vary or (step.output is not None and step.output.markers.figures_vary)
        if expected is not None:
            if not outputs.matches(expected, actual, vary):
                failures.append(Failure(place, f"expected:\n{expected}\nprinted:\n{actual}"))
        elif program.language is Language.PYTHON and actual.strip():
            failures.append(Failure(place, f"the page does not show what the block prints:\n{actual}"))
    if len(chunks) < len(program.steps):
        place = program.steps[len(chunks)].block.place
        failures.append(Failure(place, f"ends with exit code {code}:\n{rest}{errors}"))
        failures += [Failure(step.block.place, "is not reached") for step in program.steps[len(chunks) + 1 :]]
    elif code != 0:
        failures.append(Failure(program.steps[-1].block.place, f"ends with exit code {code}:\n{rest}{errors}"))
    return failures
