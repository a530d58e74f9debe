"""Unknown, changing and empty shapes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import assert_launched
from tests.support.compare import CPU, HPU, assert_close, assert_same_graph
from tests.support.keras_package import BATCH_FUNCTION

Array = npt.NDArray[np.float32]
SIZES = [4, 7, 1, 8, 4, 7, 3]


def batch(rows: int, width: int = 6) -> Array:
    return np.random.default_rng(rows).standard_normal((rows, width), dtype=np.float32)


def build(device: str) -> tf.keras.Model:
    with tf.device(device):
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(8, "relu", input_shape=(6,)), tf.keras.layers.Dropout(0.0), tf.keras.layers.Dense(3)]
        )
        model.compile(
            tf.keras.optimizers.Adam(0.01),
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    return model


def pair() -> dict[str, tf.keras.Model]:
    models = {device: build(device) for device in (CPU, HPU)}
    models[HPU].set_weights(models[CPU].get_weights())
    return models


def test_a_batch_size_that_changes_each_step() -> None:
    losses = {}
    for device, model in pair().items():
        with tf.device(device):
            losses[device] = [model.train_on_batch(batch(n), np.arange(n) % 3)[0] for n in SIZES]
    np.testing.assert_allclose(losses[HPU], losses[CPU], rtol=1e-5)
    # Keras retraces the step until the batch size is dynamic. Each trace has its own cluster.
    clusters = statistics.get().launched_clusters
    assert {cluster.name for cluster in clusters} == {f"habana_cluster_{BATCH_FUNCTION}_0"}
    assert sum(cluster.launches for cluster in clusters) == len(SIZES)
    assert len(set(SIZES)) <= sum(cluster.recipes for cluster in clusters) < len(SIZES)
    assert statistics.get().fallbacks == 0


def test_a_last_partial_batch() -> None:
    histories, predictions, evaluations = {}, {}, {}
    x, y = batch(22), np.arange(22) % 3
    for device, model in pair().items():
        with tf.device(device):
            histories[device] = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0).history
            predictions[device] = model.predict(x, batch_size=8, verbose=0)
            evaluations[device] = model.evaluate(x, y, batch_size=8, verbose=0)
    for name in histories[CPU]:
        np.testing.assert_allclose(histories[HPU][name], histories[CPU][name], rtol=1e-5)
    assert_close(predictions[HPU], predictions[CPU])
    np.testing.assert_allclose(evaluations[HPU], evaluations[CPU], rtol=1e-5)
    assert_launched()


def dense(x: tf.Tensor, w: tf.Tensor) -> tuple[tf.Tensor, ...]:
    y = tf.nn.relu(x @ w)
    rows = tf.shape(y)[0]
    return y, tf.reduce_sum(y, 0), tf.reshape(y, [rows, 2, -1]), tf.concat([y, y], 0), tf.ones([rows, 2]) * 3.0, rows


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("known", [True, False])
def test_zero_and_more_rows(rows: int, known: bool) -> None:
    signature = None if known else [tf.TensorSpec([None, 6]), tf.TensorSpec([6, None])]
    assert_same_graph(dense, batch(rows), batch(6, 4), signature=signature)


def test_zero_rows_through_a_model() -> None:
    outputs = {}
    for device, model in pair().items():
        with tf.device(device):
            outputs[device] = tf.function(model)(tf.constant(batch(0)), training=False)
    assert outputs[HPU].shape == (0, 3)
    assert_close(outputs[HPU], outputs[CPU])


def test_unknown_rank() -> None:
    def flatten(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        flat = tf.reshape(x, [-1]) * 2.0
        return tf.sin(flat), tf.reduce_sum(flat), tf.shape(x), tf.size(x), tf.rank(x)

    for shape in ((), (3,), (2, 3), (2, 0, 3), (1, 2, 3, 4)):
        assert_same_graph(
            flatten, np.ones(shape, np.float32), signature=[tf.TensorSpec(None, tf.float32)], clusters=False
        )
    assert_launched()


def test_shapes_computed_from_shapes() -> None:
    def windows(x: tf.Tensor, n: tf.Tensor) -> tuple[tf.Tensor, ...]:
        rows, width = tf.unstack(tf.shape(x))
        padded = tf.pad(x, [[0, n], [0, 0]])
        indices = tf.range(rows)[:, None] + tf.range(n)[None]
        taken = tf.gather(padded, indices)
        return taken, tf.broadcast_to(tf.reduce_mean(taken), [rows, width]), tf.split(x, [1, rows - 1])[1], x[: n + 1]

    for rows, n in ((4, 2), (5, 2), (5, 3)):
        assert_same_graph(
            windows,
            batch(rows),
            np.array(n, np.int32),
            signature=[tf.TensorSpec([None, 6]), tf.TensorSpec([], tf.int32)],
        )


def test_results_whose_size_is_data() -> None:
    def select(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        y = x * 2.0
        picked = tf.boolean_mask(y, y[:, 0] > 0)
        unique, index = tf.unique(tf.cast(y[:, 1] > 0, tf.int32))
        return tf.sin(picked), tf.where(y > 1), unique, index, tf.reduce_sum(picked)

    for rows in (1, 6, 9):
        assert_same_graph(select, batch(rows), clusters=False)
