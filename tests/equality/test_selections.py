"""Selections by values (tf.where, tf.boolean_mask) in train steps: one launch, if no op needs the exact size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import assert_one_cluster
from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

ROWS = 6
Loss = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]  # of products of shape (rows, 4), and of x of the same shape


def positive(y: tf.Tensor) -> tf.Tensor:
    return tf.boolean_mask(y, y[:, 0] > 0.0)


def hard_examples(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    losses = tf.reduce_sum((x - y) ** 2, axis=1)
    return tf.reduce_mean(tf.boolean_mask(losses, losses > 0.5 * tf.reduce_mean(losses)))


def coordinates(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.gather_nd(y, tf.where(y * x > 0.0)) ** 2)


def scattered_back(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    indices = tf.where(y[:, 0] > 0.0)
    rows = tf.nn.relu(tf.gather_nd(y, indices))
    return tf.reduce_mean(tf.scatter_nd(indices, rows, tf.shape(y, out_type=tf.int64)) ** 2 + x)


def updated(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    indices = tf.where(y[:, 0] > 0.0)
    return tf.reduce_sum(tf.tensor_scatter_nd_update(y, indices, tf.gather_nd(x, indices) * 2.0) ** 2)


def counted(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    count = tf.shape(tf.where(y[:, 0] > 0.0))[0]
    return tf.reduce_sum(y * x) / tf.cast(1 + count, tf.float32)


def equal_masks(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    mask = y[:, 0] > 0.0
    return tf.keras.losses.Huber(reduction="sum")(tf.boolean_mask(x, mask), tf.boolean_mask(y, mask))


def joined(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.concat([positive(y), tf.boolean_mask(x * y, y[:, 1] > 0.0)], axis=0) ** 2)


def softmax(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    values = tf.boolean_mask(y[:, 0], y[:, 0] > 0.0)
    return tf.reduce_sum(tf.nn.softmax(values) * values) + tf.reduce_sum(x)


def flattened(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.reshape(positive(y), [-1]) ** 3) + tf.reduce_sum(x)


def arrays_of_the_size(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    rows = positive(y)
    count = tf.shape(rows)[0]
    noise = tf.random.stateless_uniform(tf.shape(rows), [1, 2])
    return tf.reduce_sum(rows * tf.fill([count, 4], 2.0) * noise + tf.cast(tf.range(count), tf.float32)[:, None])


def integer_condition(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.gather_nd(y * x, tf.where(tf.cast(y > 0.0, tf.int32))))


# The train step is one cluster, which computes with the largest possible size.
IN_CLUSTER: list[Loss] = [
    hard_examples,
    coordinates,
    scattered_back,
    updated,
    counted,
    equal_masks,
    joined,
    softmax,
    flattened,
    arrays_of_the_size,
    integer_condition,
]


def product(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.matmul(positive(y), x, transpose_b=True) ** 2)


def sorted_values(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.sort(tf.concat([positive(y)[:, 1], [0.1]], 0))[:1]) + tf.reduce_sum(x)


def checked_labels(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """The check of the labels' range runs before the cluster, so both selections do."""
    mask = y[:, 0] > 0.0
    labels = tf.boolean_mask(tf.argmax(x, axis=1), mask)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.boolean_mask(y, mask))
    return tf.reduce_sum(losses)


def equal_by_chance(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """XLA cannot prove that the sizes are equal."""
    return tf.reduce_sum(positive(y) * tf.boolean_mask(x, -y[:, 0] < 0.0))


def loop_over_rows(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    rows = positive(y)
    state = tf.reduce_mean(x, axis=0)
    for t in tf.range(tf.shape(rows)[0]):
        state = tf.tanh(state + rows[t])
    return tf.reduce_sum(state)


def of_a_branch(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.cond(tf.reduce_sum(y) > 0.0, lambda: positive(y), lambda: tf.identity(x)))


def in_a_loop(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.map_fn(lambda row: tf.reduce_sum(tf.boolean_mask(row, row > 0.0)), y * x))


OUTSIDE: list[Loss] = [
    product,
    sorted_values,
    checked_labels,
    equal_by_chance,
    loop_over_rows,
    of_a_branch,
    in_a_loop,
]


def batches() -> list[np.ndarray]:
    """Some, all and no rows are selected."""
    drawn = np.random.default_rng(2).standard_normal((4, ROWS, 4), dtype=np.float32)
    return [*drawn, np.ones((ROWS, 4), np.float32), -np.ones((ROWS, 4), np.float32)]


def train(loss: Loss, device: str, rows: int | None) -> list[list[np.ndarray]]:
    """Returns the loss and the gradient of each batch."""
    with tf.device(device):
        weights = tf.Variable(np.random.default_rng(1).uniform(0.1, 0.5, (4, 4)).astype(np.float32))

        @tf.function(input_signature=[tf.TensorSpec([rows, 4])])
        def selecting_step(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as tape:
                value = loss(x @ weights, x)
            gradient = tape.gradient(value, weights)
            weights.assign_sub(0.01 * gradient)
            return value, gradient

        return [[result.numpy() for result in selecting_step(batch)] for batch in batches()]


def assert_same(loss: Loss, rows: int | None) -> None:
    expected = train(loss, CPU, rows)
    statistics.reset()
    for one, other in zip(train(loss, HPU, rows), expected, strict=True):
        for actual, wanted in zip(one, other, strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [ROWS, None], ids=["fixed", "unknown"])
@pytest.mark.parametrize("loss", IN_CLUSTER)
def test_one_cluster(loss: Loss, rows: int | None) -> None:
    assert_same(loss, rows)
    assert_one_cluster("selecting_step", launches=len(batches()))


@pytest.mark.parametrize("rows", [ROWS, None], ids=["fixed", "unknown"])
@pytest.mark.parametrize("loss", OUTSIDE)
def test_selections_outside_clusters(loss: Loss, rows: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "forbid")
    assert_same(loss, rows)
    assert statistics.get().launched_clusters


def test_masks_longer_than_the_rows() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None], tf.bool)])
    def masked(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.boolean_mask(tf.tanh(x) * 2.0, mask))

    for device in (CPU, HPU):
        with tf.device(device):
            assert float(masked(tf.ones([3, 4]), tf.constant([True, False]))) == pytest.approx(8.0 * np.tanh(1.0))
            with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
                masked(tf.ones([2, 4]), tf.constant([True, False, True]))


@pytest.mark.parametrize("name", ["HPU:0", HPU, "/device:HPU:0"])
def test_loops_under_partial_device_names(name: str) -> None:
    """Checks of the loop's indices get the names that the program gave."""
    with tf.device(HPU):
        weights = tf.Variable(tf.ones([4, 4]))

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.device(name), tf.GradientTape() as tape:
            rows = x @ weights
            state = tf.zeros([4])
            for t in tf.range(tf.shape(rows)[0]):
                state = tf.tanh(state + rows[t])
            value = tf.reduce_sum(state)
        return tape.gradient(value, weights)

    assert np.isfinite(step(tf.ones([6, 4]))).all()
