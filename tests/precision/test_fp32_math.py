"""HPU_FP32_MATH: float32 products with operands rounded to bfloat16 and float32 accumulation."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes


def rounded(array: np.ndarray) -> np.ndarray:
    return array.astype(tf.bfloat16.as_numpy_dtype).astype(np.float32)


def products(x: np.ndarray, w: np.ndarray, kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    @tf.function
    def both(x: tf.Tensor, w: tf.Tensor, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        image = tf.reshape(x, [1, 8, 8, 4])
        return tf.matmul(x, w), tf.nn.conv2d(image, kernel, 1, "SAME")

    with tf.device("/device:HPU:0"):
        product, convolution = both(tf.constant(x), tf.constant(w), tf.constant(kernel))
    return product.numpy(), convolution.numpy()


def test_operands_are_rounded_and_sums_are_not(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((64, 4)).astype(np.float32)
    w = generator.standard_normal((4, 5)).astype(np.float32)
    kernel = generator.standard_normal((3, 3, 4, 2)).astype(np.float32)
    plain = products(x, w, kernel)
    np.testing.assert_allclose(plain[0], x @ w, rtol=1e-5, atol=1e-5)
    monkeypatch.setenv("HPU_FP32_MATH", "bfloat16")
    fast = products(x, w, kernel)
    rewrites = [r for r in passes.recent_reports()[-1].rewrites if r.pass_name == "fp32_math"]
    assert sorted(rewrite.op for rewrite in rewrites) == ["Conv2D", "MatMul"]
    np.testing.assert_allclose(fast[0], rounded(x) @ rounded(w), rtol=1e-5, atol=1e-5)
    with tf.device("/device:CPU:0"):
        image = rounded(x).reshape(1, 8, 8, 4)
        expected = tf.nn.conv2d(tf.constant(image), tf.constant(rounded(kernel)), 1, "SAME").numpy()
    np.testing.assert_allclose(fast[1], expected, rtol=1e-5, atol=1e-5)
    for one, other in zip(fast, plain):
        assert np.abs(one - other).max() > 1e-4


def test_products_of_a_recurrent_layer(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The products are in the body of a loop, and in the body of its gradient."""
    generator = np.random.default_rng(1)
    x = generator.standard_normal((4, 6, 8)).astype(np.float32)
    layer = tf.keras.layers.LSTM(8)
    layer.build(x.shape)

    def results(device: str) -> list[np.ndarray]:
        @tf.function
        def recurrent(x: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                y = layer(x)
                loss = tf.reduce_sum(y * y)
            return [y, *tape.gradient(loss, layer.trainable_weights)]

        with tf.device(device):
            return [result.numpy() for result in recurrent(tf.constant(x))]

    expected = results("/device:CPU:0")
    plain = results(hpu)
    monkeypatch.setenv("HPU_FP32_MATH", "bfloat16")
    fast = results(hpu)
    rewrites = [r for r in passes.recent_reports()[-1].rewrites if r.pass_name == "fp32_math"]
    assert {rewrite.op for rewrite in rewrites} == {"MatMul"}
    functions = {rewrite.node.rpartition("/")[0] for rewrite in rewrites}
    assert any("while" in name for name in functions), rewrites
    for exact, own, rounded_products in zip(expected, plain, fast):
        scale = np.abs(exact).max()
        np.testing.assert_allclose(own, exact, atol=1e-5 * scale)
        np.testing.assert_allclose(rounded_products, exact, atol=3e-2 * scale)
        assert np.abs(rounded_products - exact).max() > 1e-4 * scale, "the operands were not rounded"


def test_conversion_and_rounding_of_the_rest(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """HPU_FP32_MATH does not affect ops that the conversion has changed to bfloat16."""
    monkeypatch.setenv("HPU_FP32_MATH", "bfloat16")
    monkeypatch.setenv("TF_BF16_CONVERSION", "basic")
    x = np.linspace(-1, 1, 256, dtype=np.float32).reshape(64, 4)
    products(x, x[:4].copy(), np.ones((3, 3, 4, 2), np.float32))
    rewrites = passes.recent_reports()[-1].rewrites
    assert {rewrite.pass_name for rewrite in rewrites} == {"bf16"}
