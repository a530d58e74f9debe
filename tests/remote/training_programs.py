"""Programs for test_training.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import habana_device, load_habana_module, statistics
from tests.support.digits import load_digits
from tests.support.keras_package import TRAIN_FUNCTION


def train(backend: str) -> None:
    """Prints every loss and the final weights exactly."""
    load_habana_module()
    tf.keras.utils.set_random_seed(7)
    digits = load_digits()
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(8, 3, padding="same", input_shape=(8, 8, 1)),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.ReLU(),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(10),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(2e-3), loss, metrics=["accuracy"])
    history = model.fit(digits.train_images, digits.train_labels, batch_size=64, epochs=2, shuffle=False, verbose=0)
    print(*(float(value).hex() for value in history.history["loss"]))
    for weight in model.get_weights():
        print(weight.tobytes().hex())
    counts = statistics.get()
    assert counts.fallbacks == 0
    assert sum(cluster.launches for cluster in counts.launched_clusters if TRAIN_FUNCTION in cluster.name) >= 40
    assert habana_device.info()["backend"] == backend


def cached_recipe() -> None:
    """Prints a result, and the number of compiled recipes."""
    load_habana_module()

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.nn.softmax(x @ x))

    with tf.device("HPU:0"):
        print(float(step(tf.reshape(tf.range(64.0), [8, 8]))).hex())
    print(statistics.recipes().compiled)


def sizes_that_change() -> None:
    """Prints gradients of images of several sizes, which share a recipe. XLA evaluates the windows at its compile."""
    load_habana_module()

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3])])
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.square(tf.nn.avg_pool2d(x, 3, 2, "SAME")))
        return tape.gradient(loss, x)

    for size in (5, 9, 10, 12):
        print(step(tf.random.stateless_normal([2, size, size + 1, 3], [1, size])).numpy().tobytes().hex())
    counts = statistics.get()
    assert counts.fallbacks == 0
    assert counts.cluster("step").padded_launches == 3
