"""`hpu cache ls`, `stat` and `verify`."""

from __future__ import annotations

import argparse
import time
from typing import Any

from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow.cli.cache import common
from habana_frameworks.tensorflow.recipe_store import Entry, Installation, list_entries, misfits

_ORDERS = ("used", "created", "bytes", "compile_seconds", "cluster")


def add_parsers(subparsers: Any) -> None:
    ls = common.add_command(
        subparsers,
        "ls",
        _ls,
        "List the recipes, one per line: cluster, instructions, bytes, age, time since last use, compile time, "
        "backend, key.",
    )
    ls.add_argument("--sort", choices=_ORDERS, default="used", help="sort key, largest or latest first (default: used)")
    ls.add_argument("name", nargs="?", default="", help="only clusters whose name contains this")
    common.add_command(
        subparsers, "stat", _stat, "Show the number and size of the recipes, and how many fit this installation."
    )
    common.add_command(
        subparsers,
        "verify",
        _verify,
        "Read and check every recipe, like a program that loads it. Exit code 1: at least one would be refused.",
    )


def _ls(arguments: argparse.Namespace) -> int:
    entries = [e for e in list_entries(common.directory_of(arguments)).entries if arguments.name in e.cluster]
    entries.sort(key=lambda entry: getattr(entry, arguments.sort), reverse=arguments.sort != "cluster")
    if arguments.json:
        common.print_json({"entries": entries})
        return 0
    now = time.time()
    rows = [_row(entry, now) for entry in entries]
    heads = ["cluster", "ops", "bytes", "age", "used", "compile", "backend", "key"]
    print(*text.table(heads, rows), sep="\n")
    return 0


def _row(entry: Entry, now: float) -> list[str]:
    key = entry.key[: common.SHORT_KEY]
    if entry.problem:
        return [f"unusable: {entry.problem}", "", text.size(entry.bytes), "", "", "", "", key]
    return [
        text.shortened(entry.cluster, 48),
        str(entry.ops),
        text.size(entry.bytes),
        text.duration(now - entry.created),
        text.duration(now - entry.used),
        f"{entry.compile_seconds:.2f} s",
        entry.backend,
        key,
    ]


def _stat(arguments: argparse.Namespace) -> int:
    listing = list_entries(common.directory_of(arguments))
    here = Installation.here()
    sound = listing.sound
    seconds = sum(entry.compile_seconds for entry in sound)
    totals = {
        "entries": len(listing.entries),
        "bytes": sum(entry.bytes for entry in listing.entries),
        "unusable": len(listing.entries) - len(sound),
        "fitting": sum(not misfits(entry, here) for entry in sound),
        "damaged": len(listing.damaged),
        "pending": len(listing.pending),
    }
    if arguments.json:
        common.print_json({**totals, "compile_seconds": seconds})
        return 0
    print(
        f"{text.number(totals['entries'], 'recipe')}, {text.size(totals['bytes'])}, "
        f"which took {seconds:.1f} s to compile",
        f"{totals['fitting']} fit this installation and machine, {totals['unusable']} would be refused",
        f"{text.number(totals['damaged'], 'damaged file')} set aside, "
        f"{text.number(totals['pending'], 'lock or temporary file')}",
        sep="\n",
    )
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    listing = list_entries(common.directory_of(arguments))
    refused = [entry for entry in listing.entries if entry.problem]
    if arguments.json:
        common.print_json({"entries": len(listing.entries), "refused": {e.key: e.problem for e in refused}})
        return 1 if refused else 0
    common.print_list("Recipes that would not be loaded:", [f"{entry.key}: {entry.problem}" for entry in refused])
    print(f"{len(listing.sound)} of {text.number(len(listing.entries), 'recipe')} verified")
    return 1 if refused else 0
