"""Elementary functions of many elements, which plugins compute with vector instructions."""

from __future__ import annotations

import json

from tests.pjrt import elementary_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def test_vector_code_computes_the_values_of_the_cpu() -> None:
    done = run_with_tensorflow(call_to(programs.print_errors), {"HPU_BACKEND": "pjrt:cpu"})
    errors = json.loads(done.stdout.splitlines()[-1])
    assert len(errors) == 2 * len(programs.NAMES)
    assert {name: error for name, error in errors.items() if not error < 1e-5} == {}
