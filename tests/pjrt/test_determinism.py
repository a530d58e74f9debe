"""TensorFlow's deterministic ops setting reaches the plugin, which compiles for equal bits in every run."""

from __future__ import annotations

import json

import pytest
import tensorflow as tf
from tensorflow.python.framework import config

from tests.pjrt import determinism_programs as programs
from tests.pjrt.cuda_plugin import PLUGIN, with_plugin
from tests.pjrt.test_targets import COMMAND, SCRIPT
from tests.support.processes import call_to, run, run_with_tensorflow


@pytest.mark.parametrize("is_on", [True, False], ids=["on", "off"])
def test_programs_ask_for_determinism(hpu: str, is_on: bool) -> None:
    @tf.function(jit_compile=True)
    def program(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x)

    before = config.is_op_determinism_enabled()
    (config.enable_op_determinism if is_on else config.disable_op_determinism)()
    try:
        with tf.device(hpu):
            hlo = program.experimental_get_compiler_ir(tf.zeros([4]))(stage="hlo_serialized", device_name=hpu)
            assert program(tf.ones([4])).numpy() == 4
    finally:
        (config.enable_op_determinism if before else config.disable_op_determinism)()
    assert (b"hpu_deterministic" in hlo) == is_on


def test_a_plugin_takes_deterministic_programs_and_xla_flags() -> None:
    flags = "--xla_cpu_enable_fast_math=false --xla_backend_optimization_level=1"
    environment = {"HPU_BACKEND": "pjrt:cpu", "TF_DETERMINISTIC_OPS": "1", "HPU_PJRT_XLA_FLAGS": flags}
    done = run_with_tensorflow(call_to(programs.compute_on_hpu), environment)
    assert "the HPU computes 3.0" in done.stdout and "HPU failed" not in done.stderr, done.stdout + done.stderr


@with_plugin
def test_deterministic_programs_compile_for_a_card() -> None:
    command = [*COMMAND, "compile-check", "--json", "--target", "h100", str(SCRIPT), "3"]
    environment = {"HPU_BACKEND": f"pjrt:{PLUGIN}", "TF_DETERMINISTIC_OPS": "1"}
    report = json.loads(run(command, environment, timeout=280).stdout)
    assert report["clusters"] and not report["failures"]
