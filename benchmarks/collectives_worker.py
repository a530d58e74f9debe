"""Worker process of benchmarks.collectives: runs all-reduces of several kinds in turns, or train steps."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import collective_ops

from benchmarks.models import CLASSES, transformer
from habana_frameworks.tensorflow import device_trace, load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy, in_server

MIB = 1 << 20
DEVICE_GROUP, HOST_GROUP = 901, 902
# Calls per turn; the same on all ranks, because every call is collective.
CALLS = 3
BATCH = 16

Variant = Callable[[int], None]


class Keys:
    """Generator of instance keys, which are the same on all ranks."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        self._last += 1
        return self._last


def device_variant(device: str, group: int, size: int, data: Any, keys: Keys) -> Variant:
    """TensorFlow's all-reduce on a device. The HPU's group reduces in the device server, the CPU's group in a ring."""
    with tf.device(device):
        tensor = tf.identity(tf.constant(data))

    def variant(count: int) -> None:
        for _ in range(count):
            with tf.device(device):
                collective_ops.all_reduce_v2(tensor, size, group, keys.next())

    return variant


def gloo_variant(data: Any) -> Variant | None:
    """Horovod's all-reduce of a host tensor over Gloo; None if Horovod is not installed."""
    try:
        import horovod.tensorflow as hvd
    except ImportError:
        return None
    hvd.init()
    if not hvd.gloo_built():
        return None
    with tf.device("/CPU:0"):
        tensor = tf.constant(data)

    def variant(count: int) -> None:
        for _ in range(count):
            with tf.device("/CPU:0"):
                hvd.allreduce(tensor, op=hvd.Sum, name=f"of_{len(data)}")

    return variant


def time_reductions(mebibytes: list[int], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Returns the seconds per call by MiB and transport, one value per round."""
    load_habana_module()
    HPUStrategy()  # makes the processes one cluster
    rank, size = multinode_helpers.comm_rank(), multinode_helpers.comm_size()
    if not in_server.join(DEVICE_GROUP, rank, size):
        raise SystemExit("the ranks do not use one device server: set HPU_BACKEND to the same server for all ranks")
    seconds: dict[str, dict[str, list[float]]] = {}
    keys = Keys()
    for count in mebibytes:
        data = np.full(count * MIB // 4, rank + 1.0, np.float32)
        variants = {
            "server": device_variant("/device:HPU:0", DEVICE_GROUP, size, data, keys),
            "ring": device_variant("/CPU:0", HOST_GROUP, size, data, keys),
            "gloo": gloo_variant(data),
        }
        present = {name: variant for name, variant in variants.items() if variant is not None}
        times: dict[str, list[float]] = {name: [] for name in present}
        for turn in range(rounds + 1):
            for name, variant in present.items():
                begin = time.perf_counter()
                variant(CALLS)
                if turn > 0:  # the first turn is the warm-up
                    times[name].append((time.perf_counter() - begin) / CALLS)
        seconds[str(count)] = times
    return seconds


MODELS: dict[str, tuple[Callable[[], tf.keras.Model], tuple[int, ...]]] = {
    "transformer": (lambda: transformer(depth=2, width=128, heads=4, length=64), (64, 32)),
    "cnn": (
        lambda: tf.keras.Sequential(
            [
                tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu", input_shape=(32, 32, 3)),
                tf.keras.layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
                tf.keras.layers.Conv2D(128, 3, strides=2, padding="same", activation="relu"),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(CLASSES),
            ]
        ),
        (32, 32, 3),
    ),
    "wide": (
        lambda: tf.keras.Sequential(
            [
                *(tf.keras.layers.Dense(1536, activation="relu", input_shape=(1536,)) for _ in range(8)),
                tf.keras.layers.Dense(CLASSES),
            ]
        ),
        (1536,),
    ),
}


def make_steps(strategy: tf.distribute.Strategy, name: str, bucket_bytes: int = 0) -> Callable[[int], list[float]]:
    """Returns a function that runs train steps of a model, waits for each step, and returns their times in seconds.

    bucket_bytes: bucket size of gradients; 0: the strategy's default.
    """
    make, shape = MODELS[name]
    with strategy.scope():
        model = make()
        optimizer = tf.keras.optimizers.SGD(0.01)
    replicas = strategy.num_replicas_in_sync
    inputs = tf.random.stateless_normal((BATCH, *shape), (0, 0))
    labels = tf.range(BATCH) % CLASSES
    options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=bucket_bytes)

    @tf.function
    def step(inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        def replica(inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                logits = model(inputs, training=True)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
                loss = tf.reduce_sum(losses) / (BATCH * replicas)
            variables = model.trainable_variables
            gradients = tape.gradient(loss, variables)
            reduced = tf.distribute.get_replica_context().all_reduce("SUM", gradients, options)
            optimizer.apply_gradients(zip(reduced, variables), skip_gradients_aggregation=True)
            return loss

        return strategy.run(replica, (inputs, labels))

    def run(count: int) -> list[float]:
        seconds = []
        for _ in range(count):
            begin = time.perf_counter()
            step(inputs, labels).numpy()
            seconds.append(time.perf_counter() - begin)
        return seconds

    run(5)
    return run


def traced(run: Callable[[int], list[float]], steps: int, trace: pathlib.Path | None) -> list[float]:
    """Returns the seconds of each step. Rank 0 also writes a trace if `trace` is given."""
    if trace is None or multinode_helpers.comm_rank() != 0:
        return run(steps)
    with device_trace.record(trace, detailed=False):
        return run(steps)


def time_steps(name: str, on_hpu: bool, steps: int, trace: pathlib.Path | None) -> list[float]:
    """Returns the seconds of each step after a warm-up. Rank 0 also writes a trace if `trace` is given."""
    if on_hpu:
        load_habana_module()
    strategy = HPUStrategy() if on_hpu else tf.distribute.MultiWorkerMirroredStrategy()
    return traced(make_steps(strategy, name), steps, trace)


def time_buckets(
    name: str, kibibytes: list[int], rounds: int, steps: int, trace: pathlib.Path | None
) -> dict[str, list[list[float]]]:
    """Returns the seconds of each step by bucket size, one list per round. The sizes take turns of `steps` steps.

    The trace covers the first size.
    """
    load_habana_module()
    strategy = HPUStrategy()
    runs = [make_steps(strategy, name, size << 10) for size in kibibytes]
    seconds: dict[str, list[list[float]]] = {str(size): [] for size in kibibytes}
    for turn in range(rounds):
        for place in range(len(runs)):  # the same order on all ranks
            index = (turn + place) % len(runs)
            seconds[str(kibibytes[index])].append(runs[index](steps))
    traced(runs[0], steps, trace)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    reductions = commands.add_parser("reductions")
    reductions.add_argument("--mebibytes", type=int, nargs="+", required=True)
    reductions.add_argument("--rounds", type=int, required=True)
    steps = commands.add_parser("steps")
    steps.add_argument("--cpu", action="store_true")
    buckets = commands.add_parser("buckets")
    buckets.add_argument("--kibibytes", type=int, nargs="+", required=True)
    buckets.add_argument("--rounds", type=int, required=True)
    for command in (steps, buckets):
        command.add_argument("--model", choices=MODELS, required=True)
        command.add_argument("--steps", type=int, required=True)
        command.add_argument("--trace", type=pathlib.Path, help="file for rank 0's trace of its HPU")
    arguments = parser.parse_args()
    result: Any
    if arguments.command == "reductions":
        result = time_reductions(arguments.mebibytes, arguments.rounds)
    elif arguments.command == "buckets":
        result = time_buckets(arguments.model, arguments.kibibytes, arguments.rounds, arguments.steps, arguments.trace)
    else:
        result = time_steps(arguments.model, not arguments.cpu, arguments.steps, arguments.trace)
    if multinode_helpers.comm_rank() == 0:
        sys.stdout.write(f"RESULT {json.dumps(result)}\n")


if __name__ == "__main__":
    main()
