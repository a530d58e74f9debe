"""Training on the Gaudi backend with the Synapse double, compared with the emulator."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.gaudi import doubles
from tests.pjrt import training_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def output(code: str, backend: str) -> Any:
    done = run_with_tensorflow(code, {"HPU_BACKEND": backend, "SYNAPSE_DOUBLE_STRICT": "abort"}, timeout=280)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("model", "release"), [("mlp", "1.5"), ("mlp", "1.18"), ("cnn", "1.5"), ("cnn", "1.18"), ("lstm", "1.18")]
)
def test_losses_are_the_emulators_and_every_cluster_runs(model: str, release: str) -> None:
    code = call_to(programs.train, model, "adam", 3)
    trained = output(code, doubles.backend(release))
    assert trained["fallbacks"] == 0 and trained["launched_clusters"] > 0
    np.testing.assert_allclose(trained["losses"], output(code, "emulator")["losses"], rtol=2e-3)
