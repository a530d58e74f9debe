"""Training on a PJRT device (the CPU), compared with the emulator and with a run without donation."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from tests.pjrt import cpu_plugins
from tests.pjrt import training_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

PJRT = {"HPU_BACKEND": "pjrt:cpu"}


def output(code: str, **environment: str) -> Any:
    done = run_with_tensorflow(code, {**PJRT, **environment}, timeout=280)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "model", ["mlp", *(pytest.param(model, marks=pytest.mark.slow) for model in ("cnn", "transformer"))]
)
def test_donation_changes_no_bit_and_losses_are_the_emulators(model: str) -> None:
    code = call_to(programs.train, model, "adam", 20)
    donated = output(code)
    assert donated["fallbacks"] == 0 and donated["launched_clusters"] > 0
    counts = [donated.pop(name) for name in ("variables", "donated", "kept")]
    assert counts == [counts[0], counts[0] * 18, 0]  # 18 steps after the first two
    copied = output(code, HPU_PJRT_DONATION="0")
    assert [copied.pop(name) for name in ("variables", "donated", "kept")] == [counts[0], 0, counts[0] * 18]
    assert copied == donated
    emulated = output(code, HPU_BACKEND="emulator")
    np.testing.assert_allclose(donated["losses"], emulated["losses"], rtol=2e-3)


@pytest.mark.parametrize("plugin", [cpu_plugins.XLA, cpu_plugins.LAMMPS])
def test_each_cpu_plugin_reads_the_weights_that_the_step_before_wrote(plugin: pathlib.Path) -> None:
    if not plugin.is_file():
        pytest.skip("the plugin is not installed")
    code = call_to(programs.train, "mlp", "sgd", 4)
    losses = output(code, HPU_BACKEND=f"pjrt:{plugin}")["losses"]
    np.testing.assert_allclose(losses, output(code, HPU_BACKEND="emulator")["losses"], rtol=1e-4)


def test_values_that_were_read_outlive_the_variable_that_is_overwritten() -> None:
    run_with_tensorflow(call_to(programs.hold_values, 10), PJRT)


@pytest.mark.slow
def test_memory_stays_constant() -> None:
    # The allocator keeps freed memory for a while. A leak of the variables would be 5 GB.
    growth = output(call_to(programs.grow, 1000))
    assert growth["bytes"] < 64 << 20
    assert growth["buffers"] == 0
