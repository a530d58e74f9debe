"""Contained crashes (plugin/base/containment), after which an op runs on the CPU with the same results.

A test fails if a crash was contained in its process or in its programs. A test of containment has the mark
`contained_crash`, and fails without a crash.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

MARK = "contained_crash"
_MESSAGE = ": crashed; the thread was stopped: "  # of contained_call.cc
# Lines about crashes of programs, whose standard error the test reads. pytest captures the standard error of the rest.
_of_programs: list[str] = []


def lines_of(text: str) -> Iterator[str]:
    """Yields the lines about contained crashes."""
    return (line for line in text.splitlines() if _MESSAGE in line)


def note(text: str) -> None:
    """Notes the crashes in the standard error of a program."""
    _of_programs.extend(lines_of(text))


def check(item: pytest.Item, report: pytest.TestReport) -> None:
    """Makes the report a failure if a crash was contained, or if a test of containment had none."""
    captured = [text for name, text in report.sections if name == f"Captured stderr {report.when}"]
    found = [line for text in captured for line in lines_of(text)] + _of_programs
    _of_programs.clear()
    expected = report.when == "call" and item.get_closest_marker(MARK) is not None
    if report.passed and bool(found) != expected:
        report.outcome = "failed"
        report.longrepr = "\n".join(["contained crashes:", *found]) if found else "no crash was contained"
