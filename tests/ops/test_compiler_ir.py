"""experimental_get_compiler_ir for functions on the HPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops import compiler_ir_programs as programs
from tests.support.compare import CPU, HPU
from tests.support.processes import call_to, run_with_tensorflow

pytestmark = pytest.mark.usefixtures("hpu")

TEXTS = ("hlo", "hlo_no_metadata", "optimized_hlo", "optimized_hlo_dot")
BYTES = ("hlo_serialized", "optimized_hlo_serialized", "optimized_hlo_proto_serialized")


@tf.function(jit_compile=True)
def example(x: tf.Tensor) -> tf.Tensor:
    return tf.tanh(x) + 1.0


@pytest.mark.parametrize("stage", [*TEXTS, *BYTES])
@pytest.mark.parametrize("device", [CPU, HPU])
def test_stages(stage: str, device: str) -> None:
    with tf.device(HPU):
        ir = example.experimental_get_compiler_ir(tf.ones([2, 3]))(stage=stage, device_name=device)
    if stage in BYTES:
        assert isinstance(ir, bytes) and len(ir) > 100
        return
    assert isinstance(ir, str)
    assert ir.startswith("digraph" if stage.endswith("dot") else "HloModule"), ir[:80]
    assert "f32[2,3]" in ir
    if stage.startswith("hlo"):
        assert "tanh" in ir
        assert ("metadata=" in ir) == (stage == "hlo")


def test_the_device_is_the_preferred_one() -> None:
    with tf.device(HPU):
        assert "backend: " in example.experimental_get_compiler_ir(tf.ones([2, 3]))(stage="recipe")


def test_specs_stand_for_tensors() -> None:
    weights = None
    with tf.device(HPU):
        weights = tf.Variable(tf.ones([3, 4]))
        function = tf.function(lambda x: x @ weights, jit_compile=True)
        ir = function.experimental_get_compiler_ir(tf.TensorSpec([2, 3]))(stage="hlo", device_name="/device:HPU:0")
    assert "f32[2,4]" in ir and "f32[3,4]" in ir


def test_variables_and_constants() -> None:
    with tf.device(HPU):
        total = tf.Variable(tf.zeros([4]))

        @tf.function(jit_compile=True)
        def step(x: tf.Tensor, shape: tf.Tensor) -> tf.Tensor:
            total.assign_add(tf.reduce_sum(tf.reshape(x, shape), 0))
            return total * 2.0

        generator = step.experimental_get_compiler_ir(tf.ones([12]), tf.constant([3, 4]))
        assert "f32[3,4]" in generator(stage="hlo")
        assert "in place of argument" in generator(stage="recipe")
        np.testing.assert_array_equal(total, np.zeros([4]))


def test_functions_that_call_functions() -> None:
    inner = tf.function(lambda x: tf.sin(x))
    with tf.device(HPU):
        function = tf.function(lambda x: tf.cond(x[0] > 0, lambda: inner(x), lambda: x), jit_compile=True)
        ir = function.experimental_get_compiler_ir(tf.ones([2]))(stage="hlo")
    assert "sine" in ir and "conditional" in ir


def test_results_of_dynamic_shapes() -> None:
    with tf.device(HPU):
        function = tf.function(lambda x: tf.where(x > 0), jit_compile=True)
        generator = function.experimental_get_compiler_ir(tf.ones([5]))
        assert "<=" not in generator(stage="hlo")
        assert "sizes of dynamic dimensions" in generator(stage="recipe")


@pytest.mark.parametrize(
    ("stage", "kind", "text"),
    [("mlir", tf.errors.InvalidArgumentError, "optimized_hlo_dot"), ("hlo", ValueError, "jit")],
)
def test_errors(stage: str, kind: type[Exception], text: str) -> None:
    function: Any = tf.function(lambda x: x + 1.0, jit_compile=True if stage == "mlir" else None)
    with tf.device(HPU), pytest.raises(kind, match=text):
        function.experimental_get_compiler_ir(tf.ones([2]))(stage=stage)


def test_an_op_without_a_lowering_is_named() -> None:
    function = tf.function(lambda x: tf.strings.as_string(x), jit_compile=True)
    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="AsString"):
        function.experimental_get_compiler_ir(tf.ones([2]))(stage="hlo")


def test_a_backend_that_does_not_show_its_program() -> None:
    run_with_tensorflow(call_to(programs.ask_null_backend), {"HPU_BACKEND": "null"})


def test_loops_that_read_variables() -> None:
    with tf.device(HPU):
        layer = tf.keras.layers.LSTM(4)
        layer.build(tf.TensorShape([2, 3, 5]))

        @tf.function(jit_compile=True)
        def gradients(x: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(layer(x))
            return tape.gradient(loss, layer.trainable_variables)

        text = gradients.experimental_get_compiler_ir(tf.ones([2, 3, 5]))(stage="hlo", device_name=HPU)
    assert " while(" in text and "f32[5,16]" in text
