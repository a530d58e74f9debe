"""Compares the HPU's ops with the CPU on generated arguments: `python -m tests.ops.sweep`.

Exit code: 0; 1 after a crash, a hang, a wrong value, or too many differing errors; 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import queue
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent import futures

from tests.ops.sweep import excluded, page
from tests.ops.sweep.compare import Verdict
from tests.ops.sweep.records import Claim
from tests.ops.sweep.sweep import OpReport, Sweep, count

_BAD = (Verdict.ABORT, Verdict.HANG, Verdict.VALUE, Verdict.REFUSED, Verdict.XLA)
_ERRORS = (Verdict.ACCEPTED, Verdict.CLASS, Verdict.TEXT)
_MAX_DIFFERENT = 0.02  # accepted share of runs with different errors


def main() -> int:
    arguments = _parse()
    if arguments.case:
        return _show(arguments.case, arguments)
    found = _claims()
    if arguments.write:
        arguments.write.parent.mkdir(exist_ok=True)
        arguments.write.write_text(page.write(found))
        return 0
    matching = [claim for claim in found if re.fullmatch(arguments.ops, claim.op)]
    claims = [claim for claim in matching if claim.op not in excluded.reasons()]
    reports: list[OpReport] = []
    try:
        for report in _run_all([claim.op for claim in claims], arguments):
            reports.append(report)
            _print(report)
    finally:
        if arguments.json:
            arguments.json.write_text(json.dumps([_as_json(report) for report in reports], indent=1))
    return _summarize(reports)


def _summarize(reports: Sequence[OpReport]) -> int:
    """Prints a summary, and returns the exit code."""
    counts = count(reports)
    runs = sum(len(report.results) for report in reports)
    accepted = sum(bool(result.reason) for report in reports for result in report.results)
    aborts = sum(len(report.cpu_aborts) for report in reports)
    print(f"{len(reports)} ops, {sum(r.cases for r in reports)} cases, {runs} runs: "
          + ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
          + f", {accepted} accepted with a reason; {aborts} cases end TensorFlow on the CPU")  # fmt: skip
    different = sum(counts[verdict] for verdict in _ERRORS)
    bad = any(counts[verdict] for verdict in _BAD) or different > _MAX_DIFFERENT * runs
    return 1 if bad else 0


def _show(case: str, arguments: argparse.Namespace) -> int:
    """Prints one case on both devices, in every mode."""
    sweep = Sweep(arguments.cases_per_op, arguments.seed)
    try:
        for line in sweep.show(case):
            print(line, flush=True)
    finally:
        sweep.close()
    return 0


def _claims() -> list[Claim]:
    sweep = Sweep(1, 0)
    try:
        return list(sweep.claims())
    finally:
        sweep.close()


def _run_all(ops: Sequence[str], arguments: argparse.Namespace) -> Iterator[OpReport]:
    """Runs ops in --jobs threads, each with its own workers."""
    free: queue.SimpleQueue[Sweep] = queue.SimpleQueue()
    sweeps = [Sweep(arguments.cases_per_op, arguments.seed) for _ in range(arguments.jobs)]
    for sweep in sweeps:
        free.put(sweep)

    def run(op: str) -> OpReport:
        sweep = free.get()
        try:
            return sweep.run(op)
        finally:
            free.put(sweep)

    with futures.ThreadPoolExecutor(arguments.jobs) as pool:
        try:
            yield from pool.map(run, ops)
        finally:
            pool.shutdown(cancel_futures=True)
            for sweep in sweeps:
                sweep.close()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("ops", nargs="?", default=".*", metavar="REGEX", help="ops whose whole name matches")
    parser.add_argument(
        "--cases-per-op", type=int, default=6, metavar="N", help="cases with values; a third more cases raise errors"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="first seed of each op")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of concurrent worker pairs")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all results to FILE")
    parser.add_argument("--case", metavar="OP:SEED", help="run one case, and print both outcomes")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE", help="write the page of ops without running ops")
    return parser.parse_args()


def _print(report: OpReport) -> None:
    bad = [result for result in report.results if result.verdict is not Verdict.SAME and not result.reason]
    print(f"{report.op}: {report.cases} cases ({report.values} values, {report.errors} errors, "
          f"{len(report.cpu_aborts)} CPU aborts), {len(bad)} differ", flush=True)  # fmt: skip
    for result in bad:
        print(f"  {result.verdict.value}: {result.case} {result.mode.value}: {result.detail[:300]}")
        print(f"      {result.arguments[:300]}", flush=True)


def _as_json(report: OpReport) -> dict[str, object]:
    return {
        "op": report.op,
        "values": report.values,
        "errors": report.errors,
        "cpu_aborts": report.cpu_aborts,
        "results": [
            {
                "case": r.case, "mode": r.mode.value, "verdict": r.verdict.value, "detail": r.detail,
                "arguments": r.arguments, "valid": r.valid, "reason": r.reason,
            }
            for r in report.results
        ],
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
