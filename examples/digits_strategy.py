"""Trains on handwritten digits with HPUStrategy, one worker per HPU: hpu run -np 2 examples/digits_strategy.py"""

from __future__ import annotations

import tensorflow as tf

import digits
from habana_frameworks.tensorflow import load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy

EPOCHS = 8
BATCH = 64  # of all workers together


def batches(images: digits.Array, labels: object, size: int) -> tf.data.Dataset:
    """Global batches; the strategy splits each batch among the workers."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return tf.data.Dataset.from_tensor_slices((images, labels)).batch(size, drop_remainder=True).with_options(options)


def main() -> None:
    load_habana_module()
    strategy = HPUStrategy()  # before the first operation
    tf.keras.utils.set_random_seed(1)
    data = digits.load()
    with strategy.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Conv2D(16, 3, activation="relu", input_shape=(8, 8, 1)),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(10),
            ]
        )
        model.compile(
            tf.keras.optimizers.SGD(0.1, momentum=0.9),
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            ["accuracy"],
        )
    model.fit(batches(data.train_images, data.train_labels, BATCH), epochs=EPOCHS, verbose=0)
    loss, accuracy = model.evaluate(batches(data.test_images, data.test_labels, 120), verbose=0)
    if multinode_helpers.comm_rank() == 0:
        device = model.trainable_variables[0].device
        workers = strategy.num_replicas_in_sync
        print(f"{workers} workers, worker 0 on {device}: test loss {loss:.3f}, test accuracy {accuracy:.1%}")


if __name__ == "__main__":
    main()
