"""HPU_FILL_MEMORY fills device memory before its use, and changes no result."""

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
    """The first fill fails, where there is one."""
    environment = {"HPU_FILL_MEMORY": byte, "HPU_FAULTS": "fill@1"}
    done = run_with_tensorflow(call_to(programs.compute), environment, check=False)
    assert (done.returncode != 0) == fills, done.stderr
