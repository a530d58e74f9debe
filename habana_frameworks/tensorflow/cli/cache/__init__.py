"""`hpu cache`: inspects and maintains a directory of recipes. Each module implements some of the commands."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow.cli.cache import bundles, cleaning, listing, misses, remote
from habana_frameworks.tensorflow.cli.cache.common import UsageError
from habana_frameworks.tensorflow.recipe_store import BundleError, KeyFileError, StoreError
from habana_frameworks.tensorflow.recipe_store.remote import RemoteError


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "cache",
        help="recipes on disk: ls, stat, verify, gc, clear, export, import, remote, explain-miss",
        description="Manages a directory of recipes, by default TF_RECIPE_CACHE_PATH. Needs no device, and may run "
        "while programs use the directory. Exit code 0: success; 1: partial success or a failed check (see the "
        "command's --help); 2: wrong usage, or the directory, key or bundle cannot be used.",
    )
    commands = parser.add_subparsers(dest="cache_command", metavar="COMMAND", required=True)
    for module in (listing, cleaning, bundles, remote, misses):
        module.add_parsers(commands)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs one of the commands. Prints errors to stderr."""
    try:
        plugin_library.load_alone()
        return int(arguments.run_cache(arguments))
    except (
        UsageError,
        StoreError,
        KeyFileError,
        BundleError,
        RemoteError,
        OSError,
        errors.HabanaModuleError,
    ) as error:
        if isinstance(error, BrokenPipeError):
            raise
        print(f"hpu cache {arguments.cache_command}: {error}", file=sys.stderr)
        return 2
