"""Op sweep: completeness, and a sample of ops. `make ops` runs all ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from tests.ops.sweep import differences, excluded, page
from tests.ops.sweep.compare import Verdict, compare
from tests.ops.sweep.records import Claim, Found, Mode, Outcome
from tests.ops.sweep.sweep import Sweep
from tests.ops.sweep.workers import ROOT, Worker, WorkerEndedError

_SEEDS = 60
_PARTS = 8
_SHARE = 12  # runs one of this many ops


@pytest.fixture(scope="module")
def sweep() -> Iterator[Sweep]:
    made = Sweep(cases_per_op=1, first_seed=0)
    yield made
    made.close()


@pytest.fixture(scope="module")
def claims(sweep: Sweep) -> Sequence[Claim]:
    return sweep.claims()


def _has_value(worker: Worker, op: str) -> bool:
    """Whether the CPU returns a value for a case of the op."""
    seed = 0
    while seed < _SEEDS:
        try:
            has_value = False
            for found in worker.ask("explore", op, seed, _SEEDS, 1):
                if isinstance(found, Found):
                    has_value = has_value or found.outcome.ok
                else:
                    seed = found
            return has_value
        except WorkerEndedError:
            seed += 1
    return False


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_op_has_a_case_with_a_value(claims: Sequence[Claim]) -> None:
    worker = Worker("cpu")
    try:
        ops = [claim.op for claim in claims if claim.op not in excluded.reasons()]
        without = [op for op in ops if not _has_value(worker, op)]
    finally:
        worker.close()
    assert len(ops) > 500
    assert not without, f"give them a maker, or a reason in excluded.py: {without}"


def test_the_page_lists_all_claims(claims: Sequence[Claim]) -> None:
    written = (ROOT / "docs" / "user" / "ops.md").read_text()
    assert written == page.write(claims), "write docs/user/ops.md again: make ops"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(_PARTS))
def test_sample(sweep: Sweep, claims: Sequence[Claim], part: int) -> None:
    ops = [claim.op for claim in claims if claim.op not in excluded.reasons() and not differences.is_faulty(claim.op)]
    bad = (Verdict.ABORT, Verdict.HANG, Verdict.VALUE)
    results = [result for op in ops[part :: _PARTS * _SHARE] for result in sweep.run(op).results]
    wrong = [result for result in results if result.verdict in bad and not result.reason]
    assert results and not wrong, wrong


def test_a_case_is_the_same_each_time(sweep: Sweep) -> None:
    lines = [next(sweep.show("GatherV2:3")) for _ in range(2)]
    assert lines[0] == lines[1] and "params=" in lines[0]


def test_differences_are_found() -> None:
    one, other = np.ones(3, np.float32), np.array([1, 1, np.nan], np.float32)
    value, error = Outcome((one,)), Outcome(error="InvalidArgumentError", text="sizes must be positive")
    assert compare([value], Outcome((other,)))[0] is Verdict.VALUE
    assert compare([value], Outcome((one.astype(np.float64),)))[0] is Verdict.VALUE
    assert compare([value], Outcome((one[:2],)))[0] is Verdict.VALUE
    assert compare([value], error)[0] is Verdict.REFUSED
    assert compare([error], value)[0] is Verdict.ACCEPTED
    assert compare([error], Outcome(error="InternalError", text="sizes must be positive"))[0] is Verdict.CLASS
    assert compare([error], Outcome(error="InvalidArgumentError", text="no such thing"))[0] is Verdict.TEXT
    assert compare([error, value], Outcome((one * (1 + 1e-6),)))[0] is Verdict.SAME


def test_accepted_differences_have_reasons() -> None:
    assert all(entry.reason for entry in differences.accepted())
    text = "call 1: result 0: 0.5 instead of 0.25 at (0,)"
    assert differences.reason("StatelessRandomNormal", Mode.GRAPH, Verdict.VALUE, text)
    assert not differences.reason("Softmax", Mode.GRAPH, Verdict.VALUE, text)


def test_an_end_of_a_worker_is_reported() -> None:
    worker = Worker("cpu")
    try:
        with pytest.raises(WorkerEndedError, match="exit code"):
            list(worker.ask("run", "no case", ["eager"]))
        (described,) = worker.ask("describe", "Abs:0")
        assert described.startswith("x=")
    finally:
        worker.close()


def test_a_contained_crash_is_reported() -> None:
    worker = Worker("cpu")
    try:
        list(worker.ask("describe", "Abs:0"))
        assert worker.contained_crashes() == []
        line = "E contained_call.cc:89] lowering f: crashed; the thread was stopped: signal 11"
        worker._errors.write(f"other\n{line}\n".encode())
        worker._errors.flush()
        assert worker.contained_crashes() == [line]
        assert worker.contained_crashes() == []
    finally:
        worker.close()
