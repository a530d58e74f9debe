"""The suite of `make libraries`, without its libraries: comparison, page and pins."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pytest

from tests.libraries import page, sweep
from tests.libraries.page import Outcome
from tests.libraries.run import Result
from tests.support.processes import ROOT

LOSSES = Result(losses=[2.0, 1.0], step_ms=1.0, tolerance=1e-4)
WEIGHTS = [np.array([1.0, -4.0], np.float32)]


def test_the_page_has_all_programs() -> None:
    rows = [line.split(" | ") for line in sweep.PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    found = [(row[0].removeprefix("| ").split()[0], row[1]) for row in rows]
    assert found == [(sweep.distribution(module), name) for module, name in sweep.programs()]
    assert len({library for library, _ in found}) >= 12


def test_libraries_are_pinned_in_the_versions_of_the_page() -> None:
    pins = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements" / "libraries.txt").read_text(), re.MULTILINE))
    text = sweep.PAGE.read_text()
    for library in {sweep.distribution(module) for module, _ in sweep.programs()}:
        assert f"| {library} {pins[library]} |" in text


@pytest.mark.parametrize(
    ("losses", "weights", "text"),
    [
        ([2.0, 1.0001], [-4.0, 1.0], "weights 0: 1.2 apart"),
        ([2.0, 1.0001], [1.0003, -4.0], ""),
        ([2.0, 1.001], [1.0, -4.0], "losses: 0.0005 apart"),
        ([2.0, float("nan")], [1.0, -4.0], "losses: not finite"),
        ([2.0, 1.0], [1.0, -4.0, 0.0], "weights of other shapes"),
    ],
)
def test_difference(losses: list[float], weights: list[float], text: str) -> None:
    actual = Result(losses=losses, step_ms=1.0, tolerance=1.0)
    found = sweep.difference(actual, LOSSES, [np.array(weights, np.float32)], WEIGHTS)
    assert found.startswith(text) and bool(found) == bool(text), found


def test_rows_of_the_page() -> None:
    outcomes = [
        Outcome("a", "1.0", "whole", launches=1.0, reasons=("of something else",)),
        Outcome("a", "1.0", "split", launches=2.5, reasons=("A: one | two", "B", "C", "D")),
        Outcome("b", "2.0", "wrong", fault="losses: 1 apart"),
    ]
    text = page.write(outcomes, datetime.date(2026, 1, 2), 15, 3)
    assert "2 libraries, 3 programs: 1 train with one launch a step; 1 fail." in text
    assert "| a 1.0 | whole | 1 |  |\n| a 1.0 | split | 2.5 | A: one / two; B; C; … |" in text
    assert "| b 2.0 | wrong |  | **fails**: losses: 1 apart |" in text
    assert page.without_date(text) == page.without_date(page.write(outcomes, datetime.date(2026, 1, 3), 15, 3))
