"""Time of the graph passes on generated graphs, and its growth with the graph size.

python benchmarks/graph_passes.py [--nodes 2000 5000 …] [--host 0.02] [--bf16 full]

The graph resembles a train step: element-wise ops with a share of host ops in between. Its second half uses the first
half's results in reverse order, like a backward pass. Prints one line per size, and the growth exponent between the
smallest and the largest size. --bf16 enables the conversion to bfloat16 with a recipe of TF_BF16_CONVERSION.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import time

import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes


def generate(nodes: int, host_share: float) -> tf.compat.v1.GraphDef:
    """Returns a graph of about `nodes` nodes; deterministic."""
    choose = random.Random(nodes)
    graph = tf.compat.v1.GraphDef()
    tensors = ["input"]

    def add(op: str, inputs: list[str], device: str, **attrs: tf.DType) -> str:
        node = graph.node.add(name=f"n{len(graph.node)}", op=op, input=inputs, device=device)
        for name, dtype in attrs.items():
            node.attr[name].type = dtype.as_datatype_enum
        return node.name

    source = graph.node.add(name="input", op="_Arg", device=passes.HPU)
    source.attr["T"].type = tf.float32.as_datatype_enum
    source.attr["index"].i = 0
    forward: list[str] = []
    while len(graph.node) < nodes:
        recent = tensors[-8:]
        left = choose.choice(recent)
        # The second half uses the results of the first in reverse order, like gradients.
        backward = len(graph.node) > nodes // 2 and forward
        right = forward.pop() if backward else choose.choice(recent)
        device = passes.CPU if choose.random() < host_share else passes.HPU
        if choose.random() < 0.5:
            tensors.append(add(choose.choice(["AddV2", "Mul", "Sub"]), [left, right], device, T=tf.float32))
        else:
            tensors.append(add(choose.choice(["Relu", "Tanh", "Neg"]), [left], device, T=tf.float32))
        if not backward:
            forward.append(tensors[-1])
    result = graph.node.add(name="result", op="_Retval", input=[tensors[-1]], device=passes.HPU)
    result.attr["T"].type = tf.float32.as_datatype_enum
    result.attr["index"].i = 0
    return graph


def measure(nodes: int, host_share: float, repeats: int) -> tuple[float, dict[str, float], int, int]:
    """Returns median seconds of the pipeline and of each pass, and the numbers of clusters and of bfloat16 nodes."""
    graph = generate(nodes, host_share)
    runs = []
    clusters = converted = 0
    for _ in range(repeats):
        report = passes.run(graph, function="__inference_generated_1").report
        runs.append({entry.pass_name: entry.seconds for entry in report.times})
        clusters = len(report.clusters)
        converted = sum(rewrite.pass_name == "bf16" for rewrite in report.rewrites)
    each = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    return statistics.median(sum(run.values()) for run in runs), each, clusters, converted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[2000, 5000, 10000, 20000, 50000])
    parser.add_argument("--host", type=float, default=0.02, help="share of nodes on the CPU")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bf16", default="0", help="a value of TF_BF16_CONVERSION (default: %(default)s)")
    arguments = parser.parse_args()
    os.environ["TF_BF16_CONVERSION"] = arguments.bf16
    start = time.monotonic()
    seconds = {}
    for nodes in arguments.nodes:
        seconds[nodes], each, clusters, converted = measure(nodes, arguments.host, arguments.repeats)
        parts = ", ".join(f"{name} {value:.3f}" for name, value in each.items())
        print(f"{nodes:6d} nodes: {seconds[nodes]:.3f} s ({parts}), {clusters} clusters, {converted} nodes in bfloat16")
    if len(seconds) > 1:
        small, large = min(seconds), max(seconds)
        exponent = math.log(seconds[large] / seconds[small]) / math.log(large / small)
        print(f"growth exponent from {small} to {large} nodes: {exponent:.2f}")
    print(f"({time.monotonic() - start:.1f} s in total)")


if __name__ == "__main__":
    main()
