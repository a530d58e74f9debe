"""XLA_FLAGS and HPU_PJRT_XLA_FLAGS: the plugin's XLA and TensorFlow's XLA have different flags."""

from __future__ import annotations

import pathlib

import pytest

from tests.pjrt import errors_programs, xla_flags_programs
from tests.pjrt.cuda_plugin import PLUGIN, with_plugin
from tests.pjrt.test_targets import COMMAND, SCRIPT
from tests.support.processes import call_to, run, run_with_tensorflow

# A flag of TensorFlow 2.15's XLA that the plugins' XLA does not have.
OLD_FLAG = "--xla_gpu_simplify_all_fp_conversions=true"
WARNINGS = {"TF_CPP_MIN_LOG_LEVEL": "1"}


def test_a_flag_that_only_tensorflow_knows_is_dropped_with_one_warning() -> None:
    environment = {"HPU_BACKEND": "pjrt:cpu", "XLA_FLAGS": OLD_FLAG, **WARNINGS, "TF_CPU_RUNTIME_FALLBACK": "forbid"}
    done = run_with_tensorflow(call_to(xla_flags_programs.compute_on_both), environment)
    assert "the HPU computes 3.0" in done.stdout and "the CPU computes 3.0" in done.stdout
    assert f"a child sees {OLD_FLAG}" in done.stdout
    assert done.stderr.count("compiles without --xla_gpu_simplify_all_fp_conversions") == 1, done.stderr


def test_flags_that_both_know_reach_the_plugin(tmp_path: pathlib.Path) -> None:
    environment = {"HPU_BACKEND": "pjrt:cpu", "XLA_FLAGS": f"--xla_dump_to={tmp_path}", **WARNINGS}
    done = run_with_tensorflow(call_to(xla_flags_programs.compute_on_both), environment)
    assert "HPU: WARNING" not in done.stderr, done.stderr
    # Only the plugins' XLA, which is newer, writes files with this name.
    assert list(tmp_path.glob("*debug_options")), sorted(tmp_path.iterdir())


def test_flags_that_the_plugin_does_not_know_are_an_error_at_load() -> None:
    environment = {"HPU_BACKEND": "pjrt:cpu", "HPU_PJRT_XLA_FLAGS": "--no_such_flag=1"}
    done = run_with_tensorflow(call_to(errors_programs.load_and_compute), environment)
    assert "does not accept --no_such_flag: No such compile option" in done.stdout, done.stdout
    assert "CPU computes 3.0" in done.stdout


@pytest.mark.parametrize("variable", ["HPU_PJRT_XLA_FLAGS", "XLA_FLAGS"])
def test_flags_that_cannot_be_parsed_are_an_error_at_load(variable: str) -> None:
    environment = {"HPU_BACKEND": "pjrt:cpu", variable: "-nonsense"}
    done = run_with_tensorflow(call_to(errors_programs.load_and_compute), environment)
    assert f'{variable}: expected --name or --name=value, got "-nonsense"' in done.stdout, done.stdout


@with_plugin
def test_the_plugin_for_cards_ignores_unknown_flags_too() -> None:
    command = [*COMMAND, "compile-check", "--target", "h100", str(SCRIPT), "1"]
    done = run(command, {"HPU_BACKEND": f"pjrt:{PLUGIN}", "XLA_FLAGS": OLD_FLAG, **WARNINGS}, timeout=280)
    assert done.stderr.count("compiles without --xla_gpu_simplify_all_fp_conversions") == 1, done.stderr


def test_minimums_and_maximums_return_nan() -> None:
    done = run_with_tensorflow(call_to(xla_flags_programs.reduce_nan), {"HPU_BACKEND": "pjrt:cpu"})
    assert "all results are NaN" in done.stdout, done.stdout + done.stderr
