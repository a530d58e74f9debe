"""Runner of the accelerator kit: crashes, hangs, budgets, resuming."""

from __future__ import annotations

import json
import pathlib
import sys
import time

import pytest

from tools.accelerator import run
from tools.accelerator.run import Check, Kit, Result, Results

PROGRAM = pathlib.Path(__file__).parent / "programs" / "check.py"


class FakeKit(Kit):
    """Kit that runs check.py instead of the kit's programs."""

    def command(self, check: Check) -> list[str]:
        return [sys.executable, str(PROGRAM), *check.command]


def checks(*kinds: str, limit: float = 60, typical: float = 1) -> list[Check]:
    return [Check(kind, "a subject", (kind,), limit, typical) for kind in kinds]


def run_all(tmp_path: pathlib.Path, listed: list[Check], budget: float = 60) -> Results:
    results = Results.open(tmp_path / "results.json", "pjrt:fake", {"processor": "abacus"})
    run.run_checks(FakeKit(tmp_path, "pjrt:fake", {}), results, listed, budget, lambda check: True)
    return results


def is_running(pid: int) -> bool:
    status = pathlib.Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_crashes_and_failures_stop_nothing(tmp_path: pathlib.Path) -> None:
    results = run_all(tmp_path, checks("crash", "fail", "over", "pass"))
    statuses = {name: result.status for name, result in results.checks.items()}
    assert statuses == {"crash": "crashed", "fail": "failed", "over": run.OVER, "pass": "passed"}
    assert results.checks["crash"].summary.startswith("SIGABRT")
    assert results.checks["fail"].summary == "exit code 7: something is wrong"
    assert results.checks["pass"].values == {"number": 1.5}
    assert results.checks["over"].summary == "1.09 (limit 1.05)" and not results.checks["over"].log
    page = (tmp_path / "results.md").read_text()
    assert "| crash | **crashed** |" in page and "| pass | passed |" in page and "abacus" in page
    assert "| over | **over the limit** |" in page


@pytest.mark.parametrize("kind", ["hang", "child"])
def test_processes_of_checks_are_killed(tmp_path: pathlib.Path, kind: str) -> None:
    result = run_all(tmp_path, checks(kind, limit=1)).checks[kind]
    assert result.status == ("timed out" if kind == "hang" else "passed")
    (line,) = (tmp_path / "logs" / f"{kind}.log").read_text().splitlines()
    deadline = time.monotonic() + 10
    while is_running(int(line.split()[1])):
        assert time.monotonic() < deadline, "the check's child is still running"
        time.sleep(0.05)


def test_checks_beyond_the_budget_are_run_by_the_next_call(tmp_path: pathlib.Path) -> None:
    listed = [*checks("pass"), *checks("fail", typical=100)]
    results = run_all(tmp_path, listed, budget=50)
    assert list(results.checks) == ["pass"]
    assert "| fail | **not run** |  | no time left |" in (tmp_path / "results.md").read_text()
    assert json.loads((tmp_path / "results.json").read_text())["not_run"] == ["fail"]
    log = tmp_path / "logs" / "pass.log"
    log.unlink()
    results = run_all(tmp_path, listed, budget=200)
    assert results.checks["fail"].status == "failed" and results.checks["pass"].status == "passed"
    assert not log.exists()  # the check did not run again


def test_a_check_that_the_budget_ends_is_run_by_the_next_call(tmp_path: pathlib.Path) -> None:
    listed = checks("hang", typical=0)
    results = run_all(tmp_path, listed, budget=0.5)
    assert not results.checks and "| hang | **not run** |" in (tmp_path / "results.md").read_text()


def test_an_interrupted_check_runs_once_more(tmp_path: pathlib.Path) -> None:
    results = Results.open(tmp_path / "results.json", "pjrt:fake", {})
    results.checks["pass"] = Result(run.RUNNING)
    results.checks["fail"] = Result(run.RUNNING, attempts=2)
    results.write(checks("pass", "fail"))
    results = run_all(tmp_path, checks("pass", "fail"))
    assert results.checks["pass"].status == "passed" and results.checks["pass"].attempts == 2
    assert results.checks["fail"].status == run.RUNNING
    assert "| fail | **interrupted** |" in results.markdown(checks("fail"))


def test_results_of_another_backend_are_refused(tmp_path: pathlib.Path) -> None:
    run_all(tmp_path, checks("pass"))
    with pytest.raises(run.KitError, match="pass another --results"):
        Results.open(tmp_path / "results.json", "pjrt:other", {})


def test_plugins_are_found_in_the_kit_and_by_path(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "python/lib/python3.11/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so"
    file.parent.mkdir(parents=True)
    file.touch()
    assert run.find_plugin("pjrt:cuda", tmp_path) == f"pjrt:{file}"
    assert run.find_plugin(f"pjrt:{file}", tmp_path) == f"pjrt:{file}"
    for backend, message in (
        ("emulator", "expected"),
        ("pjrt:abacus", "not a known plugin"),
        ("pjrt:/no", "does not exist"),
    ):
        with pytest.raises(run.KitError, match=message):
            run.find_plugin(backend, tmp_path)


def test_the_checks_have_different_names() -> None:
    names = [check.name for check in run.all_checks()]
    assert len(set(names)) == len(names)
    assert sum(check.typical for check in run.all_checks()) < 30 * 60
