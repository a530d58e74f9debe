"""The user's program, run in this process by commands that tell something about it."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import runpy
import sys
import traceback
from collections.abc import Iterator

from habana_frameworks.tensorflow import errors, library_loader


class Stop(BaseException):
    """Raised in a program to end it: its exit code is then 0."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The program and its arguments, after the command's own options."""
    parser.add_argument("script", help=f"the Python program; options for `{parser.prog}` come before it")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def problem(name: str) -> str:
    """Why there is no program of this name; empty if there is."""
    script = pathlib.Path(name)
    if not script.exists():
        return f"no program at {script}"
    if script.is_dir() and not (script / "__main__.py").is_file():
        return f"{script} is a directory without __main__.py"
    return ""


def load(command: str) -> bool:
    """Loads the HPU before the program begins; where that fails, says why in the command's name."""
    try:
        library_loader.load_habana_module()
    except errors.HabanaModuleError as error:
        print(f"{command}: {error}\n(`hpu doctor` says more)", file=sys.stderr)
        return False
    return True


def run(script: str, arguments: list[str], command: str, is_module: bool = False) -> int:
    """Runs it as `python script arguments`, or `python -m script arguments`, would, in this process; its exit code.

    `command` says so if interrupted.
    """
    before = sys.argv[:], sys.path[:]
    sys.argv = [script, *arguments]
    try:
        if is_module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(pathlib.Path(script).resolve().parent))
            runpy.run_path(script, run_name="__main__")
        return 0
    except SystemExit as end:
        return _exit_code(end.code)
    except Stop:
        return 0
    except KeyboardInterrupt:
        print(f"{command}: interrupted; what ran until now:", file=sys.stderr)
        return 130
    except BaseException as error:
        # From the program's own first line on: what runs it is of no interest.
        own = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename not in (__file__, runpy.__file__)
        ]
        own = [frame for frame in own if not frame.filename.startswith("<frozen runpy")]
        print("Traceback (most recent call last):", *traceback.format_list(own), sep="\n", end="", file=sys.stderr)
        print("".join(traceback.format_exception_only(type(error), error)), end="", file=sys.stderr)
        return 1
    finally:
        sys.stdout.flush()
        sys.argv, sys.path = before


def _exit_code(value: object) -> int:
    """As the interpreter takes sys.exit()'s argument."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


@contextlib.contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """For the whole process: native code and child processes write to the descriptor."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
