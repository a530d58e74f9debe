"""Runs random programs whose sizes change from call to call: on the HPU, results must equal the CPU's.

`python -m tests.ops.sweep.random_sizes --count 2000 --seed 1`. `--only SEED` prints one program.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import itertools
import json
import sys
import time
from collections.abc import Iterable, Iterator

from tests.ops.sweep import random_program
from tests.ops.sweep.records import RandomRun
from tests.ops.sweep.workers import Worker, WorkerEndedError

# Seeds of programs that differ, with the reason.
KNOWN: dict[int, str] = {
    7433: "TensorFlow's CPU kernel gives an empty convolution the wrong shape",
    7447: "sorts with NaN: XLA takes NaN for the largest number, the CPU kernel has no fixed place for it",
}
_PROGRAMS_OF_A_WORKER = 60  # afterwards a new worker starts, because recipes have filled the memory


@dataclasses.dataclass(frozen=True)
class Result:
    """A program's run, and whether its difference also shows with a recipe for each size."""

    run: RandomRun
    refusals: tuple[str, ...] = ()
    static: str = ""

    @property
    def difference(self) -> str:
        return self.run.difference


def run_all(seeds: Iterable[int], explain: bool = True) -> Iterator[Result]:
    """Yields the results. explain: runs programs that differ again with a recipe for each size."""
    bounded, static = Worker("random"), Worker("static")
    try:
        for number, seed in enumerate(seeds, 1):
            result = Result(_run(bounded, seed), tuple(bounded.refusals()))
            if result.difference and explain:
                result = dataclasses.replace(result, static=_run(static, seed).difference)
            yield result
            if number % _PROGRAMS_OF_A_WORKER == 0:
                bounded.end()
    finally:
        bounded.close()
        static.close()


def _run(worker: Worker, seed: int) -> RandomRun:
    """Runs a program. A crash, a contained crash and a hang are differences."""
    last: int | RandomRun = 0  # number of a call, or the result
    try:
        for reply in worker.ask("random sizes", seed):
            last = reply
    except WorkerEndedError as error:
        program = random_program.generate(seed)
        assert isinstance(last, int)
        return RandomRun(seed, f"call {last}, {program.sizes[last]}: {error}", listing=tuple(program.listing()))
    assert isinstance(last, RandomRun)
    crashes = worker.contained_crashes(keep=True)
    return dataclasses.replace(last, difference=crashes[0]) if crashes else last


def _show(result: Result) -> None:
    run = result.run
    sys.stdout.write(f"seed {run.seed}: {run.difference or 'same'}\n")
    if run.difference:
        sys.stdout.write(f"  with a recipe for each size: {result.static or 'same'}\n")
    if run.seed in KNOWN:
        sys.stdout.write(f"  known: {KNOWN[run.seed]}\n")
    for refusal in result.refusals:
        sys.stdout.write(f"  refused: {refusal[:300]}\n")
    sys.stdout.write("".join(f"    {line}\n" for line in run.listing))
    sys.stdout.write(f"    # {' '.join(f'{s.n},{s.m},{s.k}' for s in random_program.generate(run.seed).sizes)}\n")


def main() -> int:
    """Prints the programs that differ, and the totals. Exit code: 1 if a program differs that is not known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100, metavar="N", help="number of programs")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the first program")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="S", help="end after this time")
    parser.add_argument("--only", type=int, metavar="SEED", help="run and print one program")
    parser.add_argument("--json", action="store_true", help="print JSON lines: one per difference, and the totals")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.count) if arguments.only is None else [arguments.only]
    totals: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + arguments.seconds
    for result in run_all(itertools.takewhile(lambda _: time.monotonic() < end, seeds)):
        run = result.run
        totals.update(
            programs=1,
            different=bool(run.difference) and run.seed not in KNOWN,
            known=bool(run.difference) and run.seed in KNOWN,
            calls_with_errors=run.errors,
            programs_of_errors=run.errors == random_program.CALLS,
            programs_with_clusters=bool(run.clusters),
            programs_with_bounded_recipes=bool(run.bounded),
            programs_refused=bool(result.refusals),
            clusters=run.clusters,
            clusters_with_bounded_recipes=run.bounded,
            launches=run.launches,
            recipes=run.recipes,
        )
        if not run.difference and arguments.only is None:
            continue
        if arguments.json:
            sys.stdout.write(json.dumps(dataclasses.asdict(result)) + "\n")
        else:
            _show(result)
        sys.stdout.flush()
    sys.stdout.write(json.dumps(totals) + "\n")
    return 1 if totals["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
