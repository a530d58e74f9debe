"""HPU_FILL_MEMORY fills device memory before use, without changing results."""

from __future__ import annotations

import pytest

from tests.device import memory_fill_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


@pytest.mark.parametrize("byte", ["-1", "251"])
def test_results_stay(byte: str) -> None:
    done = run_with_tensorflow(call_to(programs.compute), {"HPU_FILL_MEMORY": byte})
    assert done.stdout.strip() == "[64.0, 64.0, 64.0]"


@pytest.mark.parametrize(("byte", "fills"), [("-1", False), ("251", True)])
def test_memory_is_filled(byte: str, fills: bool) -> None:
    """With a fault in the first fill, a program fails only if HPU_FILL_MEMORY fills memory."""
    environment = {"HPU_FILL_MEMORY": byte, "HPU_FAULTS": "fill@1"}
    done = run_with_tensorflow(call_to(programs.compute), environment, check=False)
    assert (done.returncode != 0) == fills, done.stderr
