"""Runs ops with changing sizes on the HPU: results must equal the CPU's. Counts the ops that one recipe cannot serve.

`python -m tests.ops.sweep.bounded_sweep 'Add.*'`. `--table` writes bounded_refusals.yaml from all ops.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import pathlib
import re
import sys
from collections.abc import Iterator, Sequence

import yaml

from tests.ops.sweep import differences, excluded
from tests.ops.sweep.compare import Verdict, compare
from tests.ops.sweep.records import BoundedRun, Claim, Found, Mode, Outcome
from tests.ops.sweep.workers import Worker, WorkerEndedError

TABLE = pathlib.Path(__file__).with_name("bounded_refusals.yaml")
_HEADER = """# Ops of which some cases need a recipe per size: number of runs by reason.
# Made by `python -m tests.ops.sweep.bounded_sweep --table`.
"""
# Differences that do not come from changing sizes: by op, a regular expression for a part of the arguments.
_OTHERS = {
    "BiasAdd": "bfloat16",  # gradient: sums are rounded in another order
    "ResourceScatterUpdate": "",  # TensorFlow's CPU kernel writes out of bounds for updates of another shape
}
_SEEDS = 40
_BUCKETS = 3
_OPS_OF_A_WORKER = 40  # afterwards a new worker starts, because recipes have filled the memory

# Verdicts of a case, from worst to best.
ABORT, WRONG, ERROR, REFUSED, CPU, EQUAL = "abort", "wrong value", "error", "refused", "on the CPU", "equal"
BAD = (ABORT, WRONG, ERROR)


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of one case with one choice of changing sizes."""

    case: str
    variant: str
    verdict: str
    detail: str
    arguments: str


class BoundedSweep:
    """Sweep with a CPU worker, an HPU worker with bounded recipes, and an HPU worker without them."""

    def __init__(self, cases_per_op: int, first_seed: int = 0) -> None:
        self._cpu = Worker("cpu")
        self._hpu = Worker("bounded")
        self._static = Worker("static")
        self._cases = cases_per_op
        self._first = first_seed
        self._ops = 0

    def close(self) -> None:
        for worker in (self._cpu, self._hpu, self._static):
            worker.close()

    def claims(self) -> Sequence[Claim]:
        """Returns the ops that have a lowering."""
        (found,) = self._hpu.ask("claims")
        return [claim for claim in found if claim.lowering and claim.op not in excluded.reasons()]

    def run(self, op: str) -> list[Result]:
        """Runs the op's first cases for which the CPU returns values."""
        self._ops += 1
        if self._ops % _OPS_OF_A_WORKER == 0:
            for worker in (self._cpu, self._hpu, self._static):
                worker.end()
        return [result for found in self._explore(op) for result in self._run_case(f"{op}:{found.seed}", found)]

    def _explore(self, op: str) -> list[Found]:
        try:
            replies = list(self._cpu.ask("explore", op, self._first, self._first + _SEEDS, self._cases))
        except WorkerEndedError:
            return []
        found = [reply for reply in replies if isinstance(reply, Found) and reply.outcome.ok]
        return found[: self._cases]

    def _run_case(self, case: str, found: Found) -> Iterator[Result]:
        bucket = found.seed % _BUCKETS
        expected = self._sizes(self._cpu, "sizes", case, found, bucket)
        static: dict[int, list[Outcome]] | None = None
        number, name = -1, ""
        try:
            for reply in self._hpu.ask("bounded sizes", case, found.gradient, bucket):
                if not isinstance(reply, BoundedRun):
                    number, name = reply
                    continue
                wanted = expected.get(number)
                refusals = self._hpu.refusals()
                if wanted is None or not all(outcome.ok for outcome in wanted):
                    continue  # the changed sizes do not fit
                verdict, detail = self._judge([wanted], reply, refusals)
                if verdict in (WRONG, ERROR):
                    static = static or self._sizes(self._static, "sizes apart", case, found, bucket)
                    verdict, detail = self._judge([wanted, static.get(number, wanted)], reply, refusals)
                if verdict == WRONG and _is_accepted(found, case, detail):
                    verdict = EQUAL
                yield Result(case, name, verdict, detail, found.description)
        except WorkerEndedError as error:
            # Without an outcome, the CPU's process ended, too.
            if number in expected and not _is_accepted(found, case, str(error)):
                yield Result(case, name, ABORT, str(error), found.description)

    @staticmethod
    def _sizes(worker: Worker, action: str, case: str, found: Found, bucket: int) -> dict[int, list[Outcome]]:
        """Returns the outcomes of each size by the number of the variant."""
        outcomes: dict[int, list[Outcome]] = {}
        number = 0
        try:
            for reply in worker.ask(action, case, found.gradient, bucket):
                if isinstance(reply, tuple):
                    number = reply[0]
                else:
                    inputs = max(1.0, found.outcome.inputs)
                    outcomes[number] = [dataclasses.replace(one, inputs=inputs) for one in reply]
        except WorkerEndedError:
            pass
        return outcomes

    @staticmethod
    def _judge(expected: Sequence[list[Outcome]], run: BoundedRun, refusals: Sequence[str]) -> tuple[str, str]:
        for number, outcome in enumerate(run.outcomes):
            verdict, detail = compare([outcomes[number] for outcomes in expected], outcome)
            if verdict is Verdict.VALUE:
                return WRONG, f"call {number}: {detail}"
            if verdict is not Verdict.SAME:
                return ERROR, f"call {number}: {detail}"
        if not run.compiled:
            return CPU, ""
        return (EQUAL, "") if run.shared else (REFUSED, reason_of(refusals[0] if refusals else "sizes of 0 or 1"))


def _is_accepted(found: Found, case: str, detail: str) -> bool:
    op = case.rpartition(":")[0]
    if op in _OTHERS and re.search(_OTHERS[op], found.description):
        return True
    text = f"{detail} {found.description}"
    return any(entry.fits(op, Mode.GRAPH, Verdict.VALUE, text) for entry in differences.accepted())


def reason_of(refusal: str) -> str:
    """Returns a refusal without the numbers and names of a case."""
    text = re.sub(r"\. (Move|Compute) .*|; (move|make) .*|, and the op's lowering might .*", "", refusal)
    text = re.sub(r"\w+\[[<=\d, ]*\](\{[\d,]*\})?", "SHAPE", text)
    text = re.sub(r"%?\b[\w.-]+\.\d+\b", "X", text)
    return re.sub(r"\d+", "N", text)[:160]


def main() -> int:
    """Prints each op's verdicts and the wrong cases. Exit code: 1 if a case is wrong, otherwise 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ops", nargs="?", default=".*", metavar="REGEX", help="ops whose whole name matches")
    parser.add_argument("--cases-per-op", type=int, default=2, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="first seed of each op")
    parser.add_argument("--verbose", action="store_true", help="print refusals too")
    parser.add_argument("--table", action="store_true", help=f"write {TABLE.name}")
    arguments = parser.parse_args()
    sweep = BoundedSweep(arguments.cases_per_op, arguments.seed)
    total: collections.Counter[str] = collections.Counter()
    table: dict[str, dict[str, int]] = {}
    try:
        for claim in sweep.claims():
            if not re.fullmatch(arguments.ops, claim.op):
                continue
            results = sweep.run(claim.op)
            total += _print(claim.op, results, arguments.verbose)
            reasons = collections.Counter(result.detail for result in results if result.verdict == REFUSED)
            if reasons:
                table[claim.op] = dict(sorted(reasons.items()))
    finally:
        sweep.close()
    sys.stdout.write(f"{sum(total.values())} runs: {_text(total)}\n")
    if arguments.table:
        TABLE.write_text(_HEADER + yaml.safe_dump(table, width=110))
    return 1 if any(total[verdict] for verdict in BAD) else 0


def _text(counts: collections.Counter[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))


def _print(op: str, results: Sequence[Result], verbose: bool) -> collections.Counter[str]:
    counts = collections.Counter(result.verdict for result in results)
    sys.stdout.write(f"{op}: {_text(counts)}\n")
    for result in results:
        if result.verdict in BAD or (verbose and result.verdict != EQUAL):
            sys.stdout.write(f"  {result.verdict}: {result.case}, {result.variant}: {result.detail[:250]}\n")
            sys.stdout.write(f"      {result.arguments[:250]}\n")
    sys.stdout.flush()
    return counts


if __name__ == "__main__":
    sys.exit(main())
