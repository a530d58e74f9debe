"""Time of eager programs on the emulated HPU, relative to TensorFlow's CPU.

No program uses a tf.function, so the ops run one by one. Both devices run in turns within one process. The warm-up
compiles the ops.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from benchmarks.measure import Summary, Times, in_turns
from habana_frameworks.tensorflow import habana_device, load_habana_module, statistics

CPU = "/device:CPU:0"
HPU = "/device:HPU:0"
Step = Callable[[], object]


def normal(*shape: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def labels(count: int, classes: int) -> npt.NDArray[np.int32]:
    return np.random.default_rng(1).integers(0, classes, count, dtype=np.int32)


def classifier_step(model: tf.keras.Model, inputs: tf.Tensor, targets: tf.Tensor) -> Step:
    """Returns a train step with SGD under an eager tape."""
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)

    def step() -> None:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=model(inputs, training=True))
            loss = tf.reduce_mean(losses)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    return step


def bidirectional_lstm() -> Step:
    """A bidirectional LSTM, whose time steps Keras runs as a Python loop."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Bidirectional(layers.LSTM(64), input_shape=(24, 32)), layers.Dense(10)])
    return classifier_step(model, tf.constant(normal(16, 24, 32)), tf.constant(labels(16, 10)))


def mlp() -> Step:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(256, "relu", input_shape=(784,)), layers.Dense(256, "relu")])
    model.add(layers.Dense(10))
    return classifier_step(model, tf.constant(normal(64, 784)), tf.constant(labels(64, 10)))


def dcgan() -> Step:
    """Both networks of a DCGAN on images of 28 x 28, as in TensorFlow's tutorial, with fewer channels."""
    layers = tf.keras.layers
    transpose = {"strides": 2, "padding": "same", "use_bias": False}
    generator = tf.keras.Sequential(
        [
            layers.Dense(7 * 7 * 32, use_bias=False, input_shape=(64,)),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((7, 7, 32)),
            layers.Conv2DTranspose(16, 5, **transpose),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(1, 5, activation="tanh", **transpose),
        ]
    )
    discriminator = tf.keras.Sequential(
        [
            layers.Conv2D(16, 5, strides=2, padding="same", input_shape=(28, 28, 1)),
            layers.LeakyReLU(),
            layers.Conv2D(32, 5, strides=2, padding="same"),
            layers.LeakyReLU(),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )
    networks = (generator, discriminator)
    optimizers = [tf.keras.optimizers.Adam(1e-4) for _ in networks]
    for optimizer, network in zip(optimizers, networks):
        optimizer.build(network.trainable_variables)
    images, noise = tf.constant(normal(16, 28, 28, 1)), tf.constant(normal(16, 64))
    entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    def step() -> None:
        with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
            fake = discriminator(generator(noise, training=True), training=True)
            real = discriminator(images, training=True)
            generator_loss = entropy(tf.ones_like(fake), fake)
            discriminator_loss = entropy(tf.ones_like(real), real) + entropy(tf.zeros_like(fake), fake)
        for tape, loss, network, optimizer in zip(
            (generator_tape, discriminator_tape), (generator_loss, discriminator_loss), networks, optimizers
        ):
            variables = network.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    return step


def graph_network() -> Step:
    """Three rounds of messages along 1,024 edges between 256 nodes, and a class for each node."""
    layers = tf.keras.layers
    nodes, edges = 256, 1024
    sources, targets = (tf.constant(labels(edges, nodes)), tf.constant(np.sort(labels(edges, nodes))))
    features, classes = tf.constant(normal(nodes, 32)), tf.constant(labels(nodes, 7))
    message_layers = [layers.Dense(32, "relu") for _ in range(3)]
    update_layers = [layers.Dense(32, "relu") for _ in range(3)]
    head = layers.Dense(7)
    all_layers = [*message_layers, *update_layers, head]
    for layer in message_layers + update_layers:
        layer.build((None, 64))
    head.build((None, 32))
    variables = [variable for layer in all_layers for variable in layer.trainable_variables]
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(variables)

    def step() -> None:
        with tf.GradientTape() as tape:
            states = features
            for message, update in zip(message_layers, update_layers):
                ends = tf.concat([tf.gather(states, sources), tf.gather(states, targets)], 1)
                received = tf.math.unsorted_segment_sum(message(ends), targets, nodes)
                states = states + update(tf.concat([states, received], 1))
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=head(states))
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    return step


def elementwise_loop() -> Step:
    """100 rounds of four elementwise ops on 64 numbers."""
    start = tf.constant(normal(64))
    half = tf.constant(0.5)

    def step() -> None:
        x = start
        for _ in range(100):
            x = tf.tanh(x * half + start) - x

    return step


PROGRAMS: dict[str, Callable[[], Step]] = {
    "bidirectional_lstm": bidirectional_lstm,
    "dcgan": dcgan,
    "graph_network": graph_network,
    "mlp": mlp,
    "elementwise_loop": elementwise_loop,
}


@dataclasses.dataclass(frozen=True)
class Result:
    """One program: its time on both devices, and the eager ops of a step on the HPU."""

    program: str
    launches: float  # ops that run as a recipe
    host_runs: float  # ops that run on their CPU kernel
    hpu_seconds: Summary
    cpu_seconds: Summary
    ratio: Summary


def repeated(step: Step, device: str) -> Callable[[int], None]:
    """Returns a function that runs the step n times on the device and waits for the device."""

    def run(calls: int) -> None:
        with tf.device(device):
            for _ in range(calls):
                step()
        if device == HPU:
            habana_device.synchronize()

    return run


def measure(program: str, rounds: int, seconds_per_turn: float) -> Result:
    """Measures one program on both devices in turns."""
    variants = {}
    for name, device in (("hpu", HPU), ("cpu", CPU)):
        with tf.device(device):
            variants[name] = repeated(PROGRAMS[program](), device)
    variants["hpu"](5)  # the third run of an op compiles the op
    before = statistics.get().eager
    variants["hpu"](2)
    after = statistics.get().eager
    times: Times = in_turns(variants, rounds, seconds_per_turn)
    return Result(
        program,
        (after.launches - before.launches) / 2,
        (after.host_runs - before.host_runs) / 2,
        times.summary("hpu"),
        times.summary("cpu"),
        times.ratio("hpu", "cpu"),
    )


def print_results(results: list[Result]) -> None:
    print(f"one step (backend {habana_device.info()['backend']}; median, quartiles of the ratio)")
    print(f"{'program':<20}{'launches':>9}{'CPU runs':>9}{'HPU, ms':>9}{'CPU, ms':>9}  ratio")
    for result in results:
        ratio = result.ratio
        print(
            f"{result.program:<20}{result.launches:>9.0f}{result.host_runs:>9.0f}"
            f"{1e3 * result.hpu_seconds.median:>9.2f}{1e3 * result.cpu_seconds.median:>9.2f}"
            f"  {ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--rounds", type=int, default=9, help="measurement rounds (default: 9)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn (default: 0.5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    load_habana_module()
    results = [measure(program, arguments.rounds, arguments.seconds) for program in arguments.programs]
    if arguments.json:
        data: dict[str, Any] = {result.program: dataclasses.asdict(result) for result in results}
        print(json.dumps(data, indent=2))
    else:
        print_results(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
