"""Runs the code blocks of pages: `python -m tests.docs docs/user/smi.md`.

Exit code 0: all blocks run and print what the pages show; 1: a block fails; 2: wrong usage or a wrong marker.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import pathlib
import sys

from tests.docs import blocks, runner
from tests.docs.markers import MarkerError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.docs", description=__doc__)
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="pages; all pages by default")
    parser.add_argument("--slow", action="store_true", help="run the slow blocks instead of the others")
    parser.add_argument("--count", action="store_true", help="run nothing, count the blocks")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    try:
        pages = [blocks.read(path.resolve()) for path in arguments.pages or blocks.pages()]
    except (MarkerError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    total = runner.Outcome()
    for page in () if arguments.count else pages:
        outcome = runner.run_page(page, arguments.slow)
        total.add(outcome)
        if not arguments.json:
            for failure in outcome.failures:
                print(failure)
    reasons = collections.Counter(block.markers.not_run for page in pages for block in page.not_run)
    counts = {
        "quick": sum(len(program.steps) for page in pages for program in page.programs if not program.slow),
        "slow": sum(len(program.steps) for page in pages for program in page.programs if program.slow),
        "not_run": sum(reasons.values()),
    }
    if arguments.json:
        print(json.dumps({"counts": counts, "reasons": reasons, "outcome": dataclasses.asdict(total)}, indent=2))
    else:
        print(f"{total.run} blocks run, {total.compared} outputs compared, {len(total.failures)} failed")
        print(f"{counts['quick']} quick, {counts['slow']} slow, {counts['not_run']} not run:")
        for reason, number in reasons.most_common():
            print(f"  {number:3} {reason}")
        for skipped in total.skipped:
            print(f"skipped: {skipped}")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
