"""Arguments that the CPU rejects: same error class on the HPU in every execution mode, without crashes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ops.refused_arguments import CALLS
from tests.support.processes import WARM_PYTHON, run


@pytest.fixture(scope="module")
def differences() -> Any:
    # The CPU's kernel accepts one of the gradients, which the compiler refuses.
    done = run([WARM_PYTHON, "-m", "tests.ops.refused_arguments"], {"TF_CPU_RUNTIME_FALLBACK": "allow"}, timeout=600)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", CALLS)
def test_errors_are_those_of_the_cpu(differences: Any, name: str) -> None:
    assert not differences[name]
