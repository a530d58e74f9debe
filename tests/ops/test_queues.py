"""Queues on the HPU, in a separate process, because a kernel that writes device memory on the host would crash it."""

from __future__ import annotations

from tests.support.processes import WARM_PYTHON, run


def test_elements_and_states() -> None:
    done = run([WARM_PYTHON, "-m", "tests.ops.queue_program"])
    assert done.stdout.splitlines() == 2 * ["[1, [2.0, 4.0], [[3], [4]], False, True]"]
