"""`hpu explain`: runs a program and says of every op of its graphs where it is, and why."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import runpy
import sys
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow import errors, library_loader

if TYPE_CHECKING:
    from habana_frameworks.tensorflow.explanation import Explanation

NOTHING_TO_EXPLAIN = 3


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "explain",
        help="run a program and say where its ops are, and why",
        description="Runs a program with the HPU loaded, and tells on stderr which ops of its graphs are on the HPU "
        "and in clusters, and what keeps the others out. The exit code is the program's; 2: wrong usage; 3: the "
        "program ended well, but no graph had an op on the HPU.",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write everything as JSON; - is stdout, and the program's output then goes to stderr",
    )
    parser.add_argument("--html", metavar="FILE", help="write one page with the graphs drawn, for a browser")
    parser.add_argument("script", help="the Python program; options for `hpu explain` come before it")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the program and explains it, however it ends."""
    problem = _problem(arguments)
    if problem:
        print(f"hpu explain: {problem}", file=sys.stderr)
        return 2
    from habana_frameworks.tensorflow.explanation import Collector

    try:
        library_loader.load_habana_module()
    except errors.HabanaModuleError as error:
        print(f"hpu explain: {error}\n(`hpu doctor` says more)", file=sys.stderr)
        return 2
    collector = Collector()
    collector.start()
    with _stdout_to_stderr() if arguments.json == "-" else contextlib.nullcontext():
        code = _run_script(arguments.script, arguments.arguments)
    explanation = collector.stop()
    written = _write(explanation, arguments)
    if code == 0 and not written:
        return 1
    if code == 0 and not explanation.hpu_ops:
        print(
            "hpu explain: no graph had an op on the HPU. Graphs come from tf.function, Keras and Sessions; eager ops "
            "are none.",
            file=sys.stderr,
        )
        return NOTHING_TO_EXPLAIN
    return code


def _problem(arguments: argparse.Namespace) -> str:
    script = pathlib.Path(arguments.script)
    if not script.exists():
        return f"no program at {script}"
    if script.is_dir() and not (script / "__main__.py").is_file():
        return f"{script} is a directory without __main__.py"
    for option in ("json", "html"):
        target = getattr(arguments, option)
        if target in (None, "-"):
            continue
        folder = pathlib.Path(target).absolute().parent
        if not folder.is_dir():
            return f"--{option} {target}: there is no directory {folder}"
    return "--html -: a page goes to a file" if arguments.html == "-" else ""


def _run_script(script: str, arguments: list[str]) -> int:
    """Runs it as `python script arguments` would, in this process; its exit code."""
    before = sys.argv[:], sys.path[:]
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(pathlib.Path(script).resolve().parent))
    try:
        runpy.run_path(script, run_name="__main__")
        return 0
    except SystemExit as end:
        return _exit_code(end.code)
    except KeyboardInterrupt:
        print("hpu explain: interrupted; what ran until now:", file=sys.stderr)
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
def _stdout_to_stderr() -> Iterator[None]:
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


def _write(explanation: Explanation, arguments: argparse.Namespace) -> bool:
    """Everything that was asked for; False if a file could not be written."""
    print(f"\n{explanation.summary()}", end="", file=sys.stderr)
    try:
        if arguments.json == "-":
            print(explanation.to_json())
        elif arguments.json:
            pathlib.Path(arguments.json).write_text(explanation.to_json(), encoding="utf-8")
        if arguments.html:
            explanation.to_html(arguments.html)
            print(f"The graphs are drawn in {arguments.html}.", file=sys.stderr)
    except OSError as error:
        print(f"hpu explain: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return False
    return True
