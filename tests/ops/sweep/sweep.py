"""Op sweep: finds cases on the CPU, runs them on the HPU, and reports differences."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.ops.sweep import differences
from tests.ops.sweep.compare import ANY_ERROR, Verdict, compare
from tests.ops.sweep.records import MODES, Found, Mode, Outcome
from tests.ops.sweep.workers import Worker, WorkerEndedError

_SEEDS = 60  # candidate seeds for an op's cases
_CPU_ABORTS = 3  # CPU crashes after which an op's search stops
_OPS_OF_A_WORKER = 40  # afterwards a new worker starts, because recipes have filled the memory


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of one case in one mode."""

    case: str
    mode: Mode
    verdict: Verdict
    detail: str
    arguments: str
    valid: bool  # whether the CPU returns a value
    reason: str = ""  # reason why the difference is accepted


@dataclasses.dataclass
class OpReport:
    """All results of an op."""

    op: str
    results: list[Result] = dataclasses.field(default_factory=list)
    cpu_aborts: list[str] = dataclasses.field(default_factory=list)
    values: int = 0  # seeds for which the CPU returned values
    errors: int = 0

    @property
    def cases(self) -> int:
        return len({result.case for result in self.results})


class Sweep:
    """Sweep with one CPU worker and one HPU worker."""

    def __init__(self, cases_per_op: int, first_seed: int, modes: Sequence[Mode] = MODES) -> None:
        self._cpu = Worker("cpu")
        self._hpu = Worker("hpu")
        self._cases = cases_per_op
        self._first = first_seed
        self._modes = modes
        self._ops = 0  # number of ops run so far

    def close(self) -> None:
        self._cpu.close()
        self._hpu.close()

    def claims(self) -> Any:
        (found,) = self._hpu.ask("claims")
        return found

    def run(self, op: str) -> OpReport:
        report = OpReport(op)
        self._ops += 1
        if self._ops % _OPS_OF_A_WORKER == 0:
            self._cpu.end()
            self._hpu.end()
        for found in self._pick(self._explore(report)):
            report.results += self._run_case(f"{op}:{found.seed}", found)
            if any(result.verdict is Verdict.HANG for result in report.results):
                break  # the op's other cases would likely also time out
        return report

    def show(self, case: str) -> Iterator[str]:
        """Yields readable outcomes of both devices."""
        try:
            yield "".join(self._cpu.ask("describe", case))
        except WorkerEndedError as error:
            yield f"cannot be drawn: {error}"
        for mode in self._modes:
            for name, worker in (("CPU", self._cpu), ("HPU", self._hpu)):
                outcomes = self._ask(worker, case, mode)
                if isinstance(outcomes, str):
                    yield f"{mode.value} on the {name}: ended: {outcomes}"
                    continue
                for number, outcome in enumerate(outcomes, 1):
                    text = "; ".join(map(str, outcome.arrays)) if outcome.ok else f"{outcome.error}: {outcome.text}"
                    yield f"{mode.value} on the {name}, call {number}: {text}"

    def _explore(self, report: OpReport) -> list[Found]:
        found: list[Found] = []
        seed, last = self._first, self._first + _SEEDS
        while seed < last and len(report.cpu_aborts) < _CPU_ABORTS:
            try:
                for reply in self._cpu.ask("explore", report.op, seed, last, 2 * self._cases):
                    if isinstance(reply, Found):
                        found.append(reply)
                    else:
                        seed = reply
                break
            except WorkerEndedError as error:
                report.cpu_aborts.append(f"{report.op}:{seed}: {error}")
                seed += 1
        report.values = sum(one.outcome.ok for one in found)
        report.errors = len(found) - report.values
        return found

    def _pick(self, found: Iterable[Found]) -> list[Found]:
        """Selects cases with many different dtypes and errors."""
        kinds: dict[bool, dict[Any, list[Found]]] = {True: {}, False: {}}
        for one in found:
            key = one.types if one.outcome.ok else one.outcome.text[:40]
            kinds[one.outcome.ok].setdefault(key, []).append(one)
        good = _round_robin(list(kinds[True].values()))[: self._cases]
        return good + _round_robin(list(kinds[False].values()))[: (self._cases + 2) // 3]

    def _run_case(self, case: str, found: Found) -> list[Result]:
        wanted = [mode for mode in self._modes if mode is not Mode.GRADIENT]
        results = [self._judge(case, found, mode, [found.outcome]) for mode in wanted]
        if found.gradient and Mode.GRADIENT in self._modes:
            expected = self._ask(self._cpu, case, Mode.GRADIENT)
            if isinstance(expected, list) and expected[0].ok:
                scaled = [dataclasses.replace(one, inputs=max(1.0, found.outcome.inputs)) for one in expected]
                results.append(self._judge(case, found, Mode.GRADIENT, scaled))
        return results

    def _ask(self, worker: Worker, case: str, mode: Mode) -> list[Outcome] | str:
        """Returns the outcomes of a case, or a description of the worker's end."""
        try:
            ((_, outcomes),) = worker.ask("run", case, [mode.value])
        except WorkerEndedError as error:
            return str(error)
        return list(outcomes)

    def _also(self, case: str, mode: Mode, found: Found) -> list[Outcome]:
        """Returns the CPU's outcomes in another mode. If that crashes, any error is acceptable."""
        again = self._ask(self._cpu, case, mode)
        if isinstance(again, str):
            return [Outcome(error=ANY_ERROR, text=again)]
        return [dataclasses.replace(one, inputs=found.outcome.inputs) for one in again]

    def _judge(self, case: str, found: Found, mode: Mode, expected: list[Outcome]) -> Result:
        outcomes = self._ask(self._hpu, case, mode)
        if isinstance(outcomes, str):
            verdict = Verdict.HANG if outcomes.startswith("no answer") else Verdict.ABORT
            if isinstance(self._ask(self._cpu, case, mode), str):
                verdict, outcomes = Verdict.SAME, f"the CPU's process ends too; on the HPU: {outcomes}"
            return Result(case, mode, verdict, outcomes, found.description, found.outcome.ok)
        if contained := self._hpu.contained_crashes():
            return Result(case, mode, Verdict.ABORT, contained[0][:300], found.description, found.outcome.ok)
        verdict, detail = _worst(expected, outcomes)
        if verdict is not Verdict.SAME and mode is not Mode.GRADIENT:
            expected = expected + self._also(case, mode, found)
            if mode is Mode.JIT:  # random ops draw the numbers of graphs on the CPU
                expected = expected + self._also(case, Mode.GRAPH, found)
            verdict, detail = _worst(expected, outcomes)
        if verdict is Verdict.VALUE and mode is not Mode.JIT:
            compiled = self._also(case, Mode.COMPILED_GRADIENT if mode is Mode.GRADIENT else Mode.JIT, found)
            if _worst(expected + compiled, outcomes)[0] is Verdict.SAME:
                verdict = Verdict.XLA
        op, text = case.rpartition(":")[0], f"{detail} {found.description}"
        reason = differences.reason(op, mode, verdict, text)
        return Result(case, mode, verdict, detail, found.description, found.outcome.ok, reason)


def _worst(expected: list[Outcome], outcomes: list[Outcome]) -> tuple[Verdict, str]:
    found = [compare(expected, outcome) for outcome in outcomes]
    order = [*Verdict]
    place = min(range(len(found)), key=lambda i: order.index(found[i][0]))
    verdict, detail = found[place]
    return verdict, f"call {place + 1}: {detail}" if place and detail else detail


def _round_robin(groups: Sequence[Sequence[Any]]) -> list[Any]:
    longest = max(map(len, groups), default=0)
    return [group[i] for i in range(longest) for group in groups if i < len(group)]


def count(reports: Iterable[OpReport]) -> collections.Counter[Verdict]:
    """Counts the verdicts of differences that are not accepted."""
    return collections.Counter(result.verdict for report in reports for result in report.results if not result.reason)
