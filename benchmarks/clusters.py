"""Compares this package's clusters of a train step with the clusters of TensorFlow's auto-clustering on the CPU.

python benchmarks/clusters.py [--models resnet50 transformer unet lstm] [--json]

TensorFlow runs in a separate process with TF_XLA_FLAGS="--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit". The graphs that
the marking pass dumps contain TensorFlow's clusters. Both counts exclude arguments, constants and identities. Exit code
1 if this package makes more clusters for a model, or clusters a smaller share of the model's ops.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

MODELS = ("resnet50", "transformer", "unet", "lstm")
# Defers compilation, because the clusters are only counted.
AUTO_JIT = "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit --tf_xla_always_defer_compilation"
# Ops excluded from the counts: arguments and results, ordering, constants, and helpers on the host.
NO_WORK = frozenset(("_Arg", "_DeviceArg", "_Retval", "_DeviceRetval", "NoOp", "Const", "Identity", "IdentityN")) | {
    "VarHandleOp",
    "HabanaPhiloxState",
    "HabanaRandomOrder",
    "HabanaCheckIndices",
    "HabanaCheckRange",
}


@dataclasses.dataclass(frozen=True)
class Count:
    """Result of one clustering method for a train step."""

    clusters: int
    clustered_ops: int
    ops: int

    @property
    def share(self) -> float:
        return self.clustered_ops / self.ops if self.ops else 0.0

    def at_least_as_good_as(self, other: Count) -> bool:
        """Whether this count has at most the clusters of `other`, and at least its share of clustered ops."""
        return self.clusters <= other.clusters and self.share >= other.share


def working(types: Iterable[str]) -> int:
    return sum(op not in NO_WORK for op in types)


def total(counts: Iterable[Count]) -> Count:
    """Sums over the graphs of one step. Functions that are not inlined are separate graphs."""
    listed = list(counts)
    clusters, inside, ops = (
        [getattr(count, name) for count in listed] for name in ("clusters", "clustered_ops", "ops")
    )
    return Count(sum(clusters), sum(inside), sum(ops))


def count_here(model: str) -> Count:
    """Counts the clusters of one step on the HPU."""
    from benchmarks.models import PROBLEMS, Trainer
    from habana_frameworks.tensorflow import load_habana_module
    from habana_frameworks.tensorflow.explanation import Collector

    load_habana_module()
    problem = PROBLEMS[model]
    trainer = Trainer(problem, "/device:HPU:0")
    batch = trainer.to_device(problem.batch())
    collector = Collector()
    collector.start()
    try:
        trainer.step(*batch)
    finally:
        explanation = collector.stop()
    return total(count_graph(graph) for graph in explanation.graphs)


def count_graph(graph: Any) -> Count:
    """Counts a graph of an explanation. Ignores clusters of one op, because TensorFlow does not make such clusters."""
    ops = Counter(op.cluster for op in graph.ops if op.cluster is not None)
    clusters = {name for name, number in ops.items() if number > 1}
    return Count(
        len(clusters),
        working(op.type for op in graph.ops if op.cluster in clusters),
        working(op.type for op in graph.ops),
    )


def run_auto_jit(model: str) -> None:
    """Runs the same step on the CPU in this process; TF_XLA_FLAGS makes TensorFlow dump the clustered graphs."""
    from benchmarks.models import PROBLEMS, Trainer

    problem = PROBLEMS[model]
    trainer = Trainer(problem, "/device:CPU:0")
    batch = trainer.to_device(problem.batch())
    for path in pathlib.Path(os.environ["TF_DUMP_GRAPH_PREFIX"]).iterdir():
        path.unlink()  # graphs from before the step
    trainer.step(*batch)


def count_xla_clusters(graph: Any) -> Count:
    """Counts the clusters that TensorFlow's auto-clustering marked in a GraphDef."""
    inside = [node for node in graph.node if "_XlaCluster" in node.attr]
    names = {node.attr["_XlaCluster"].s for node in inside}
    return Count(len(names), working(node.op for node in inside), working(node.op for node in graph.node))


def count_auto_jit(model: str) -> Count:
    """Counts TensorFlow's own clusters in the marked graphs that a separate process dumps."""
    import tensorflow as tf
    from google.protobuf import text_format

    root = pathlib.Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as directory:
        environment = {
            **os.environ,
            "TF_XLA_FLAGS": f"{os.environ.get('TF_XLA_FLAGS', '')} {AUTO_JIT} --tf_xla_clustering_debug".strip(),
            "TF_DUMP_GRAPH_PREFIX": directory,
            "PYTHONPATH": str(root),
        }
        command = [sys.executable, "-m", "benchmarks.clusters", "--auto-jit", model]
        done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
        dumps = [path for path in pathlib.Path(directory).glob("mark_for_compilation*") if "annotated" not in path.name]
        if done.returncode != 0 or not dumps:
            raise RuntimeError(f"TensorFlow's own clustering of {model} failed:\n{done.stderr[-2000:]}")
        graphs = [text_format.Parse(path.read_text(), tf.compat.v1.GraphDef()) for path in dumps]
    return total(count_xla_clusters(graph) for graph in graphs)


def line(model: str, here: Count, there: Count) -> str:
    def cell(count: Count) -> str:
        return f"{count.clusters:>3} with {count.clustered_ops:>5} of {count.ops:>5} ops ({100 * count.share:5.1f} %)"

    verdict = "ok" if here.at_least_as_good_as(there) else "WORSE"
    return f"{model:<12} {cell(here)}   {cell(there)}   {verdict}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parser.add_argument("--auto-jit", metavar="MODEL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.auto_jit:
        run_auto_jit(arguments.auto_jit)
        return 0
    counts = {model: (count_here(model), count_auto_jit(model)) for model in arguments.models}
    if arguments.json:
        print(json.dumps({m: {"here": vars(a), "auto_jit": vars(b)} for m, (a, b) in counts.items()}, indent=2))
    else:
        print(f"{'':<12} {'clusters here':<38}   TensorFlow's auto-clustering")
        for model, (here, there) in counts.items():
            print(line(model, here, there))
    return 0 if all(here.at_least_as_good_as(there) for here, there in counts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
