"""Variants that contain strings go to the HPU and back: the strings stay in host memory."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

WORDS = [[b"some", b"words"], [b"three", b"more", b"here"]]


def test_predict_under_a_strategy() -> None:
    ragged = tf.ragged.constant(WORDS)
    with tf.distribute.OneDeviceStrategy("/device:HPU:0").scope():
        inputs = tf.keras.Input([None], dtype=tf.string, ragged=True)
        model = tf.keras.Model(inputs, tf.keras.layers.Lambda(lambda words: words)(inputs))
    assert model.predict(ragged, verbose=0).to_list() == WORDS


def test_training_under_a_strategy() -> None:
    ragged, labels = tf.ragged.constant(WORDS), tf.constant([[1.0], [2.0]])

    def losses(strategy: tf.distribute.Strategy) -> list[float]:
        with strategy.scope():
            words = tf.keras.Input([None], dtype=tf.string, ragged=True)
            letters = tf.keras.layers.Lambda(
                lambda t: tf.reduce_sum(
                    tf.cast(tf.ragged.map_flat_values(tf.strings.length, t), tf.float32), 1, keepdims=True
                )
            )(words)
            model = tf.keras.Model(words, tf.keras.layers.Dense(1, kernel_initializer="ones")(letters))
            model.compile(tf.keras.optimizers.SGD(0.001), "mse")
        history: list[float] = model.fit(ragged, labels, epochs=3, verbose=0).history["loss"]
        return history

    expected = losses(tf.distribute.OneDeviceStrategy(CPU))
    assert losses(tf.distribute.OneDeviceStrategy("/device:HPU:0")) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("content", ["list", "ragged", "optional", "list in an optional"])
def test_copies(content: str, graph: bool) -> None:
    words = tf.constant([b"a", b"b"])

    def make() -> tf.Tensor:
        if content == "ragged":
            return tf.raw_ops.RaggedTensorToVariant(
                rt_nested_splits=[tf.constant([0, 2], tf.int64)], rt_dense_values=words, batched_input=False
            )
        if content == "optional":
            return tf.raw_ops.OptionalFromValue(components=[words])
        handle = tf.raw_ops.TensorListFromTensor(tensor=words, element_shape=tf.zeros([0], tf.int32))
        return handle if content == "list" else tf.raw_ops.OptionalFromValue(components=[handle])

    def look(variant: tf.Tensor) -> tf.Tensor:
        if content == "ragged":
            return tf.raw_ops.RaggedTensorFromVariant(
                encoded_ragged=variant, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.string
            )[1]
        if content == "optional":
            return tf.raw_ops.OptionalGetValue(optional=variant, output_types=[tf.string], output_shapes=[[2]])[0]
        if content == "list in an optional":
            [variant] = tf.raw_ops.OptionalGetValue(optional=variant, output_types=[tf.variant], output_shapes=[[]])
        return tf.raw_ops.TensorListStack(
            input_handle=variant, element_shape=tf.zeros([0], tf.int32), element_dtype=tf.string
        )

    def there_and_back() -> tf.Tensor:
        with tf.device(CPU):
            variant = make()
        with tf.device(HPU):
            variant = tf.identity(variant)
        with tf.device(CPU):
            return look(tf.identity(variant))

    result = tf.function(there_and_back, autograph=False)() if graph else there_and_back()
    assert result.numpy().tolist() == [b"a", b"b"]
