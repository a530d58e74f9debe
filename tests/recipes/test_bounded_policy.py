"""The default mode compiles a bounded recipe in the background once the sizes of its range have run long enough."""

from __future__ import annotations

import time

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU, assert_close

FEATURES = 256
SIZES = range(257, 385)
"""One bucket."""


@tf.function(input_signature=[tf.TensorSpec([None, FEATURES])])
def products(x: tf.Tensor) -> tf.Tensor:
    for _ in range(20):
        x = tf.nn.tanh(x @ tf.transpose(x) @ x / 256.0)
    return tf.reduce_mean(x, 0)


def value(size: int) -> tf.Tensor:
    return tf.random.stateless_normal([size, FEATURES], [1, size]) / 16.0


def check(size: int) -> None:
    with tf.device(CPU):
        expected = products(value(size))
    with tf.device(HPU):
        assert_close(products(tf.identity(value(size))), expected, context=f"{size} rows,")


@pytest.mark.cpu_fallback
def test_a_bounded_recipe_after_the_time_of_a_compile(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_COMPILE_MODE", "auto")
    statistics.reset()
    check(100)  # the first size compiles at once
    assert statistics.get().launches == 1
    remaining = list(SIZES)
    deadline = time.monotonic() + 120
    while statistics.get().launches == 1 and time.monotonic() < deadline:
        check(remaining.pop(0) if len(remaining) > 10 else SIZES[0])
    counts = statistics.get()
    reasons = {reason for cluster in counts.clusters for reason in cluster.fallback_reasons}
    assert reasons <= {"new-shape", "compiling"} and "new-shape" in reasons
    launches, fallbacks = counts.launches, counts.fallbacks
    for size in remaining[-3:]:  # with the first launch, these are the trials of the recipe
        check(size)
    counts = statistics.get()
    assert (counts.launches, counts.fallbacks) == (launches + 3, fallbacks)
    for size in remaining[:5]:
        check(size)
    reasons = {reason for cluster in statistics.clusters() for reason in cluster.fallback_reasons}
    assert reasons <= {"new-shape", "compiling", "faster-on-cpu"}
    assert sum(cluster.recipes for cluster in statistics.clusters()) == 2
