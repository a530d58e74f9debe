"""Train steps of whole models on the Gaudi backend with the Synapse double, compared with the CPU."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.gaudi_models import BATCHES
from tests.gaudi import doubles, model_programs
from tests.support.processes import call_to, run_with_tensorflow

# With statistics of small batches, float32 is chaotic from the second step on. The gradients of the first step differ
# from float64 by 1.4e-2 (ResNet-50) and 1.7e-2 (MobileNetV2) on the CPU, and by a third of that on the double
# (benchmarks/results/gaudi.md).
FIXED_STATISTICS = ("resnet50", "mobilenet")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("model", BATCHES)
def test_losses_are_the_cpus_and_a_step_is_one_launch(model: str) -> None:
    environment = {"HPU_BACKEND": doubles.backend("1.18"), "SYNAPSE_DOUBLE_STRICT": "abort"}
    code = call_to(model_programs.train, model, BATCHES[model], model not in FIXED_STATISTICS)
    done = run_with_tensorflow(code, environment, timeout=1700)
    trained = json.loads(done.stdout.splitlines()[-1])
    # atol: a loss near 0 is the rounding of probabilities near 1.
    np.testing.assert_allclose(trained["losses"], trained["expected"], rtol=2e-3, atol=1e-6)
    assert trained["losses"][-1] < trained["losses"][0]
    assert trained["fallbacks"] == 0
    assert trained["ops_of_clusters"] > 0 and trained["refused"] == []
    assert trained["launches"] == [model_programs.STEPS]
    assert trained["library_launches"] == model_programs.STEPS
