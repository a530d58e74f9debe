"""What the commands of `hpu cache` share."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow.recipe_store import Entry

SHORT_KEY = 12


class UsageError(ValueError):
    """Options that do not say what is needed."""


def add_command(
    subparsers: Any, name: str, run: Callable[[argparse.Namespace], int], text: str, **parser_options: Any
) -> argparse.ArgumentParser:
    """A command with the options that all have."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, help=text.partition(".")[0], description=text, **parser_options
    )
    parser.add_argument("--path", metavar="DIRECTORY", help="the directory (default: TF_RECIPE_CACHE_PATH)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parser.set_defaults(run_cache=run)
    return parser


def directory_of(arguments: argparse.Namespace) -> str:
    """What --path names, or the setting."""
    path = arguments.path or flags.tf_recipe_cache_path()
    if not path:
        raise UsageError("which directory? Set TF_RECIPE_CACHE_PATH or give --path")
    return str(path)


def print_json(value: Any) -> None:
    """Dataclasses become objects."""
    print(json.dumps(value, indent=2, default=dataclasses.asdict))


def name_of(entry: Entry) -> str:
    """Key and cluster, for messages."""
    return f"{entry.key[:SHORT_KEY]} {entry.cluster}".rstrip()


def print_list(heading: str, lines: Sequence[str]) -> None:
    """A heading and what is below it; nothing if that is nothing."""
    if lines:
        print(heading, *lines, sep="\n  ")
