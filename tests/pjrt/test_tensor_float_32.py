"""TensorFlow's TF32 setting determines the precision of float32 products on NVIDIA cards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tensorflow as tf


@pytest.fixture(params=[True, False], ids=["on", "off"])
def tf32(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(request.param)
    yield request.param
    tf.config.experimental.enable_tensor_float_32_execution(before)


@pytest.mark.parametrize("op", ["matmul", "einsum", "conv2d", "conv2d gradient"])
def test_programs_ask_for_full_precision_without_tf32(hpu: str, op: str, tf32: bool) -> None:
    @tf.function(jit_compile=True)
    def program(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        if op == "matmul":
            return tf.matmul(x[0, 0], y[0, 0])
        if op == "einsum":
            return tf.einsum("bhij,bhjk->bik", x, y)
        with tf.GradientTape() as tape:
            tape.watch(y)
            result = tf.nn.conv2d(x, y, 1, "SAME")
        return result if op == "conv2d" else tape.gradient(result, y)

    with tf.device(hpu):
        text = program.experimental_get_compiler_ir(tf.zeros([3, 3, 4, 4]), tf.zeros([3, 3, 4, 4]))(stage="hlo")
    products = [line for line in text.splitlines() if " dot(" in line or " convolution(" in line]
    assert products
    assert all(("operand_precision={highest,highest}" in line) == (not tf32) for line in products), products
