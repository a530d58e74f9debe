"""Shared parts of the commands of `hpu cache`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from habana_frameworks.tensorflow.cli import recipe_directory
from habana_frameworks.tensorflow.recipe_store import Entry

SHORT_KEY = 12


class UsageError(ValueError):
    """A required option is missing."""


def add_command(
    subparsers: Any, name: str, run: Callable[[argparse.Namespace], int], text: str, **parser_options: Any
) -> argparse.ArgumentParser:
    """Adds a command with the common options."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, help=text.partition(".")[0], description=text, **parser_options
    )
    recipe_directory.add_path(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run_cache=run)
    return parser


def directory_of(arguments: argparse.Namespace) -> str:
    """Returns --path, or else TF_RECIPE_CACHE_PATH. Raises UsageError if neither is set."""
    path = recipe_directory.of(arguments)
    if not path:
        name = getattr(arguments, "name", "")
        if name and pathlib.Path(name).is_dir():
            raise UsageError(f"{name} is a directory, not part of a cluster's name: pass --path {name}")
        raise UsageError(recipe_directory.MISSING)
    return path


def print_json(value: Any) -> None:
    """Prints a value as JSON. Dataclasses become objects."""
    print(json.dumps(value, indent=2, default=dataclasses.asdict))


def name_of(entry: Entry) -> str:
    """Short key and cluster name, for messages."""
    return f"{entry.key[:SHORT_KEY]} {entry.cluster}".rstrip()


def print_list(heading: str, lines: Sequence[str]) -> None:
    """Prints a heading and indented lines; prints nothing if `lines` is empty."""
    if lines:
        print(heading, *lines, sep="\n  ")
