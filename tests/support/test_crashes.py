"""Contained crashes fail tests."""

from __future__ import annotations

import sys

import pytest

from tests.support import crashes
from tests.support.processes import ROOT, run_python

LINE = "E contained_call.cc:89] lowering f: crashed; the thread was stopped: signal 11"


def checked(request: pytest.FixtureRequest, text: str, when: str = "call") -> pytest.TestReport:
    sections = [(f"Captured stderr {when}", text), ("Captured stderr setup", LINE)]
    report = pytest.TestReport("test", ("test.py", 1, "test"), {}, "passed", None, when, sections)  # type: ignore[arg-type]
    crashes.check(request.node, report)
    return report


def test_a_crash_fails_a_test(request: pytest.FixtureRequest) -> None:
    report = checked(request, f"other\n{LINE}\n")
    assert report.failed and LINE in str(report.longrepr)
    assert checked(request, "", "setup").failed
    assert checked(request, "crashed").passed


def test_a_crash_in_a_program_fails_a_test(request: pytest.FixtureRequest) -> None:
    run_python(f"import sys; sys.stderr.write({LINE!r})", python=sys.executable)
    assert LINE in str(checked(request, "").longrepr)
    assert checked(request, "").passed


@pytest.mark.contained_crash
def test_a_test_of_containment_needs_a_crash(request: pytest.FixtureRequest) -> None:
    assert checked(request, LINE).passed
    assert checked(request, "").failed
    sys.stderr.write(LINE)


def test_the_plugin_writes_the_message() -> None:
    assert "crashed; the thread was stopped: " in (ROOT / "plugin/base/containment/contained_call.cc").read_text()
