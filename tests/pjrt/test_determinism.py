"""TensorFlow's switch for deterministic ops marks programs; plugins compile these for the same bits in every run."""

from __future__ import annotations

import json

import pytest
import tensorflow as tf
from tensorflow.python.framework import config

from tests.pjrt.test_targets import COMMAND, PLUGIN, SCRIPT, with_plugin
from tests.support.processes import run


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


@with_plugin
def test_deterministic_programs_compile_for_a_card() -> None:
    command = [*COMMAND, "compile-check", "--json", "--target", "h100", str(SCRIPT), "3"]
    environment = {"HPU_BACKEND": f"pjrt:{PLUGIN}", "TF_DETERMINISTIC_OPS": "1"}
    report = json.loads(run(command, environment, timeout=280).stdout)
    assert report["clusters"] and not report["failures"]
