"""Keras sweep: completeness of the cases, and a sample of them. `make keras` runs all cases."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import re

import numpy as np
import pytest
import tensorflow as tf

from tests.keras import page, sweep
from tests.keras.case import Case, Outcome, Verdict, given, run

pytestmark = pytest.mark.usefixtures("hpu")

_PARTS = 8


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    found = list(sweep.cases())
    assert len({case.title for case in found}) == len(found), "two cases of one name"
    return {case.title: case for case in found}


def test_the_page_has_a_line_for_each_case(cases: dict[str, Case]) -> None:
    text = re.sub(r"\s+", " ", sweep.PAGE.read_text())
    left_out = [c.title for c in cases.values() if f"`{c.name}`" not in text and f"`{c.title}`" not in text]
    assert not left_out, f"write docs/user/keras.md again (make keras): {left_out}"


def test_the_figures_of_the_page_count_its_cases(cases: dict[str, Case]) -> None:
    """The page is outdated if a case was added, removed or renamed since `make keras`; no case is wrong."""
    text = sweep.PAGE.read_text()
    of_kind = collections.Counter(page.split(title)[0] for title in cases)
    rest = re.findall(r"^\| `(.*?)` \| (.*?) \| .* \|$", text.split("## Not wholly on the HPU")[1], re.MULTILINE)
    assert not {title for title, _ in rest} - cases.keys(), "write docs/user/keras.md again (make keras)"
    on_host = collections.Counter(page.split(title)[0] for title, ops in rest if not ops)
    rows = re.findall(r"^\| ([\w.]+) \| (\d+) \| (\d+) \(.*?\) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert {kind for kind, *_ in rows} == of_kind.keys()
    for kind, *numbers in rows:
        total, whole, partly, bad = map(int, numbers)
        assert total + on_host[kind] == of_kind[kind], f"{kind}: write docs/user/keras.md again (make keras)"
        assert total == whole + partly and bad == 0, kind


def test_the_sample_has_cases_of_each_kind(cases: dict[str, Case]) -> None:
    sampled = sweep.sample(cases.values())
    assert 55 <= len(sampled) <= 65 and {case.kind for case in sampled} == {case.kind for case in cases.values()}


@pytest.mark.parametrize("part", range(_PARTS))
def test_sample(cases: dict[str, Case], part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_EAGER_COMPILE_AFTER", "0")
    text = sweep.PAGE.read_text()
    outcomes = [run(case) for case in sweep.sample(cases.values())[part::_PARTS]]
    assert [outcome for outcome in outcomes if outcome.verdict in (Verdict.WRONG, Verdict.FAILED)] == []
    assert [o for o in outcomes if not page.agrees(text, o)] == [], "write docs/user/keras.md again (make keras)"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_cases() -> None:
    written = page.write(sweep.run_all("", shown=False), sweep.same_names(), datetime.date.today())
    assert page.without_date(written) == page.without_date(sweep.PAGE.read_text()), "run `make keras`"


def test_failures_are_found() -> None:
    x = np.ones([3], np.float32)
    wrong = Case("test", "wrong", lambda: tf.sin, (x,), reference=lambda: tf.cos)
    assert run(wrong).verdict is Verdict.WRONG
    failing = Case("test", "failing", lambda: given, (x,), options={"nothing": 1})
    outcome = run(failing)
    assert outcome.verdict is Verdict.FAILED and "nothing" in outcome.reasons[0]


def test_page() -> None:
    outcomes = [
        Outcome("layers.Dense", Verdict.HPU, 5, 5),
        Outcome("layers.Hashing", Verdict.PARTLY, 1, 3, ("AsString: strings | text",)),
        Outcome("optimizers.legacy.Adam (clipped)", Verdict.WRONG, 5, 5, ("is off by 2",)),
    ]
    text = page.write(outcomes, {"layers.Dense": ["Same"]}, datetime.date(2026, 1, 2))
    assert "\nRun on 2026-01-02.\n" in text and "2026" not in page.without_date(text)
    assert all(page.agrees(text, outcome) for outcome in outcomes)
    other = [dataclasses.replace(outcome, verdict=Verdict.PARTLY, hpu_ops=0) for outcome in outcomes]
    other.append(dataclasses.replace(outcomes[1], verdict=Verdict.HPU))
    assert not any(page.agrees(text, outcome) for outcome in other)
    assert "| layers | 2 | 1 (50 %) | 1 | 0 |" in text and "| **all** | 3 | 1 (33 %) | 1 | 1 |" in text
    assert "| `layers.Hashing` | 1 of 3 | AsString: strings / text |" in text
    assert "| `optimizers.legacy.Adam (clipped)` | 5 of 5 | **wrong**: is off by 2 |" in text
    assert "## Wholly on the HPU: layers\n\n`Dense` = `Same`." in text
