"""Prints the ops that differ from the CPU for special values that coincide: `python -m tests.ops.pairs_program Pow`."""

from __future__ import annotations

import argparse
import os
import re
import sys

from habana_frameworks.tensorflow import load_habana_module
from tests.ops.sweep import pairs


def _grouped(grid: pairs.Grid) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Returns modes and calls by the elements that differ in them, without known differences."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for difference in pairs.differences(grid):
        texts = difference.places or [difference.detail]
        if all(any(entry.fits(grid, text) for entry in pairs.known()) for text in texts):
            continue
        where = f"{difference.mode.value} call {difference.call}"
        found.setdefault((difference.detail, tuple(difference.places)), []).append(where)
    return found


def main() -> int:
    """Prints the differences of the ops that match."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="?", default=".*", metavar="REGEX", help="ops whose whole name matches")
    parser.add_argument("--types", default=",".join(pairs.TYPES), help="types of the operands, separated by commas")
    arguments = parser.parse_args()
    os.environ["HPU_MIN_CLUSTER_SIZE"] = "1"
    load_habana_module()
    counts = {"ops": 0, "grids": 0, "elements": 0, "differences": 0}
    for op in pairs.ops():
        if re.fullmatch(arguments.ops, op) is None:
            continue
        found = list(pairs.grids(op, arguments.types.split(",")))
        counts["ops"] += bool(found)
        for grid in found:
            counts["grids"] += 1
            counts["elements"] += next(iter(grid.elements.values())).size
            for (detail, places), where in _grouped(grid).items():
                counts["differences"] += 1
                print(f"{grid.name}: {detail}\n    {', '.join(where)}", *places[1:6], sep="\n    ", flush=True)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
