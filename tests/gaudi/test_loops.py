"""Loops whose length depends on data, on the Gaudi backend with the Synapse double, compared with the emulator."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.gaudi import doubles, loop_programs
from tests.support.processes import call_to, run_with_tensorflow


def output(backend: str) -> Any:
    code = call_to(loop_programs.run)
    done = run_with_tensorflow(code, {"HPU_BACKEND": backend, "SYNAPSE_DOUBLE_STRICT": "abort"}, timeout=280)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("release", doubles.RELEASES)
def test_loops_run_on_the_device(release: str) -> None:
    """Values are the emulator's, and no cluster runs on the CPU."""
    got = output(doubles.backend(release))
    want = output("emulator")
    assert got["fallbacks"] == 0
    assert got["results"].keys() == want["results"].keys()
    for name, values in want["results"].items():
        for one, other in zip(got["results"][name], values, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, err_msg=name)
