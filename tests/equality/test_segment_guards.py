"""Segment operations with a computed number of segments in steps that update variables: no crash, no fallback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_launched
from tests.support.compare import CPU, HPU, assert_close

Step = Callable[..., tf.Tensor]
VECTOR = tf.TensorSpec([None])
IDS = tf.TensorSpec([None], tf.int32)


def segments(name: str) -> Callable[[tf.Variable], Step]:
    def build(v: tf.Variable) -> Step:
        @tf.function(input_signature=[VECTOR, IDS])
        def step(x: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
            v.assign_add(tf.reduce_sum(getattr(tf.math, f"unsorted_segment_{name}")(x * v, ids, tf.shape(x)[0])))
            return v.read_value()

        return step

    return build


def ragged(v: tf.Variable) -> Step:
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None])])
    def step(x: tf.RaggedTensor) -> tf.Tensor:
        v.assign_add(tf.reduce_sum(tf.reduce_mean(x * v, axis=1) + tf.reduce_max(x, axis=1)))
        return v.read_value()

    return step


def gathered(v: tf.Variable) -> Step:
    @tf.function(input_signature=[VECTOR, IDS])
    def step(x: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(x * v, ids))
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return v.read_value()

    return step


def masked(v: tf.Variable) -> Step:
    @tf.function(input_signature=[VECTOR])
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.boolean_mask(x * v, x > 1.0) ** 2)
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return v.read_value()

    return step


NUMBERS, CHOSEN = np.array([1, 2, 3], np.float32), np.array([0, 2, 0], np.int32)
MORE, OTHERS = np.array([4, -1, 0.5, 2], np.float32), np.array([3, 3, 1, -1], np.int32)
PROGRAMS: dict[str, tuple[Callable[[tf.Variable], Step], list[tuple[Any, ...]]]] = {
    **{name: (segments(name), [(NUMBERS, CHOSEN), (MORE, OTHERS)]) for name in ("sum", "prod", "max", "min", "mean")},
    "ragged": (ragged, [([[1.0, 2.0], [3.0, 4.0, 5.0]],), ([[1.0], [2.0, 7.0], [0.5]],)]),
    "gathered": (gathered, [(NUMBERS, CHOSEN), (MORE, OTHERS[:3])]),
    "masked": (masked, [(NUMBERS,), (MORE,)]),
}


def tensor(value: Any) -> Any:
    return tf.ragged.constant(value) if isinstance(value, list) else tf.constant(value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_updates_by_results_of_segment_operations(name: str) -> None:
    build, batches = PROGRAMS[name]
    results: dict[str, list[tf.Tensor]] = {CPU: [], HPU: []}
    for device, values in results.items():
        with tf.device(device):
            step = build(tf.Variable(0.5))
            values.extend(step(*map(tensor, batch)) for batch in batches)
    assert_close(results[HPU], results[CPU])
    assert_launched()


@pytest.mark.parametrize("name", ["sum", "max"])
def test_an_id_outside_of_the_segments_keeps_the_variable(name: str) -> None:
    with tf.device(HPU):
        v = tf.Variable(0.5)
        step = segments(name)(v)
        before = step(tf.constant(NUMBERS), tf.constant(CHOSEN)).numpy()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"segment_ids\[1\] = 3 is out of range \[0, 3\)"):
            step(tf.constant(NUMBERS), tf.constant([0, 3, 0])).numpy()
        assert v.numpy() == before
    assert_launched()


def test_pairs_of_a_batch() -> None:
    """Triplet mining, as in libraries of metric learning: pairs of examples, whose number depends on the labels."""

    def losses(device: str) -> list[np.ndarray[Any, Any]]:
        with tf.device(device):
            w = tf.Variable(tf.random.stateless_normal([6, 4], [1, 2]))

            @tf.function(input_signature=[tf.TensorSpec([None, 6]), tf.TensorSpec([None], tf.int64)])
            def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
                with tf.GradientTape() as tape:
                    e = x @ w
                    distance = e @ tf.transpose(e)
                    hardest = tf.reduce_min(distance, 1)
                    positive = tf.where(y[:, None] == y[None])
                    loss = tf.reduce_sum(tf.gather_nd(distance, positive) - tf.gather(hardest, positive[:, 0]))
                w.assign_sub(0.001 * tape.gradient(loss, w))
                return loss

            generator = np.random.default_rng(0)
            batches = [(generator.standard_normal((12, 6)), generator.integers(0, 4, 12)) for _ in range(3)]
            return [*(step(tf.constant(x, tf.float32), tf.constant(y)).numpy() for x, y in batches), w.numpy()]

    for actual, expected in zip(losses(HPU), losses(CPU)):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)
    assert_launched()
