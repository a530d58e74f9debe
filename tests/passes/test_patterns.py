"""Patterns: matches in TensorFlow's and Keras's graphs, with results equal to the unfused ops'."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.passes.pattern_cases import CASES, Case, keras
from tests.support.clusters import pattern_rewrites, report_of
from tests.support.compare import HPU, TOLERANCES, as_numpy, assert_close

pytestmark = pytest.mark.usefixtures("hpu")


def found(name_part: str) -> list[str]:
    """Returns the patterns in the latest graph of that name, sorted by name."""
    return sorted(rewrite.what.split(":")[0] for rewrite in pattern_rewrites(name_part))


def train_step(case: Case, dtype: tf.DType, batch: int | None) -> Any:
    """Returns a function of an input and a number that returns results, and gradients of input and variables."""
    layer = case.make(dtype)
    variables = getattr(layer, "trainable_variables", [])

    @tf.function(input_signature=[tf.TensorSpec((batch, *case.shape[1:]), dtype), tf.TensorSpec((), dtype)])
    def pattern_step(x: tf.Tensor, weight: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
            loss = tf.reduce_sum(y * tf.sin(y * weight))
        return y, tape.gradient(loss, [x, *variables])

    return pattern_step


def run(case: Case, dtype: tf.DType, batch: int | None, matcher: bool, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TF_ENABLE_PATTERN_MATCHER", str(int(matcher)))
    tf.keras.utils.set_random_seed(7)
    x = np.random.default_rng(1).standard_normal(case.shape, dtype=np.float32)
    with tf.device(HPU):
        return train_step(case, dtype, batch)(tf.cast(x, dtype), tf.cast(0.7, dtype))


# TensorFlow's vectorised convolutions lose explicit paddings, and fail on the CPU.
@pytest.mark.parametrize("case", [case for case in CASES if case.name != "explicit_conv"], ids=lambda case: case.name)
def test_a_jacobian(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The upstream gradient has one more dimension than the result of the forward op."""
    monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "forbid")

    def rows(matcher: bool) -> Any:
        monkeypatch.setenv("TF_ENABLE_PATTERN_MATCHER", str(int(matcher)))
        tf.keras.utils.set_random_seed(7)
        layer = case.make(tf.float32)

        @tf.function
        def jacobian(x: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                some = tf.reshape(tf.sin(layer(x)), [-1])[:3]
            return tape.jacobian(some, x)

        with tf.device(HPU):
            return jacobian(np.random.default_rng(1).standard_normal(case.shape, dtype=np.float32))

    assert_close(rows(matcher=True), rows(matcher=False), context=case.name)


@pytest.mark.parametrize("known", [True, False], ids=["batch", "any_batch"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_train_step(case: Case, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = case.shape[0] if known else None
    plain = run(case, tf.float32, batch, False, monkeypatch)
    assert found("pattern_step") == []
    got = run(case, tf.float32, batch, True, monkeypatch)
    expected = case.patterns if known or case.any_batch is None else case.any_batch
    assert found("pattern_step") == sorted(expected)
    assert_close(got, plain, context=case.name)


@pytest.mark.parametrize("batch", [4, None])
def test_weights_of_a_middle_axis(batch: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keras multiplies by the weights in another shape than the variables'."""
    make = keras(lambda dtype: tf.keras.layers.LayerNormalization(axis=1, epsilon=1e-6, dtype=dtype), (6, 16))
    case = Case("middle_axis", make, ("layer_norm", "layer_norm_grad"))
    plain = run(case, tf.float32, batch, False, monkeypatch)
    got = run(case, tf.float32, batch, True, monkeypatch)
    assert found("pattern_step") == sorted(case.patterns)
    assert_close(got, plain)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_in_bfloat16(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run(case, tf.bfloat16, case.shape[0], False, monkeypatch)
    got = run(case, tf.bfloat16, case.shape[0], True, monkeypatch)
    assert found("pattern_step") == sorted(case.patterns if case.in_bfloat16 is None else case.in_bfloat16)
    for one, other in zip(tf.nest.flatten(got), tf.nest.flatten(plain)):
        assert one.dtype == other.dtype
        # For sums with both signs, the rounding error is proportional to the largest number.
        limit = 2 * TOLERANCES["bfloat16"].atol * max(1.0, np.abs(as_numpy(other)).max())
        np.testing.assert_allclose(as_numpy(one), as_numpy(other), rtol=0, atol=limit)


def test_forward_and_backward_in_two_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backward graph uses values of the forward graph, which a fused op must not hide."""
    results = []
    for matcher in "01":
        monkeypatch.setenv("TF_ENABLE_PATTERN_MATCHER", matcher)
        with tf.device(HPU):
            layer = tf.keras.layers.LayerNormalization()
            forward = tf.function(lambda x, layer=layer: tf.nn.gelu(layer(x)))
            x = tf.reshape(tf.linspace(-1.0, 2.0, 96), [6, 16])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = forward(x)
                loss = tf.reduce_sum(tf.sin(y))
            results.append((y, tape.gradient(loss, [x, *layer.trainable_variables])))
    assert_close(results[1], results[0])


@pytest.mark.parametrize("reduce", [tf.reduce_max, tf.reduce_min])
def test_the_gradient_of_an_extremum_is_nan_where_the_extremum_is(reduce: Any) -> None:
    def gradient(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(reduce(x, axis=1) * tf.constant([1.0, 2.0, np.inf]))
        return tape.gradient(y, x)

    x = tf.constant([[1.0, np.nan, 2.0, 2.0], [3.0, 1.0, 3.0, 1.0], [2.0, 1.0, 0.0, 3.0]])
    with tf.device("/device:CPU:0"):
        expected = gradient(x)
    with tf.device(HPU):
        np.testing.assert_array_equal(tf.function(gradient)(x), expected)
    assert found("gradient") == ["max_grad" if reduce is tf.reduce_max else "min_grad"]


def test_the_matcher_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    run(CASES[0], tf.float32, None, False, monkeypatch)
    assert found("pattern_step") == []


def test_the_documentation_lists_the_table() -> None:
    root = pathlib.Path(__file__).resolve().parents[2]
    table = (root / "plugin" / "passes" / "patterns" / "pattern_table.cc").read_text()
    entries = re.findall(r'\n    \{"(\w+)", "([^"]+)"', table)
    rows = re.findall(
        r"^\| `(\w+)` \| ([^|]+) \|", (root / "docs" / "developer" / "patterns.md").read_text(), re.MULTILINE
    )
    assert rows == entries
    assert {name for case in CASES for name in case.patterns} == {name for name, _ in entries}


def test_precision_lists_apply_to_the_ops_inside_a_fused_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_BF16_CONVERSION", "full")
    case = next(case for case in CASES if case.name == "bias_relu")
    run(case, tf.float32, case.shape[0], True, monkeypatch)
    converted = {rewrite.op for rewrite in report_of("pattern_step").rewrites if rewrite.pass_name == "bf16"}
    assert {"MatMul", "HabanaBiasAddActivation"} <= converted
