"""Rank of an elastic job: trains with hvd.elastic.TensorFlowKerasState; one host may die.

Each alias of this machine stands for a host with its own modules.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import sys

import tensorflow as tf
from horovod import tensorflow as hvd

from habana_frameworks.tensorflow import statistics
from tests.distribute.train import build, write_record
from tests.hvd.jobs import HOSTS, take_modules_of_host
from tests.hvd.train import LOSS, RATE, global_batches


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--die-at", type=int, help="kill the last host before this step")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(exist_ok=True)
    host = os.environ.get("HOROVOD_HOSTNAME", HOSTS[0])
    take_modules_of_host()
    hvd.init()  # also loads the HPU module
    model = build("cnn")
    start = model.get_weights()
    optimizer = tf.keras.optimizers.SGD(RATE)
    optimizer.build(model.trainable_variables)
    statistics.reset()

    @tf.function
    def train_step(inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = LOSS(labels, model(inputs, training=True))
        tape = hvd.DistributedGradientTape(tape)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return hvd.allreduce(loss)

    inputs, labels = global_batches("cnn", arguments.steps)
    state = hvd.elastic.TensorFlowKerasState(model, optimizer, step=0, losses=[])

    @hvd.elastic.run
    def train(state: hvd.elastic.TensorFlowKerasState) -> None:
        if state.step > 0:
            sys.stdout.write(f"went on with {hvd.size()} rank after step {state.step}\n")
        while state.step < arguments.steps:
            if state.step == arguments.die_at and host == HOSTS[-1]:
                os.kill(os.getpid(), signal.SIGKILL)
            own = slice(hvd.rank(), None, hvd.size())
            loss = train_step(inputs[state.step][own], labels[state.step][own])
            state.losses = [*state.losses, float(loss)]
            state.step += 1
            state.commit()

    train(state)
    write_record(arguments.out, f"elastic_{hvd.rank()}", model, start, state.losses, hvd.size())


if __name__ == "__main__":
    main()
