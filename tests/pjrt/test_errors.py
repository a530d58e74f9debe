"""Missing or invalid plugins, and rejected plugin options: the program continues without an HPU."""

from __future__ import annotations

import pytest

from tests.pjrt import errors_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("pjrt:abacus", "not a known plugin; expected one of cpu, cuda, or the path of a plugin"),
        ("pjrt:/nonexistent/plugin.so", "cannot read the PJRT plugin /nonexistent/plugin.so: No such file"),
        ("pjrt:/proc/self/exe", "cannot load the PJRT plugin /proc/self/exe"),
    ],
)
def test_missing_plugins_are_reported(backend: str, message: str) -> None:
    done = run_with_tensorflow(call_to(programs.load_and_compute), {"HPU_BACKEND": backend})
    assert message in done.stdout
    assert "CPU computes 3.0" in done.stdout


@pytest.mark.parametrize(("options", "message"), [("no_such_option=1", "no_such_option"), ("memory", "name=value")])
def test_refused_options_are_reported(options: str, message: str) -> None:
    environment = {"HPU_BACKEND": "pjrt:cpu", "HPU_PJRT_OPTIONS": options}
    done = run_with_tensorflow(call_to(programs.load_and_compute), environment)
    assert message in done.stdout
    assert "CPU computes 3.0" in done.stdout
