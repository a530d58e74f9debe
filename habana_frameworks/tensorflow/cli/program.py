"""Runs the user's program in this process, for commands that observe it."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator

from habana_frameworks.tensorflow import errors, library_loader


class Stop(BaseException):
    """Exception that ends the user's program with exit code 0."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the program and its arguments, after the command's own options."""
    parser.add_argument("script", help=f"the Python program; options for `{parser.prog}` come before it")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def problem(name: str) -> str:
    """Returns the reason why `name` cannot be run as a program; empty if it can."""
    script = pathlib.Path(name)
    if not script.exists():
        return f"no program at {script}: correct the path"
    if script.is_dir() and not (script / "__main__.py").is_file():
        return f"{script} is a directory without __main__.py: pass a Python file"
    return ""


def load(command: str) -> bool:
    """Loads the HPU before the program starts. On failure prints an error as `command` and returns False."""
    try:
        library_loader.load_habana_module()
    except errors.HabanaModuleError as error:
        print(f"{command}: {error}\n(run `hpu doctor` for details)", file=sys.stderr)
        return False
    return True


def run(
    script: str,
    arguments: list[str],
    command: str,
    is_module: bool = False,
    on_error: Callable[[BaseException], None] | None = None,
) -> int:
    """Runs the program in this process like `python [-m] script arguments`, and returns its exit code.

    command: name of the command in the message about an interrupt. on_error: is called with the exception that ended
    the program, except SystemExit and KeyboardInterrupt.
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
        print(f"{command}: interrupted; results so far:", file=sys.stderr)
        return 130
    except BaseException as error:
        if on_error is not None:
            on_error(error)
        # Omits the frames of this module and of runpy from the traceback.
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
    """Converts the argument of sys.exit() to an exit code, like the interpreter."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


@contextlib.contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Redirects file descriptor 1 to stderr, which also redirects native code and child processes."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
