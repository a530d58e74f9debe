"""Lists of tests that cannot pass on a device: each entry names collected tests, which still fail on that device."""

from __future__ import annotations

import functools
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree
from collections.abc import Mapping

import pytest

from habana_frameworks.tensorflow import lib_utils
from tests.gaudi import doubles
from tests.gaudi import exceptions as gaudi
from tests.pjrt import exceptions as pjrt
from tests.support import exceptions, release_exceptions
from tests.support.processes import ROOT

LISTS = {
    "pjrt": pjrt.EXCEPTIONS,
    "gaudi": gaudi.EXCEPTIONS,
    "gaudi, too slow": gaudi.TOO_SLOW,
    **release_exceptions.EXCEPTIONS,
}
_SECONDS = 3000


def run_pytest(*arguments: str, **environment: str) -> str:
    """Runs pytest in a process of its own, which no tests precede. Returns its output."""
    variables = {name: value for name, value in os.environ.items() if name != "HPU_BACKEND"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=variables | environment, capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr  # other codes: pytest itself failed
    return done.stdout


@functools.cache
def collected() -> tuple[str, ...]:
    """Ids of all tests, slow tests included, in the files that the lists name."""
    files = sorted({pattern.partition("::")[0] for listed in LISTS.values() for pattern in listed})
    output = run_pytest("--collect-only", "-m", "slow or not slow", *files)
    return tuple(line for line in output.splitlines() if line.startswith("tests/"))


def chosen(listed: Mapping[str, str]) -> list[str]:
    return [name for name in collected() if exceptions.reason_to_skip(name, listed) is not None]


@pytest.mark.parametrize("name", LISTS)
def test_every_pattern_matches_a_test(name: str) -> None:
    unused = [pattern for pattern in LISTS[name] if not any(exceptions.matches(test, pattern) for test in collected())]
    assert not unused, f"{unused} match no test: correct or remove them"


def test_brackets_are_no_special_characters() -> None:
    assert exceptions.matches("tests/a.py::test[1-x]", "tests/a.py::test[1*")
    assert not exceptions.matches("tests/a.py::test[1-x]", "tests/a.py::test")


def test_the_lists_hold_for_their_own_device(monkeypatch: pytest.MonkeyPatch) -> None:
    of_release = release_exceptions.EXCEPTIONS.get(lib_utils.release().version, {})
    for backend, listed in (("pjrt:cpu", pjrt.EXCEPTIONS), ("gaudi:/x", gaudi.EXCEPTIONS | gaudi.TOO_SLOW)):
        monkeypatch.setenv("HPU_BACKEND", backend)
        assert exceptions.active_exceptions() == {**listed, **of_release}
    monkeypatch.setenv("HPU_BACKEND", "emulator")
    assert exceptions.active_exceptions() == of_release


def passed(report: pathlib.Path) -> list[str]:
    """Names of the tests that passed, according to a report of pytest in JUnit's format."""
    cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
    return [f"{case.get('classname')}::{case.get('name')}" for case in cases if len(case) == 0]


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS)
@pytest.mark.parametrize("device", ["pjrt", "gaudi"])
def test_excepted_tests_still_fail(device: str, tmp_path: pathlib.Path) -> None:
    """An exception for a test that passes hides later faults."""
    backend = "pjrt:cpu" if device == "pjrt" else doubles.backend("1.18")
    report = tmp_path / "report.xml"
    run_pytest("--with-exceptions", f"--junitxml={report}", *chosen(LISTS[device]), HPU_BACKEND=backend)
    assert not (stale := passed(report)), f"{stale} pass on {backend}: remove their exceptions"
