"""`hpu cache explain-miss`."""

from __future__ import annotations

import argparse
from typing import Any

from habana_frameworks.tensorflow.cli.cache import common
from habana_frameworks.tensorflow.recipe_store import explain_misses


def add_parsers(subparsers: Any) -> None:
    parser = common.add_command(
        subparsers,
        "explain-miss",
        _explain_miss,
        "Say why a recipe was compiled. Compares it with the nearest one that was there before. Exit code 1: there is "
        "no such recipe.",
    )
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        help="beginning of a key, or part of a cluster's name (default: the latest recipe)",
    )


def _explain_miss(arguments: argparse.Namespace) -> int:
    misses = explain_misses(common.directory_of(arguments), arguments.name)
    if arguments.json:
        common.print_json({"misses": misses})
        return 0 if misses else 1
    for miss in misses:
        against = f"nearest: {common.name_of(miss.nearest)}" if miss.nearest else "no other recipe is near"
        common.print_list(f"{common.name_of(miss.entry)} was compiled; {against}", miss.differences)
    if not misses:
        print("no recipe has this key or cluster name" if arguments.name else "the directory holds no recipe")
    return 0 if misses else 1
