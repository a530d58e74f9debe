"""`python -m habana_frameworks.tensorflow.cli.autoload [-m] program …`: loads the HPU, then runs the program."""

from __future__ import annotations

import sys

from habana_frameworks.tensorflow.cli import program


def main() -> int:
    """Returns the program's exit code, or 1 if the HPU cannot be loaded."""
    arguments = sys.argv[1:]
    is_module = arguments[:1] == ["-m"]
    name, *rest = arguments[is_module:]
    if not program.load("hpu run --autoload"):
        return 1
    return program.run(name, rest, "hpu run", is_module)


if __name__ == "__main__":
    sys.exit(main())
