"""Directory of recipes that a command uses: --path, or else TF_RECIPE_CACHE_PATH."""

from __future__ import annotations

import argparse

from habana_frameworks.tensorflow import flags

MISSING = "no cache directory: set TF_RECIPE_CACHE_PATH or pass --path"
"""Problem of a command for which of() is empty."""


def add_path(parser: argparse.ArgumentParser) -> None:
    """Adds --path."""
    parser.add_argument("--path", metavar="DIRECTORY", help="recipe directory (default: TF_RECIPE_CACHE_PATH)")


def of(arguments: argparse.Namespace) -> str:
    """Returns the directory; empty if neither --path nor the setting is set."""
    return arguments.path or flags.tf_recipe_cache_path()
