"""Ops whose CPU kernels do not write the whole result. A separate process fills new memory with a pattern."""

from __future__ import annotations

import sys

import pytest

from tests.ops import unwritten_program
from tests.support.processes import run


@pytest.mark.parametrize("mode", ["auto", "never"])
def test_no_call_returns_memory_that_its_kernel_did_not_write(mode: str) -> None:
    environment = {"MALLOC_PERTURB_": "90", "HPU_COMPILE_MODE": mode}
    done = run([sys.executable, "-m", "tests.ops.unwritten_program"], environment)
    results = done.stdout.splitlines()
    assert len(results) == 2 * unwritten_program.CALLS
    assert set(results) == {results[-1]}
    assert results[-1].startswith("[0.0, 0.0, 0.0] ")
