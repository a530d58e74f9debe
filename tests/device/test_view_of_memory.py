"""CPU runs of clusters use the emulator's device memory in place."""

from __future__ import annotations

from tests.device import view_of_memory_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

NEVER = {"HPU_COMPILE_MODE": "never"}


def test_values_and_copied_bytes() -> None:
    in_place = int(run_with_tensorflow(call_to(programs.run), NEVER).stdout)
    # A device that reports errors has no view, so inputs are copied too.
    copied = int(run_with_tensorflow(call_to(programs.run), {**NEVER, "HPU_FAULTS": "launch@100000"}).stdout)
    assert in_place < copied


def test_a_step_that_raises() -> None:
    run_with_tensorflow(call_to(programs.fail), NEVER)
