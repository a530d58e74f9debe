"""`hpu cache export` and `import`."""

from __future__ import annotations

import argparse
from typing import Any

from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow.cli import numbers
from habana_frameworks.tensorflow.cli.cache import common
from habana_frameworks.tensorflow.recipe_store import SigningKey, export_bundle, import_bundle

_DEFAULT_MAX_MB = 4096


def add_parsers(subparsers: Any) -> None:
    export = common.add_command(
        subparsers,
        "export",
        _export,
        "Write all recipes to one signed file, for another machine. Exit code 1: damaged recipes were left out.",
    )
    read = common.add_command(
        subparsers,
        "import",
        _import,
        "Import the recipes of a bundle that fit this installation and machine. Exit code 1: some do not fit; 2: the "
        "bundle is refused, and nothing was imported.",
    )
    for parser in (export, read):
        parser.add_argument(
            "--key", required=True, metavar="FILE", help="secret key: 32 bytes or more, in a file of mode 0600"
        )
        parser.add_argument("bundle", help="bundle file")
    read.add_argument(
        "--max-mb",
        type=numbers.integer(1, numbers.MAX_MB),
        default=_DEFAULT_MAX_MB,
        help=f"refuse bundles larger than this, in MiB (default: {_DEFAULT_MAX_MB})",
    )


def _export(arguments: argparse.Namespace) -> int:
    done = export_bundle(common.directory_of(arguments), arguments.bundle, SigningKey(arguments.key))
    if arguments.json:
        common.print_json(done)
    else:
        total = text.size(sum(entry.bytes for entry in done.entries))
        print(f"{text.number(len(done.entries), 'recipe')} ({total}) written to {arguments.bundle}")
        common.print_list("Left out:", [f"{common.name_of(entry)}: {entry.problem}" for entry in done.skipped])
    return 1 if done.skipped else 0


def _import(arguments: argparse.Namespace) -> int:
    path, key = common.directory_of(arguments), SigningKey(arguments.key)
    done = import_bundle(path, arguments.bundle, key, arguments.max_mb << 20)
    if arguments.json:
        common.print_json(done)
    else:
        print(f"{text.number(len(done.entries), 'recipe')} imported into {path}")
        refused = [f"{entry[: common.SHORT_KEY]}: {'; '.join(reasons)}" for entry, reasons in done.refused.items()]
        common.print_list("Not imported, because no program can load them on this machine:", refused)
        needed = {", ".join(settings) for settings in done.conditions.values()}
        common.print_list("Used only by programs that set:", sorted(needed))
    return 1 if done.refused else 0
