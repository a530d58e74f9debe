"""`hpu cache gc` and `clear`."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow.cli import numbers
from habana_frameworks.tensorflow.cli.cache import common
from habana_frameworks.tensorflow.recipe_store import Cleaned, clean, list_entries

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_parsers(subparsers: Any) -> None:
    gc = common.add_command(
        subparsers,
        "gc",
        _gc,
        "Remove leftovers, damaged files, and recipes by size and age. Starts with the least recently used recipes, "
        "and keeps recipes that a program is reading. Exit code 1: some recipes could not be removed.",
    )
    gc.add_argument(
        "--max-mb",
        type=numbers.integer(0, numbers.MAX_MB),
        metavar="N",
        help="remove recipes until the rest fit in N MiB (default: HPU_RECIPE_CACHE_MAX_MB)",
    )
    gc.add_argument(
        "--max-age", type=_seconds, metavar="AGE", help="remove recipes unused for this long: 90s, 30m, 12h, 30d"
    )
    clear = common.add_command(
        subparsers,
        "clear",
        _clear,
        "Remove all recipes, after confirmation. Exit code 1: some recipes remain, or the answer was no.",
    )
    clear.add_argument("--yes", action="store_true", help="remove without asking")


def _seconds(text: str) -> int:
    match = re.fullmatch(r"(\d{1,9})([smhd])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration: pass a number with s, m, h or d, such as 30d")
    return int(match[1]) * _UNITS[match[2]]


def _gc(arguments: argparse.Namespace) -> int:
    limit_mb = arguments.max_mb
    if limit_mb is None and flags.recipe_cache_max_mb() > 0:
        limit_mb = min(flags.recipe_cache_max_mb(), numbers.MAX_MB)
    max_bytes = None if limit_mb is None else limit_mb << 20
    return _report(clean(common.directory_of(arguments), max_bytes, arguments.max_age), arguments)


def _clear(arguments: argparse.Namespace) -> int:
    path = common.directory_of(arguments)
    if not arguments.yes:
        count = len(list_entries(path).entries)
        if not sys.stdin.isatty():
            raise common.UsageError(
                f"cannot ask before removing {text.number(count, 'recipe')} from {path}, because standard input is not "
                "a terminal: pass --yes to confirm"
            )
        answer = input(f"Remove {text.number(count, 'recipe')} from {path}? [y/N] ")
        if answer.strip().lower() not in ("y", "yes"):
            return 1
    return _report(clean(path, max_bytes=0, max_unused_seconds=0), arguments)


def _report(done: Cleaned, arguments: argparse.Namespace) -> int:
    stayed = done.busy or done.in_use > 0
    if arguments.json:
        common.print_json(done)
        return 1 if stayed else 0
    print(
        f"removed {text.number(done.entries, 'recipe')} ({text.size(done.bytes)}), "
        f"{text.number(done.damaged, 'damaged file')}, {text.number(done.leftovers, 'leftover')}"
    )
    if done.in_use:
        print(f"{text.number(done.in_use, 'recipe')} kept, because programs are reading them; try again")
    if done.busy:
        print("another process is removing recipes; try again")
    return 1 if stayed else 0
