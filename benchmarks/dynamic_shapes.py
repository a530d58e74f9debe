"""Time of train steps by bounded recipes over the time by recipes of the exact sizes, in one process and in turns.

The size is the smallest of its range (33 of 33 to 48), so padding is at its largest.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["HPU_COMPILE_MODE"] = "strict"

import tensorflow as tf

from benchmarks.measure import in_turns
from habana_frameworks.tensorflow import load_habana_module, statistics

HPU = "/device:HPU:0"
SIZE, OTHER_SIZE = 33, 40
Step = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


@dataclasses.dataclass(frozen=True)
class Program:
    """A model, and its arguments for a size."""

    model: Callable[[], tf.keras.Model]
    inputs: Callable[[int], tf.Tensor]
    labels: Callable[[int], tf.Tensor]


@dataclasses.dataclass(frozen=True)
class Result:
    program: str
    exact_ms: float
    bounded_ms: float
    ratio: float


def perceptron() -> tf.keras.Model:
    dense = tf.keras.layers.Dense
    return tf.keras.Sequential([dense(512, "relu", input_shape=(256,)), dense(512, "relu"), dense(10)])


def transformer() -> tf.keras.Model:
    layers = tf.keras.layers
    inputs = tf.keras.Input([None, 128])
    x = inputs
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 32)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(128)(layers.Dense(512, "gelu")(x)))
    return tf.keras.Model(inputs, layers.Dense(10)(x))


def convolutions() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(32, 3, activation="relu", input_shape=(32, 32, 3)),
            layers.MaxPool2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
        ]
    )


def recurrent() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.LSTM(64, return_sequences=True, input_shape=(None, 64)), layers.Dense(10)])


def normal(*shape: int) -> tf.Tensor:
    return tf.random.stateless_normal(shape, [1, 2])


def classes(*shape: int) -> tf.Tensor:
    return tf.random.stateless_uniform(shape, [3, 4], 0, 10, tf.int64)


PROGRAMS = {
    "perceptron": Program(perceptron, lambda n: normal(n, 256), lambda n: classes(n)),
    "transformer": Program(transformer, lambda n: normal(8, n, 128), lambda n: classes(8, n)),
    "convolutions": Program(convolutions, lambda n: normal(n, 32, 32, 3), lambda n: classes(n)),
    "recurrent": Program(recurrent, lambda n: normal(8, n, 64), lambda n: classes(8, n)),
}


def train_step(program: Program) -> Step:
    model = program.model()
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    x, y = program.inputs(SIZE), program.labels(SIZE)

    def signature(tensor: tf.Tensor, other: tf.Tensor) -> tf.TensorSpec:
        sizes = [size if size == changed else None for size, changed in zip(tensor.shape, other.shape)]
        return tf.TensorSpec(sizes, tensor.dtype)

    @tf.function(
        input_signature=[signature(x, program.inputs(OTHER_SIZE)), signature(y, program.labels(OTHER_SIZE))],
    )
    def train_step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    return train_step  # type: ignore[no-any-return]


def recipes() -> int:
    return sum(cluster.recipes for cluster in statistics.clusters())


def prepared(program: Program, bounded: bool) -> Callable[[int], object]:
    """Returns a function that runs n steps. Raises RuntimeError if a bounded recipe was wanted and refused."""
    os.environ["TF_ENABLE_DYNAMIC_SHAPES"] = str(int(bounded))
    statistics.reset()
    step = train_step(program)
    x, y = program.inputs(SIZE), program.labels(SIZE)
    if bounded:  # the second size compiles the range of both
        step(program.inputs(OTHER_SIZE), program.labels(OTHER_SIZE))
    step(x, y)
    before = recipes()
    if bounded:
        step(program.inputs(SIZE + 1), program.labels(SIZE + 1))
        if recipes() > before:
            raise RuntimeError("no bounded recipe: TF_CPP_VMODULE=bounded_recipes=1 tells why")

    def run(n: int) -> None:
        for _ in range(n):
            loss = step(x, y)
        loss.numpy()

    return run


def measure(name: str, rounds: int) -> Result:
    with tf.device(HPU):
        ways = {kind: prepared(PROGRAMS[name], kind == "bounded") for kind in ("exact", "bounded")}
        times = in_turns(ways, rounds, seconds_per_turn=0.1)
    exact, bounded = times.summary("exact").median, times.summary("bounded").median
    return Result(name, 1e3 * exact, 1e3 * bounded, times.ratio("bounded", "exact").median)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PROGRAMS, action="append", help="programs (default: all)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each program (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    load_habana_module()
    results = []
    for name in options.only or PROGRAMS:
        try:
            results.append(measure(name, options.rounds))
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
    if options.json:
        print(json.dumps([dataclasses.asdict(result) for result in results]))
    else:
        print(f"{'train step':14} {'exact, ms':>10} {'bounded, ms':>12} {'ratio':>6}   (size {SIZE} in a range to 48)")
        for result in results:
            print(f"{result.program:14} {result.exact_ms:10.2f} {result.bounded_ms:12.2f} {result.ratio:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
