"""The command `hpu`. Each subcommand is a module of this package with `add_parser` and `run`."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
from collections.abc import Sequence

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import gaudi_cards
from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.cli import (
    cache,
    check,
    compile_check,
    doctor,
    explain,
    ops,
    report,
    run,
    serve,
    smi,
    synapse_check,
    warmup,
)
from habana_frameworks.tensorflow.cli.parser import Parser

COMMANDS = (doctor, explain, report, check, ops, cache, warmup, compile_check, synapse_check, serve, smi, run)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one subcommand and returns its exit code, which the subcommand's --help explains.

    `hpu help [COMMAND]` is `hpu [COMMAND] --help`.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    parser = Parser(prog="hpu", description="Command-line tools of hpu-tensorflow.")
    parser.add_argument("--version", action="version", version=f"hpu-tensorflow {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    parsed = parser.parse_args(arguments)
    if parsed.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        return int(parsed.run(parsed))
    except BrokenPipeError:
        # The reader of the pipe (`| head`) has exited. Closing stderr suppresses the error message at exit.
        sys.stderr.close()
        return 0


def hl_smi() -> int:
    """The command `hl-smi`: `hpu smi` under the name that Gaudi's launch scripts call.

    If HPU_BACKEND selects a Gaudi card, runs Gaudi's own hl-smi if that is on PATH.
    """
    own = pathlib.Path(sys.argv[0]).resolve().parent
    folders = [folder for folder in os.get_exec_path() if pathlib.Path(folder).resolve() != own]
    gaudis = shutil.which("hl-smi", path=os.pathsep.join(folders))
    if gaudis is not None and gaudi_cards.is_selected(flags.backend()):
        os.execv(gaudis, [gaudis, *sys.argv[1:]])
    return main(["smi", *sys.argv[1:]])
