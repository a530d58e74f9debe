"""Programs of changing sizes for test_bounded_recipes.py, which runs them with several contents of unwritten memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from tests.support.compare import CPU, HPU, assert_close

FEATURES = 8
PAIRS = [(16, 10), (17, 12), (20, 9), (24, 11), (18, 10)]
"""Batch and length of each call. All but the first are in one bucket."""

weights = np.random.RandomState(1).normal(size=[FEATURES, FEATURES]).astype(np.float32) / 3


def attention(x: tf.Tensor) -> tf.Tensor:
    length = tf.shape(x)[1]
    mask = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
    scores = tf.matmul(x @ weights, x, transpose_b=True) * mask - 1e9 * (1.0 - mask)
    return tf.nn.softmax(scores) @ x


def recurrence(x: tf.Tensor) -> tf.Tensor:
    state = tf.zeros([tf.shape(x)[0], FEATURES])
    for t in tf.range(tf.shape(x)[1]):
        state = tf.nn.tanh(state @ weights + x[:, t])
    return state


def scanned(x: tf.Tensor) -> tf.Tensor:
    return tf.scan(lambda state, row: tf.nn.tanh(state @ weights + row), tf.transpose(x, [1, 0, 2]))


def mapped(x: tf.Tensor) -> tf.Tensor:
    """The inner loop's results are elements of the outer loop's list."""
    return tf.map_fn(lambda row: tf.reduce_sum(scanned(x * row[0, 0]), 0), x[:3])


def decoder(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Attention over all steps. Both dimensions of the list's elements change."""
    length, state = tf.shape(x)[1], tf.reduce_mean(x, 1)
    scores = tf.TensorArray(tf.float32, length)
    for t in tf.range(length):
        score = tf.nn.softmax(0.1 * tf.einsum("bd,btd->bt", state, x))
        state = 0.5 * tf.nn.tanh(state @ weights + tf.einsum("bt,btd->bd", score, x) + x[:, t])
        scores = scores.write(t, score)
    return scores.stack(), state


def list_of_zeros(x: tf.Tensor) -> tf.Tensor:
    length, batch = tf.shape(x)[1], tf.shape(x)[0]
    empty = tf.raw_ops.TensorListReserve(element_shape=[batch, 2], num_elements=length, element_dtype=tf.float32)
    return 1.0 + tf.raw_ops.TensorListStack(input_handle=empty, element_shape=[-1, 2], element_dtype=tf.float32)


def branch(x: tf.Tensor) -> tf.Tensor:
    if tf.reduce_sum(x) > 0.0:
        return x * 2.0
    return x - 1.0


def statistics_of(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
    mean, variance = tf.nn.moments(x, [0, 1])
    largest = tf.math.top_k(tf.transpose(x, [0, 2, 1]), 3).values
    return mean, variance, largest, tf.sort(x, 1), tf.argmin(x, 1), tf.reduce_prod(x, 1), tf.math.reduce_std(x, 0)


def shapes(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
    batch, length = tf.shape(x)[0], tf.shape(x)[1]
    return (
        tf.concat([x, x[:, :2]], 1),
        tf.reshape(x, [batch * length, FEATURES]) @ weights,
        tf.pad(x, [[0, 0], [1, 2], [0, 0]]),
        tf.tile(x, [1, 2, 1]),
        tf.cumsum(x, 1, reverse=True),
        tf.sequence_mask(tf.range(batch), length),
        x[:, -1],
        tf.size(x),
    )


def selected_rows(x: tf.Tensor) -> tf.Tensor:
    return tf.compat.v1.where(tf.reduce_sum(x, [1, 2]) > 0.0, x[:, 0], tf.nn.tanh(x[:, -1] @ weights))


def segments(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
    ids = tf.range(tf.shape(x)[0]) % 5
    return tf.math.unsorted_segment_mean(x[:, 0], ids, 5), tf.gather(x, ids) + 1.0


def own_mask(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """A maximum over some elements only; other results read all of them."""
    first = tf.range(tf.shape(x)[1])[:, None] < tf.shape(x)[1] - 2
    return tf.reduce_max(tf.where(first, x, tf.float32.min), 1), tf.reduce_sum(x, 1), x[:, -1] * 2.0


def noise(x: tf.Tensor) -> tf.Tensor:
    return x + tf.random.stateless_uniform(tf.shape(x), [1, 2])


FUNCTIONS: list[Callable[[tf.Tensor], Any]] = [
    attention, recurrence, scanned, mapped, decoder, list_of_zeros, branch, statistics_of, shapes,
    selected_rows, segments, own_mask, noise,
]  # fmt: skip


def gradient_of(function: Callable[[tf.Tensor], Any]) -> Callable[[tf.Tensor], Any]:
    def compute(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.add_n([tf.reduce_mean(result**2) for result in tf.nest.flatten(function(x))])
        return tape.gradient(loss, x)

    return compute


def normalised_maximum() -> tf.keras.Model:
    layers = tf.keras.layers
    inputs = tf.keras.Input([None, FEATURES])
    hidden = layers.LayerNormalization()(inputs + layers.Dense(FEATURES, "gelu")(inputs))
    return tf.keras.Model(inputs, layers.Dense(4)(layers.GlobalMaxPooling1D()(hidden)))


def attention_block() -> tf.keras.Model:
    layers = tf.keras.layers
    inputs = tf.keras.Input([None, FEATURES])
    hidden = layers.BatchNormalization()(inputs + layers.MultiHeadAttention(2, 4)(inputs, inputs))
    return tf.keras.Model(inputs, layers.Dense(4)(layers.GlobalAveragePooling1D()(hidden)))


def masked_lstms() -> tf.keras.Model:
    layers = tf.keras.layers
    inputs = tf.keras.Input([None, FEATURES])
    hidden = layers.Masking()(layers.ReLU()(inputs - 1.0))
    return tf.keras.Model(inputs, layers.Dense(4)(layers.LSTM(6)(layers.LSTM(6, return_sequences=True)(hidden))))


def recurrent_directions() -> tf.keras.Model:
    layers = tf.keras.layers
    inputs = tf.keras.Input([None, FEATURES])
    both = layers.Bidirectional(layers.GRU(5, return_sequences=True))(inputs)
    last = layers.SimpleRNN(5, go_backwards=True, return_sequences=True)(both)
    return tf.keras.Model(inputs, layers.Dense(4)(layers.GlobalAveragePooling1D()(last)))


def translation() -> tf.keras.Model:
    layers = tf.keras.layers
    inputs = tf.keras.Input([None, FEATURES])
    encoded, state = layers.GRU(8, return_sequences=True, return_state=True)(inputs)
    decoded = layers.LSTM(8, return_sequences=True)(inputs[:, 1:], initial_state=[state, state])
    hidden = layers.Attention()([decoded, encoded])
    return tf.keras.Model(inputs, layers.Dense(4)(layers.GlobalMaxPooling1D()(hidden)))


MODELS: list[Callable[[], tf.keras.Model]] = [
    normalised_maximum, attention_block, masked_lstms, recurrent_directions, translation,
]  # fmt: skip


def values(batch: int, length: int) -> tuple[tf.Tensor, tf.Tensor]:
    random = np.random.RandomState(100 * batch + length)
    x, y = random.normal(size=[batch, length, FEATURES]), random.normal(size=[batch, 4])
    return tf.constant(x, tf.float32), tf.constant(y, tf.float32)


def check_recipes(name: str) -> None:
    clusters = [cluster for cluster in statistics.get().clusters if cluster.launches or cluster.fallbacks]
    assert clusters, f"{name} had no cluster"
    for cluster in clusters:
        assert cluster.launches == len(PAIRS) and cluster.recipes <= 2, f"{name}: {cluster}"


def compare_function(function: Callable[[tf.Tensor], Any], name: str) -> None:
    statistics.reset()
    graph = tf.function(function, input_signature=[tf.TensorSpec([None, None, FEATURES])])
    for pair in PAIRS:
        with tf.device(CPU):
            expected = graph(values(*pair)[0])
        with tf.device(HPU):
            actual = graph(values(*pair)[0])
        assert_close(actual, expected, context=f"{name}, {pair},")
    check_recipes(name)


def train(make: Callable[[], tf.keras.Model], pairs: list[tuple[int, int]]) -> tuple[list[float], list[np.ndarray]]:
    """Returns the losses of a step for each batch and length, and the weights after all steps."""
    tf.keras.utils.set_random_seed(1)
    model = make()
    optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
    optimizer.build(model.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec([None, None, FEATURES]), tf.TensorSpec([None, 4])])
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    losses = [float(step(*values(*pair))) for pair in pairs]
    return losses, [variable.numpy() for variable in model.trainable_variables]


def compare_training(make: Callable[[], tf.keras.Model], pairs: list[tuple[int, int]]) -> None:
    results = []
    for device in (CPU, HPU):
        statistics.reset()
        with tf.device(device):
            results.append(train(make, pairs))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-4, err_msg=make.__name__)
    for weight, expected in zip(results[1][1], results[0][1]):
        np.testing.assert_allclose(weight, expected, rtol=1e-3, atol=1e-4, err_msg=make.__name__)


def main() -> None:
    load_habana_module()
    for function in FUNCTIONS:
        compare_function(function, function.__name__)
    for function in [attention, branch, recurrence]:
        compare_function(gradient_of(function), f"the gradient of {function.__name__}")
    for model in MODELS:
        compare_training(model, PAIRS)
        check_recipes(model.__name__)
