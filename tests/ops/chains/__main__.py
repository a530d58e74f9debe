"""Runs random programs on HPU and CPU: `python -m tests.ops.chains --count 1000 --seed 1`.

Exit code: 0; 1 if a result differs; 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import sys
import time

from tests.ops.chains.known import KNOWN
from tests.ops.chains.pool import Outcome, examine_all, examine_alone
from tests.ops.chains.shrink import shrink


def _show(outcome: Outcome) -> None:
    print(f"seed {outcome.seed} ({outcome.mode}): {outcome.difference or 'same'}")
    if not outcome.alone:
        print("  only after other programs")
    if outcome.dropped:
        print(f"  --dropped {','.join(map(str, outcome.dropped))}")
    print("  " + " ".join(f"{name}={value}" for name, value in outcome.settings.items()))
    print("".join(f"    {line}\n" for line in outcome.listing), flush=True)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> int:
    """Runs the programs and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=1, help="number of programs, with consecutive seeds from --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dropped", type=_numbers, default=[], metavar="N,…", help="numbers of steps to omit")
    parser.add_argument("--without", default=",".join(KNOWN), metavar="KIND,…", help="kinds of steps to omit")
    parser.add_argument("--shrink", action="store_true", help="remove steps while the difference persists")
    parser.add_argument("--json", action="store_true", help="print JSON lines: one per difference, and the totals")
    arguments = parser.parse_args()
    without = [kind for kind in arguments.without.split(",") if kind]
    if arguments.dropped:
        outcomes = iter([examine_alone(arguments.seed, arguments.dropped, without)])
    else:
        outcomes = examine_all(range(arguments.seed, arguments.seed + arguments.count), without)
    begun, seen, modes = time.monotonic(), 0, collections.Counter[str]()
    seconds: dict[str, float] = collections.defaultdict(float)
    different = errors = 0
    for outcome in outcomes:
        seen += 1
        modes[outcome.mode] += 1
        seconds[outcome.mode] += outcome.seconds
        errors += bool(outcome.error)
        if not outcome.difference and arguments.count > 1:
            continue
        different += bool(outcome.difference)
        if arguments.shrink and outcome.difference and outcome.alone:
            outcome = shrink(outcome, without)
        if arguments.json:
            print(json.dumps(dataclasses.asdict(outcome)), flush=True)
        else:
            _show(outcome)
    numbers = {
        "programs": seen,
        "different": different,
        "with_an_error": errors,
        "seconds": round(time.monotonic() - begun, 1),
        "modes": dict(modes),
        "seconds_by_mode": {mode: round(total, 1) for mode, total in seconds.items()},
    }
    print(json.dumps(numbers))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
