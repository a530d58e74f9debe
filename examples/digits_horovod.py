"""Trains on handwritten digits with Horovod: hvd.init() loads the HPU, one per rank.

mpirun -np 2 python examples/digits_horovod.py, or horovodrun, or hpu run.
"""

from __future__ import annotations

import horovod.tensorflow.keras as hvd
import tensorflow as tf

import digits

EPOCHS = 8
BATCH = 64  # of all ranks together


def main() -> None:
    hvd.init()
    tf.keras.utils.set_random_seed(1)
    data = digits.load()
    images, labels = (part[hvd.rank() :: hvd.size()] for part in (data.train_images, data.train_labels))
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, 3, activation="relu", input_shape=(8, 8, 1)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(10),
        ]
    )
    model.compile(
        hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1, momentum=0.9)),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()]
    steps = len(data.train_images) // BATCH  # the same for all ranks
    batches = (
        tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(images)).repeat().batch(BATCH // hvd.size())
    )
    model.fit(batches, steps_per_epoch=steps, epochs=EPOCHS, callbacks=callbacks, verbose=0)
    loss, accuracy = model.evaluate(data.test_images, data.test_labels, verbose=0)
    if hvd.rank() == 0:
        device = tf.convert_to_tensor(model.trainable_variables[0]).device
        print(f"{hvd.size()} ranks on {device}: test loss {loss:.3f}, test accuracy {accuracy:.1%}")


if __name__ == "__main__":
    main()
