"""Runs the user's program in this process, for commands that observe it."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
import runpy
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from habana_frameworks.tensorflow import errors, library_loader
from habana_frameworks.tensorflow._internal import patches

_PATCHES = str(pathlib.Path(patches.__file__).parent)


class Stop(BaseException):
    """Exception that ends the user's program with exit code 0."""


class _ProgramArguments(argparse.Action):
    """Stores the program's arguments, and in `misplaced` the options of the command among them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        words = [str(value) for value in values or ()]
        options = {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}
        named = dict.fromkeys(word.partition("=")[0] for word in words)
        namespace.arguments = words
        namespace.misplaced = [name for name in named if name in options]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds -m, the program and its arguments, after the command's own options."""
    parser.add_argument(
        "-m", "--module", action="store_true", help="run the program as a Python module, like python -m"
    )
    parser.add_argument("script", help=f"the Python program; options for `{parser.prog}` come before it")
    own = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, action=_ProgramArguments, help="the program's own arguments"
    )
    own.required = False


def accepts(command: str, arguments: argparse.Namespace, problem: str = "") -> bool:
    """Whether the program of `arguments` can be run and the command has found no `problem` of its own.

    If not, prints the reason as `command`. If the program can be run, also prints a note about options of `command`
    that follow the program: they may be the cause of the problem.
    """
    unusable = _problem(arguments)
    if not unusable:
        _report_misplaced(command, arguments)
    if unusable or problem:
        print(f"{command}: {unusable or problem}", file=sys.stderr)
    return not (unusable or problem)


def _report_misplaced(command: str, arguments: argparse.Namespace) -> None:
    """Prints a note about options of `command` that follow the program, unless the program's text names them."""
    script = pathlib.Path(arguments.script)
    text = script.read_text(encoding="utf-8", errors="replace") if script.is_file() else ""
    found = [name for name in arguments.misplaced if not re.search(rf"""['"]-*{name.lstrip("-")}['"]""", text)]
    if found:
        print(
            f"{command}: {', '.join(found)} after {script.name} goes to the program: put options of `{command}` before "
            "the program",
            file=sys.stderr,
        )


def _problem(arguments: argparse.Namespace) -> str:
    """Returns the reason why the program of `arguments` cannot be run; empty if it can, or if it is a module."""
    if arguments.module:
        return ""
    script = pathlib.Path(arguments.script)
    if re.fullmatch(r"python[0-9.]*", script.name) and shutil.which(arguments.script):
        return f"{script} is an interpreter, which this command starts itself: leave {script} out"
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
        hint = "" if "`hpu doctor`" in str(error) else "\n(run `hpu doctor` for details)"
        print(f"{command}: {error}{hint}", file=sys.stderr)
        return False
    return True


def run(command: str, arguments: argparse.Namespace, on_error: Callable[[BaseException], None] | None = None) -> int:
    """Runs the program of `arguments` in this process like `python [-m] …`, and returns its exit code.

    command: name of the command in the message about an interrupt. on_error: is called with the exception that ended
    the program, except SystemExit and KeyboardInterrupt.
    """
    before = sys.argv[:], sys.path[:]
    script, is_module = arguments.script, arguments.module
    command_file = sys.argv[0]
    sys.argv = [script, *arguments.arguments]
    try:
        with _without_frames_of_commands(command_file):
            if is_module:
                sys.path.insert(0, os.getcwd())  # noqa: PTH109
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
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_left_out(frame.filename)]
        if is_module and not own and isinstance(error, ImportError):
            print(f"{command}: {error}", file=sys.stderr)  # from runpy: there is no such module
            return 1
        trace = ["Traceback (most recent call last):\n", *traceback.format_list(own)]
        print("".join([*trace, *traceback.format_exception_only(type(error), error)]), end="", file=sys.stderr)
        return 1
    finally:
        sys.stdout.flush()
        sys.argv, sys.path = before


def _without_frames_of_commands(command_file: str) -> contextlib.AbstractContextManager[Any]:
    """Leaves this package's commands out of the stacks that TensorFlow stores with ops and shows in errors.

    command_file: file of the command `hpu`.
    """
    from tensorflow.python.util import tf_stack

    class CommandFilter(tf_stack.StackTraceFilter):  # type: ignore[misc]
        def get_filtered_filenames(self) -> frozenset[str]:
            commands = {str(path) for path in pathlib.Path(__file__).parent.rglob("*.py")}
            return frozenset({command_file, runpy.__file__, "<frozen runpy>", *commands})

    return CommandFilter()  # type: ignore[no-any-return]


def _is_left_out(filename: str) -> bool:
    """Whether a file's frames are left out of tracebacks: this module, runpy, and wrappers of TensorFlow's calls."""
    if filename in (__file__, runpy.__file__) or filename.startswith("<frozen runpy"):
        return True
    return str(pathlib.Path(filename).parent) == _PATCHES


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
