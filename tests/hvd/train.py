"""Rank that trains small models with Horovod and writes results to files.

Batches and rank 0's initial weights are independent of the number of ranks, so the final weights must also be.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import signal
from collections.abc import Iterator

import horovod.tensorflow.keras as hvd_keras
import numpy as np
import tensorflow as tf
from horovod import tensorflow as hvd

from benchmarks.models import CLASSES
from habana_frameworks.tensorflow import statistics
from tests.distribute.train import GLOBAL_BATCH, MODELS, build, write_record
from tests.hvd.jobs import take_modules_of_host

RATE = 0.05
LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def normalised() -> tf.keras.Model:
    """CNN with batch normalisation over the global batch."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(8, 3, padding="same", input_shape=(12, 12, 1)),
            hvd.SyncBatchNormalization(),
            layers.ReLU(),
            layers.Flatten(),
            layers.Dense(CLASSES),
        ]
    )


def model_of(name: str) -> tf.keras.Model:
    if name != "normalised":
        return build(name)
    tf.keras.utils.set_random_seed(1)
    return normalised()


def global_batches(name: str, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns inputs and labels of each step."""
    generator = np.random.default_rng(0)
    shape = (12, 12, 1) if name == "normalised" else MODELS[name][1]
    inputs = generator.standard_normal((steps, GLOBAL_BATCH, *shape), dtype=np.float32)
    return inputs, generator.integers(0, CLASSES, (steps, GLOBAL_BATCH))


def own_part(name: str, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns this rank's part of each global batch, by step."""
    inputs, labels = global_batches(name, steps)
    mine = slice(hvd.rank(), None, hvd.size())
    return inputs[:, mine].reshape(-1, *inputs.shape[2:]), labels[:, mine].reshape(-1)


def by_keras(name: str, steps: int) -> tuple[tf.keras.Model, list[float]]:
    # Equal weights on all ranks, because Horovod's callback broadcasts them only after the first step.
    model = model_of(name)
    model.compile(hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(RATE)), LOSS)
    callbacks = [
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        hvd_keras.callbacks.MetricAverageCallback(),
    ]
    inputs, labels = own_part(name, steps)
    history = model.fit(
        inputs, labels, batch_size=GLOBAL_BATCH // hvd.size(), shuffle=False, callbacks=callbacks, verbose=0
    )
    return model, [float(loss) for loss in history.history["loss"]]


class Checkpoints:
    """Checkpoints after each step. Rank 0 writes the model and the step number; all ranks resume from them."""

    def __init__(self, directory: pathlib.Path | None, model: tf.keras.Model) -> None:
        self._step = tf.Variable(0, dtype=tf.int64)
        checkpoint = tf.train.Checkpoint(model=model, step=self._step)
        self._manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1) if directory else None

    def restore(self) -> int:
        """Restores the latest checkpoint, and returns the next step."""
        if self._manager is not None:
            self._manager.restore_or_initialize()
        return int(self._step)

    def save(self, step: int) -> None:
        self._step.assign(step)
        if self._manager is not None and hvd.rank() == 0:
            self._manager.save(step)


def by_tape(
    name: str, steps: int, checkpoints: pathlib.Path | None = None, die_at: int | None = None
) -> tuple[tf.keras.Model, list[float]]:
    """Trains with a DistributedGradientTape. At the job's first start, kills the last rank before step `die_at`."""
    model = model_of(name)
    optimizer = tf.keras.optimizers.SGD(RATE)

    @tf.function
    def train_step(inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = LOSS(labels, model(inputs, training=True))
        tape = hvd.DistributedGradientTape(tape)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return hvd.allreduce(loss)

    inputs, labels = (np.split(part, steps) for part in own_part(name, steps))
    saved = Checkpoints(checkpoints, model)
    first = saved.restore()
    if hvd.rank() > 0:
        model.set_weights([weight + 1.0 for weight in model.get_weights()])
    hvd.broadcast_variables(model.variables, root_rank=0)
    losses = []
    for step in range(first, steps):
        is_first_start = os.environ.get("HPU_RESTART_COUNT", "0") == "0"
        if step == die_at and hvd.rank() == hvd.size() - 1 and is_first_start:
            os.kill(os.getpid(), signal.SIGKILL)
        losses.append(float(train_step(inputs[step], labels[step])))
        saved.save(step + 1)
    return model, losses


@contextlib.contextmanager
def conversion(to_bfloat16: bool) -> Iterator[None]:
    """Within the block, graphs are converted to bfloat16 if `to_bfloat16`."""
    before = os.environ.get("TF_BF16_CONVERSION")
    if to_bfloat16:
        os.environ["TF_BF16_CONVERSION"] = "full"
    yield
    if to_bfloat16:
        del os.environ["TF_BF16_CONVERSION"]
        os.environ.update({} if before is None else {"TF_BF16_CONVERSION": before})


def run(case: str, arguments: argparse.Namespace) -> None:
    """Trains a case such as cnn-keras, and writes weights_<case>_<rank>.npz and record_<case>_<rank>.json."""
    name, way, *precision = case.split("-")
    start = model_of(name).get_weights()
    statistics.reset()
    with conversion(precision == ["bf16"]):
        if way == "keras":
            model, losses = by_keras(name, arguments.steps)
        else:
            model, losses = by_tape(name, arguments.steps, arguments.checkpoints, arguments.die_at)
    write_record(arguments.out, f"{case}_{hvd.rank()}", model, start, losses, hvd.size())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--die-at", type=int, help="with -tape, kill the last rank before this step")
    parser.add_argument(
        "--checkpoints", type=pathlib.Path, help="with -tape, write checkpoints and resume from the latest"
    )
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("cases", nargs="+", help="model, loop and precision, such as cnn-tape or cnn-keras-bf16")
    arguments = parser.parse_args()
    take_modules_of_host()
    hvd.init()  # also loads the HPU module
    for case in arguments.cases:
        run(case, arguments)


if __name__ == "__main__":
    main()
