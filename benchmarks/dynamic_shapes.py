"""Time and recipes of a loop over batch sizes: HPU with TF_ENABLE_DYNAMIC_SHAPES on and off, and CPU.

Each configuration runs each size once, so the times include compilation.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics

CPU = "/device:CPU:0"
HPU = "/device:HPU:0"
FEATURES = 256


@dataclasses.dataclass(frozen=True)
class Variant:
    """Result of one pass over all sizes."""

    name: str
    seconds: float
    recipes: int
    fallbacks: int


def classifier() -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns the inference function of a perceptron, traced for any batch size."""
    weights = [tf.random.stateless_normal([FEATURES, FEATURES], [1, layer]) / 16.0 for layer in range(4)]

    @tf.function(input_signature=[tf.TensorSpec([None, FEATURES])])
    def classify(x: tf.Tensor) -> tf.Tensor:
        for layer in weights:
            x = tf.nn.gelu(x @ layer)
        return tf.nn.softmax(x)

    return classify  # type: ignore[no-any-return]


def run(name: str, device: str, dynamic: bool, sizes: list[int]) -> Variant:
    """Runs a new function for all sizes."""
    os.environ["TF_ENABLE_DYNAMIC_SHAPES"] = str(int(dynamic))
    statistics.reset()
    with tf.device(device):
        function = classifier()
        begin = time.perf_counter()
        for size in sizes:
            function(tf.ones([size, FEATURES])).numpy()
    seconds = time.perf_counter() - begin
    return Variant(name, seconds, sum(c.recipes for c in statistics.clusters()), statistics.get().fallbacks)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, default=100, help="batch sizes: 1 to this, in a scattered order")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    if options.sizes < 1:
        parser.error("--sizes must be at least 1")
    sizes = sorted(range(1, options.sizes + 1), key=lambda size: size * 0.618 % 1)
    load_habana_module()
    variants = [run("cpu", CPU, False, sizes), run("hpu, on", HPU, True, sizes), run("hpu, off", HPU, False, sizes)]
    if options.json:
        print(json.dumps([dataclasses.asdict(variant) for variant in variants]))
        return 0
    print(f"{len(sizes)} batch sizes, each once")
    for variant in variants:
        ratio = variant.seconds / variants[0].seconds
        print(f"{variant.name:10} {variant.seconds:8.2f} s  {ratio:6.1f} times the CPU  {variant.recipes:4} recipes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
