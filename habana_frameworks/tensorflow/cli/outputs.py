"""Files that commands write about a program: JSON and an HTML page."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Callable


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds --json. what: content of the file, for the help."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help=f"write {what} as JSON; - means stdout, and the program's output then goes to stderr",
    )


def problem(json_file: str | None, page_file: str | None) -> str:
    """Returns the reason why the requested files cannot be written; empty if they can. None: not requested."""
    if page_file == "-":
        return "--html cannot write to stdout: pass a file name"
    for option, file in (("--json", json_file), ("--html", page_file)):
        if file is None or file == "-":
            continue
        folder = pathlib.Path(file).absolute().parent
        if not folder.is_dir():
            return f"{option} {file}: there is no directory {folder}; create it first"
    return ""


def write(
    command: str,
    json_file: str | None,
    to_json: Callable[[], str],
    page_file: str | None,
    to_page: Callable[[str], object],
    content: str = "Page",
) -> bool:
    """Writes the requested files. On failure prints an error as `command` and returns False.

    to_page: writes the page to a file. content: name of the page in the message that it is written.
    """
    try:
        if json_file == "-":
            print(to_json())
        elif json_file:
            pathlib.Path(json_file).write_text(to_json(), encoding="utf-8")
        if page_file:
            to_page(page_file)
            print(f"{content} written to {page_file}.", file=sys.stderr)
    except OSError as error:
        print(f"{command}: cannot write {error.filename}: {error.strerror}; pass another path", file=sys.stderr)
        return False
    return True
