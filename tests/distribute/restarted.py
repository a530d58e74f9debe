"""Rank of an `hpu run --restarts` job: trains with checkpoints, resumes, and may kill itself.

The batch of a step depends only on the step's number, so the final weights equal those of an undisturbed training.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy, in_server
from tests.distribute.kills import STEPS_PER_EPOCH, Kill
from tests.distribute.train import GLOBAL_BATCH, batches, build

RESTART_COUNT = int(os.environ["HPU_RESTART_COUNT"])


class Killer:
    """Executes the kill of this process, if any."""

    def __init__(self, kills: list[Kill]) -> None:
        own = [kill for kill in kills if (kill.attempt, kill.rank) == (RESTART_COUNT, multinode_helpers.comm_rank())]
        self._kill = own[0] if own else None
        self._timer: threading.Timer | None = None

    def begin_step(self, step: int) -> None:
        if self._kill is not None and step >= self._kill.step and self._timer is None:
            self._timer = threading.Timer(self._kill.milliseconds / 1000, self.end)
            self._timer.start()

    def end(self) -> None:
        """Kills the process if its kill is still due. Also called at the end of training."""
        if self._kill is not None:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclasses.dataclass(frozen=True)
class Training:
    """Settings of a training."""

    checkpoints: pathlib.Path
    steps: int
    save_every: int
    pause: float
    killer: Killer


def fit(strategy: tf.distribute.Strategy, training: Training) -> tuple[tf.keras.Model, int]:
    """Trains with Keras's BackupAndRestore, which saves after each epoch. Returns the model and its first step."""
    steps: list[int] = []

    class Steps(tf.keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            steps.append(int(self.model.optimizer.iterations.numpy()))
            training.killer.begin_step(steps[-1])

    with strategy.scope():
        model = build("cnn")
        model.compile(tf.keras.optimizers.Adam(1e-2), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    backup = tf.keras.callbacks.BackupAndRestore(str(training.checkpoints), delete_checkpoint=False)
    dataset = batches("cnn", STEPS_PER_EPOCH)
    model.fit(dataset, epochs=training.steps // STEPS_PER_EPOCH, callbacks=[backup, Steps()], verbose=0)
    return model, steps[0] if steps else training.steps


def loop(strategy: tf.distribute.Strategy, training: Training) -> tuple[tf.keras.Model, int]:
    """Trains in a loop with a CheckpointManager; rank 0 saves. Returns the model and its first step."""
    with strategy.scope():
        model = build("cnn")
        optimizer = tf.keras.optimizers.Adam(1e-2)
        optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, training.checkpoints, max_to_keep=2)
    manager.restore_or_initialize()
    first = int(optimizer.iterations.numpy())

    @tf.function
    def train_step(batch: Any) -> None:
        def replica(inputs: tf.Tensor, labels: tf.Tensor) -> None:
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=model(inputs))
                loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

        strategy.run(replica, batch)

    dataset = batches("cnn", training.steps).skip(first)
    for step, batch in enumerate(strategy.experimental_distribute_dataset(dataset), start=first):
        training.killer.begin_step(step)
        time.sleep(training.pause)
        train_step(batch)
        if (step + 1) % training.save_every == 0 and multinode_helpers.comm_rank() == 0:
            manager.save(step + 1)
    return model, first


WAYS: dict[str, Callable[[tf.distribute.Strategy, Training], tuple[tf.keras.Model, int]]] = {"fit": fit, "loop": loop}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--save-every", type=int, default=2)
    parser.add_argument("--pause", type=float, default=0, help="seconds before each step of the loop")
    parser.add_argument("--kill", type=Kill.parse, action="append", default=[], help="attempt:rank:step:milliseconds")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("way", choices=WAYS)
    arguments = parser.parse_args()
    load_habana_module()
    strategy = HPUStrategy()
    killer = Killer(arguments.kill)
    training = Training(arguments.out / "checkpoints", arguments.steps, arguments.save_every, arguments.pause, killer)
    model, first = WAYS[arguments.way](strategy, training)
    killer.end()
    rank = multinode_helpers.comm_rank()
    record = {
        "restart_count": RESTART_COUNT,
        "ranks": strategy.num_replicas_in_sync,
        "first_step": first,
        "in_server": any(in_server._answers.values()),
    }
    np.savez(arguments.out / f"weights_{rank}.npz", **{str(i): w for i, w in enumerate(model.get_weights())})
    (arguments.out / f"record_{rank}.json").write_text(json.dumps(record))


if __name__ == "__main__":
    main()
