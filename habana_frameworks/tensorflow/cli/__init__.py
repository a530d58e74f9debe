"""The command `hpu`. Each subcommand is a module of this package with `add_parser` and `run`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.cli import (
    cache,
    compile_check,
    doctor,
    explain,
    run,
    serve,
    smi,
    synapse_check,
    warmup,
)

COMMANDS = (doctor, explain, cache, warmup, compile_check, synapse_check, serve, smi, run)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one subcommand and returns its exit code, which the subcommand's --help explains."""
    parser = argparse.ArgumentParser(prog="hpu", description="Command-line tools of hpu-tensorflow.")
    parser.add_argument("--version", action="version", version=f"hpu-tensorflow {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(subparsers)
    parsed = parser.parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except BrokenPipeError:
        # The reader of the pipe (`| head`) has exited. Closing stderr suppresses the error message at exit.
        sys.stderr.close()
        return 0
