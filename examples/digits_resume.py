"""Trains with checkpoints on a device that may be lost, such as a module of a device server.

A restart resumes from the latest checkpoint, with the same results as an uninterrupted run. Exit code 75: the device
was lost.
"""

from __future__ import annotations

import os
import sys

import tensorflow as tf

import digits


class Arguments(digits.Arguments):
    checkpoints: str
    save_every: int


class Training:
    """Content of a checkpoint: a model, its optimizer and the number of completed steps."""

    def __init__(self, data: digits.Digits, arguments: Arguments) -> None:
        layers = tf.keras.layers
        self.model = tf.keras.Sequential(
            [
                layers.Conv2D(16, 3, padding="same", activation="relu", input_shape=(8, 8, 1)),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(10),
            ]
        )
        self._optimizer = tf.keras.optimizers.Adam(2e-3)
        self._optimizer.build(self.model.trainable_variables)
        self._data = data
        self._arguments = arguments
        self._steps = tf.Variable(0, dtype=tf.int64)
        checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self._optimizer, steps=self._steps)
        self._manager = tf.train.CheckpointManager(checkpoint, arguments.checkpoints, max_to_keep=2)
        if self._manager.restore_or_initialize():
            print(f"resumes after step {int(self._steps)}", flush=True)

    @staticmethod
    def loss(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))

    @tf.function
    def _step(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = self.loss(labels, self.model(images, training=True))
        variables = self.model.trainable_variables
        self._optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def run(self, stopwatch: digits.Stopwatch) -> None:
        """Trains the remaining epochs. The batch of a step depends only on the step's number."""
        arguments = self._arguments
        batches_per_epoch = len(self._data.train_images) // arguments.batch_size
        done = int(self._steps)
        for epoch in range(done // batches_per_epoch, arguments.epochs):
            batches = digits.shuffled_batches(self._data, arguments.batch_size, arguments.seed + epoch)
            for number, batch in enumerate(batches, start=epoch * batches_per_epoch):
                if number < done:
                    continue
                with stopwatch:
                    self._step(*map(tf.constant, batch)).numpy()
                if (number + 1) % arguments.save_every == 0:
                    self._save(number + 1)
        self._save(arguments.epochs * batches_per_epoch)

    def _save(self, steps: int) -> None:
        if steps == self._steps:
            return
        self._steps.assign(steps)
        self._manager.save(steps)
        print(f"saved after step {steps}", flush=True)


def main() -> int:
    parser = digits.make_parser(__doc__ or "", epochs=10)
    parser.add_argument(
        "--checkpoints",
        default="digits_checkpoints",
        metavar="DIRECTORY",
        help="directory for checkpoints (default: %(default)s)",
    )
    parser.add_argument(
        "--save-every", type=int, default=20, metavar="STEPS", help="steps between checkpoints (default: %(default)s)"
    )
    arguments = parser.parse_args(namespace=Arguments())
    digits.prepare(arguments)
    tf.keras.utils.set_random_seed(arguments.seed)
    data = digits.load()
    stopwatch = digits.Stopwatch()
    try:
        training = Training(data, arguments)
        training.run(stopwatch)
        logits = training.model(tf.constant(data.test_images))
        loss = float(Training.loss(tf.constant(data.test_labels), logits))
        accuracy = float(tf.reduce_mean(tf.cast(tf.argmax(logits, 1) == data.test_labels, tf.float32)))
    except (tf.errors.UnavailableError, tf.errors.AbortedError) as error:
        print(f"The device is lost: {error.message}\nStart this program again to resume.", file=sys.stderr)
        return os.EX_TEMPFAIL
    digits.Report(loss, accuracy, stopwatch).print(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
