"""`python -m habana_frameworks.tensorflow.cli.autoload [-m] program …`: loads the HPU, then runs the program."""

from __future__ import annotations

import argparse
import sys

from habana_frameworks.tensorflow.cli import program


def main() -> int:
    """Returns the program's exit code, or 1 if the HPU cannot be loaded."""
    parser = argparse.ArgumentParser(prog="hpu run --autoload", add_help=False)
    program.add_arguments(parser)
    arguments = parser.parse_args()
    if not program.load(parser.prog):
        return 1
    return program.run("hpu run", arguments)


if __name__ == "__main__":
    sys.exit(main())
