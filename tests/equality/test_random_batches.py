"""Random ops with sizes known only at run time. The generator's state advances by the actual size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_launched, report_of
from tests.support.compare import CPU, HPU, as_numpy

tf1 = tf.compat.v1

CLASSES = 9
TABLE = tf.TensorSpec([None, CLASSES])
ANY = tf.TensorSpec([None, None])


def table(rows: int, columns: int = CLASSES) -> np.ndarray:
    return np.random.default_rng((rows, columns)).standard_normal((rows, columns), dtype=np.float32)


def expect_as_cpu(
    draw: Callable[..., Sequence[tf.Tensor]], signature: Sequence[tf.TensorSpec], calls: Sequence[Sequence[np.ndarray]]
) -> list[list[np.ndarray]]:
    """Compares successive calls on CPU and HPU, and returns the HPU's results."""
    drawn = {}
    for device in (CPU, HPU):
        tf.random.set_seed(5)
        function = tf.function(draw, input_signature=signature)
        with tf.device(device):
            drawn[device] = [[as_numpy(result) for result in function(*map(tf.constant, call))] for call in calls]
    assert_launched()
    for actual, expected in zip(drawn[HPU], drawn[CPU]):
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    return drawn[HPU]


@pytest.mark.parametrize("rows", [(2, 5), (5, 2), (0, 5), (5, 0), (5, 5)], ids=str)
def test_unrelated_batches_stay_separate(rows: tuple[int, int]) -> None:
    def draw(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        return [
            operation(tf.abs(batch) * 2, seed=i)
            for i, batch in enumerate((x, y), 1)
            for operation in (lambda logits, seed: tf.random.categorical(logits, 3, seed=seed), tf.random.shuffle)
        ]

    call = [table(count) for count in rows]
    first, second = expect_as_cpu(draw, [TABLE, TABLE], [call, call])
    for result, again, count in zip(first, second, (rows[0], rows[0], rows[1], rows[1])):
        assert len(result) == count
        assert count < 5 or not np.array_equal(result, again)


@pytest.mark.parametrize("rows", [(4, 4), (1, 6), (6, 1)], ids=str)
def test_combined_batches_are_one(rows: tuple[int, int]) -> None:
    def draw(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        both = x * 2 + y
        return [
            tf.random.shuffle(both, seed=1),
            tf.random.shuffle(x, seed=2),
            tf.random.categorical(both, 3, seed=3),
            tf.random.shuffle(x * tf.reduce_max(both), seed=4),
        ]

    call = [table(count) for count in rows]
    expect_as_cpu(draw, [TABLE, TABLE], [call, call])


def test_batches_joined_side_by_side_or_one_after_the_other() -> None:
    def draw(x: tf.Tensor, y: tf.Tensor, z: tf.Tensor) -> list[tf.Tensor]:
        beside = tf.concat([x * 2, y], 1)
        return [tf.random.shuffle(beside, seed=1), tf.random.shuffle(tf.concat([beside[:, :CLASSES], z], 0), seed=2)]

    call = [table(4), table(4), table(3)]
    expect_as_cpu(draw, [TABLE, TABLE, TABLE], [call, call])


@pytest.mark.parametrize("rows", [(8, 5), (5, 8)], ids=str)
def test_the_size_of_one_limits_the_other(rows: tuple[int, int]) -> None:
    def draw(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        most = tf.maximum(tf.shape(x)[0], tf.shape(y)[0])
        padded = tf.pad(x, [[0, most - tf.shape(x)[0]], [0, 0]])
        return [tf.random.shuffle(x[: tf.shape(y)[0]], seed=1), tf.random.shuffle(padded, seed=2)]

    call = [table(count) for count in rows]
    expect_as_cpu(draw, [TABLE, TABLE], [call, call])


def test_batches_in_an_op_that_refuses_other_dimensions() -> None:
    def draw(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        return [tf.random.shuffle(x * tf.sign(tf.nn.l2_loss(tf.matmul(x, y))), seed=1)]

    expect_as_cpu(draw, [ANY, ANY], [[table(3, 8), table(8, 4)]] * 2)


def test_limits_of_later_inputs_are_no_sizes() -> None:
    def draw(*tables: tf.Tensor) -> list[tf.Tensor]:
        return [tf.random.shuffle(one[: i + 1] * 2, seed=i + 1) for i, one in enumerate(tables)]

    expect_as_cpu(draw, [ANY] * 9, [[table(3, 2)] * 9] * 2)


def test_limits_are_no_bounds_of_indices() -> None:
    @tf.function(input_signature=[TABLE])
    def second(x: tf.Tensor) -> tf.Tensor:
        return tf.gather(x[:2] * 2, [1])

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3])])
    def row(images: tf.Tensor) -> tf.Tensor:
        filtered = tf.nn.conv2d(images, tf.ones([7, 7, 3, 1]), 1, "VALID")
        return tf.gather(filtered[:, :100], [60], axis=1)

    with tf.device(HPU):
        np.testing.assert_array_equal(second(tf.constant(table(3))), table(3)[1:2] * 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
            as_numpy(second(tf.constant(table(1))))
        assert row(tf.zeros([1, 80, 9, 3])).shape == (1, 1, 3, 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
            as_numpy(row(tf.zeros([1, 50, 9, 3])))


@pytest.mark.parametrize(
    "part",
    [
        lambda x: x[:, :2],
        lambda x: x[:, ::400],
        lambda x: x[:, :100],
        lambda x: x[:, : tf.minimum(tf.shape(x)[1], 40)],
        lambda x: x[:, :2000],
        lambda x: x[:100],
        lambda x: tf.reshape(x, [-1, 10]),
    ],
    ids=["two columns", "steps", "first columns", "at most", "many columns", "first rows", "reshaped"],
)
@pytest.mark.parametrize("shape", [(3, 2100), (4, 50), (120, 20)], ids=str)
def test_parts_whose_size_is_limited(part: Callable[[tf.Tensor], tf.Tensor], shape: tuple[int, int]) -> None:
    def draw(x: tf.Tensor) -> list[tf.Tensor]:
        logits = part(tf.abs(x))
        # Few rows: the CPU kernel distributes more rows over threads, which draw some numbers twice.
        return [tf.random.shuffle(logits, seed=1), tf.random.stateless_categorical(logits[:1], 5, (1, 2))]

    expect_as_cpu(draw, [ANY], [[table(*shape)]] * 2)


def test_many_classes_are_drawn_as_by_the_cpu() -> None:
    def draw(x: tf.Tensor) -> list[tf.Tensor]:
        return [tf.random.stateless_categorical(x * 3, 4000, (1, 2))]

    drawn = expect_as_cpu(draw, [tf.TensorSpec([1, 20000])], [[table(1, 20000)]])
    assert len(np.unique(drawn[0][0])) > 500


def test_of_no_class_is_an_error() -> None:
    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError):
        as_numpy(tf.function(tf.random.categorical)(tf.zeros([3, 0]), 2))


def test_fetched_values_are_not_recomputed() -> None:
    def fetched() -> list[Any]:
        x = tf1.placeholder(tf.float32, TABLE.shape)
        ops = [
            tf.random.categorical(x * 2, 3, seed=1),
            tf.random.uniform(tf.shape(x), seed=2),
            tf.random.shuffle(x, seed=3),
            tf.random.uniform(tf.shape(x), seed=4),
            tf.random.categorical(x * 3, 3, seed=5),
        ]
        with tf1.Session() as session:
            feed = {x: table(5)}
            return [session.run(fetches, feed) for fetches in (ops[4], ops[3], [ops[2]], ops[1:], ops, ops[2:])]

    results = []
    for device in (CPU, HPU):
        with tf.Graph().as_default(), tf.device(device):
            results.append(tf.nest.flatten(fetched()))
    for actual, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_dropout_of_flattened_images_keeps_one_cluster() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 8])])
    def flattened(images: tf.Tensor) -> tf.Tensor:
        sizes = tf.shape(images)
        places = tf.reshape(tf.nn.relu(images), [sizes[0], sizes[1] * sizes[2], 8])
        return tf.nn.dropout(tf.reduce_mean(places, 1), 0.5) * 2

    with tf.device(HPU):
        flattened(tf.ones([2, 5, 6, 8]))
    assert len(report_of("flattened").clusters) == 1


def test_dropout_behind_two_inputs_keeps_one_cluster() -> None:
    @tf.function(input_signature=[TABLE, tf.TensorSpec([None, 4])])
    def two_inputs(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        both = tf.concat([tf.nn.relu(x), tf.tanh(y)], 1)
        return tf.nn.dropout(both * 2, 0.5) + tf.nn.dropout(both, 0.25)

    with tf.device(HPU):
        two_inputs(tf.constant(table(5)), tf.constant(table(5, 4)))
    assert len(report_of("two_inputs").clusters) == 1
