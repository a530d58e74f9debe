"""`hpu cache explain-miss`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow.cli.cache import common
from habana_frameworks.tensorflow.recipe_store import Miss, explain_misses
from habana_frameworks.tensorflow.recipe_store.remote import RemoteCache, RemoteError, RemoteSettings, sharing


def add_parsers(subparsers: Any) -> None:
    parser = common.add_command(
        subparsers,
        "explain-miss",
        _explain_miss,
        "Show why a recipe was compiled: how it differs from the most similar older recipe. Exit code 1: there is no "
        "such recipe.",
    )
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        help="prefix of a key, or part of a cluster's name (default: the latest recipe)",
    )


def _explain_miss(arguments: argparse.Namespace) -> int:
    misses = explain_misses(common.directory_of(arguments), arguments.name)
    remote = _find_in_remote(misses)
    if arguments.json:
        common.print_json({"misses": misses, "remote": remote})
        return 0 if misses else 1
    for miss in misses:
        against = f"nearest: {common.name_of(miss.nearest)}" if miss.nearest else "no similar recipe exists"
        found = [f"in the remote cache: {remote[miss.entry.key]}"] if miss.entry.key in remote else []
        common.print_list(f"{common.name_of(miss.entry)} was compiled; {against}", [*miss.differences, *found])
    if not misses:
        directory = common.directory_of(arguments)
        matching = f' match "{arguments.name}" (start of a key, or part of a cluster name)' if arguments.name else ""
        print(f"no recipes in {directory}{matching}")
    return 0 if misses else 1


def _find_in_remote(misses: Sequence[Miss]) -> dict[str, str]:
    """Maps each key to whether the remote cache has it: "yes" or "no". Empty if no remote cache is configured.

    If the query fails, maps only the first key, to the error.
    """
    if not misses or not flags.recipe_cache_remote():
        return {}
    try:
        settings = RemoteSettings.from_environment()
        cache = RemoteCache(settings)
        keys = [miss.entry.key for miss in misses]
        return {key: "yes" if sharing.holds(cache, key, settings) else "no" for key in keys}
    except RemoteError as error:
        return {misses[0].entry.key: f"unknown, the query failed: {error}"}
