"""Runs ops with dynamic sizes on the HPU: results must equal those of static sizes, or the op is refused.

`python -m tests.ops.sweep.dynamic_sweep 'Add.*'`
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import re
import sys
from collections.abc import Iterator, Sequence

from tests.ops.sweep import excluded
from tests.ops.sweep.compare import Verdict, compare
from tests.ops.sweep.records import Claim, Found, Mode, Outcome
from tests.ops.sweep.workers import Worker, WorkerEndedError

_SEEDS = 40
_OPS_OF_A_WORKER = 40  # afterwards a new worker starts, because recipes have filled the memory


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of one case with one choice of dynamic sizes."""

    case: str
    variant: str
    verdict: Verdict
    detail: str
    arguments: str


class DynamicSweep:
    """Sweep with one CPU worker and one HPU worker."""

    def __init__(self, cases_per_op: int, first_seed: int = 0) -> None:
        self._cpu = Worker("cpu")
        self._hpu = Worker("hpu")
        self._cases = cases_per_op
        self._first = first_seed
        self._ops = 0

    def close(self) -> None:
        self._cpu.close()
        self._hpu.close()

    def claims(self) -> Sequence[Claim]:
        """Returns the ops that have a lowering."""
        (found,) = self._hpu.ask("claims")
        return [claim for claim in found if claim.lowering and claim.op not in excluded.reasons()]

    def run(self, op: str) -> list[Result]:
        """Runs the op's first cases for which the CPU returns values."""
        self._ops += 1
        if self._ops % _OPS_OF_A_WORKER == 0:
            self._cpu.end()
            self._hpu.end()
        return [result for found in self._explore(op) for result in self._run_case(f"{op}:{found.seed}", found)]

    def _explore(self, op: str) -> list[Found]:
        try:
            last = self._first + _SEEDS
            replies = list(self._cpu.ask("explore", op, self._first, last, self._cases))
        except WorkerEndedError:
            return []
        found = [reply for reply in replies if isinstance(reply, Found) and reply.outcome.ok]
        return found[: self._cases]

    def _run_case(self, case: str, found: Found) -> Iterator[Result]:
        expected = [found.outcome, *self._static(self._hpu, case, Mode.JIT, found)]
        gradients = self._static(self._cpu, case, Mode.GRADIENT, found) if found.gradient else []
        gradients = [one for one in gradients if one.ok]
        if gradients:
            gradients += self._static(self._hpu, case, Mode.COMPILED_GRADIENT, found)
        name = ""
        try:
            for reply in self._hpu.ask("dynamic", case, bool(gradients)):
                if isinstance(reply, str):
                    name = reply
                    continue
                wanted = gradients if name.startswith("gradient") else expected
                verdict, detail = compare(wanted, reply)
                yield Result(case, name, verdict, detail, found.description)
        except WorkerEndedError as error:
            yield Result(case, name, Verdict.ABORT, str(error), found.description)

    def _static(self, worker: Worker, case: str, mode: Mode, found: Found) -> list[Outcome]:
        try:
            ((_, outcomes),) = worker.ask("run", case, [mode.value])
        except WorkerEndedError:
            return []
        return [dataclasses.replace(one, inputs=max(1.0, found.outcome.inputs)) for one in outcomes[:1] if one.ok]


def main() -> int:
    """Prints each op's verdicts and the wrong cases. Exit code: 1 if a case is wrong, otherwise 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ops", nargs="?", default=".*", metavar="REGEX", help="ops whose whole name matches")
    parser.add_argument("--cases-per-op", type=int, default=3, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="first seed of each op")
    parser.add_argument("--verbose", action="store_true", help="print refusals too")
    arguments = parser.parse_args()
    sweep = DynamicSweep(arguments.cases_per_op, arguments.seed)
    total: collections.Counter[Verdict] = collections.Counter()
    try:
        for claim in sweep.claims():
            if re.fullmatch(arguments.ops, claim.op):
                total += _print(claim.op, sweep.run(claim.op), arguments.verbose)
    finally:
        sweep.close()
    sys.stdout.write(f"{sum(total.values())} runs: {_text(total)}\n")
    return 1 if any(total[verdict] for verdict in BAD) else 0


BAD = (Verdict.ABORT, Verdict.HANG, Verdict.VALUE)


def _text(counts: collections.Counter[Verdict]) -> str:
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])


def _print(op: str, results: Sequence[Result], verbose: bool) -> collections.Counter[Verdict]:
    counts = collections.Counter(result.verdict for result in results)
    sys.stdout.write(f"{op}: {_text(counts)}\n")
    for result in results:
        if result.verdict in BAD or (verbose and result.verdict is not Verdict.SAME):
            sys.stdout.write(f"  {result.verdict.value}: {result.case}, {result.variant}: {result.detail[:250]}\n")
            sys.stdout.write(f"      {result.arguments[:250]}\n")
    sys.stdout.flush()
    return counts


if __name__ == "__main__":
    sys.exit(main())
