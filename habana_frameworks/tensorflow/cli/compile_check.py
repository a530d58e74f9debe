"""`hpu compile-check`: compiles the clusters of a program for a card that is not present."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from habana_frameworks.tensorflow._internal import changing_sizes, text
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.cli import program, warmup
from habana_frameworks.tensorflow.explanation.rules import Rule
from habana_frameworks.tensorflow.recipe_store import Entry

_SETTINGS = {
    "HPU_COMPILE_MODE": "strict",
    "HPU_RECIPE_CACHE_READ_ONLY": "0",
    "HPU_RECIPE_CACHE_MIN_COMPILE_MS": "0",
}
_NAME_WIDTH = 48


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "compile-check",
        help="compile a program for a card that is not present",
        description="Runs a program on a device that computes nothing, and compiles its clusters for the card. Reports "
        "each cluster's compile time, code size and memory, and whether the cluster fits the card. Exit code 0: all "
        "clusters compile and fit; 1: some clusters do not; 2: wrong usage; 3: the program needed no recipe; if the "
        "program fails, the program's exit code.",
    )
    parser.add_argument("--target", metavar="CARD", help=f"required: {warmup.TARGET_HELP}")
    warmup.add_limits(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object; the program's output goes to stderr"
    )
    program.add_arguments(parser)
    parser.set_defaults(run=run)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A cluster that was compiled. Sizes are in bytes."""

    name: str
    ops: int
    compile_seconds: float
    code_bytes: int
    argument_bytes: int
    result_bytes: int
    temporary_bytes: int
    fits: bool


@dataclasses.dataclass(frozen=True)
class Failure:
    """A cluster that was not compiled, in whole or in part, or that did not fit the card."""

    cluster: str
    rule: str
    """The rule's name in `hpu explain`."""
    reason: str

    def __str__(self) -> str:
        problem = "does not fit the card" if self.rule == Rule.TOO_LARGE else "was not compiled as a whole"
        return f"{self.cluster} {problem}: {self.reason}"


@dataclasses.dataclass(frozen=True)
class Report:
    """Result of a check."""

    target: str
    card: str
    memory_bytes: int
    """Memory of the card that programs can use."""
    clusters: tuple[Cluster, ...]
    failures: tuple[Failure, ...]


def run(arguments: argparse.Namespace) -> int:
    """Runs the program, and reports compile time, size and memory of its clusters on the card."""
    # Not required by the parser, so that a --target after the program is reported as misplaced.
    problem = "" if arguments.target else f"no card: pass --target CARD ({', '.join(warmup.TARGETS)})"
    if not program.accepts("hpu compile-check", arguments, problem):
        return 2
    with tempfile.TemporaryDirectory(prefix="hpu-compile-check-") as path:
        os.environ.update(warmup.target_settings(arguments.target))
        os.environ.update(changing_sizes.settings())
        os.environ.update(_SETTINGS, TF_RECIPE_CACHE_PATH=path)
        if not program.load("hpu compile-check"):
            return 2
        plugin = plugin_library.handle()
        c_api.function(plugin, "hpu_collect_op_records")(True)
        outcome, code = warmup.warm_up(path, arguments, "hpu compile-check")
        records = c_api.read_message(plugin, "hpu_op_records", "OpRecords")
        device = c_api.read_message(plugin, "hpu_device_info", "DeviceInfo")
    report = Report(
        arguments.target,
        device.description,
        device.memory_bytes,
        tuple(_cluster(entry, device.memory_bytes) for entry in outcome.made),
        tuple(Failure(failure.cluster, failure.rule, failure.reason) for failure in records.failures),
    )
    print(json.dumps(dataclasses.asdict(report), indent=2)) if arguments.json else _print(report)
    return code or int(bool(report.failures) or not all(cluster.fits for cluster in report.clusters))


def _cluster(entry: Entry, memory_bytes: int) -> Cluster:
    argument_bytes, result_bytes = _bytes(entry.arguments), _bytes(entry.results)
    needed = argument_bytes + result_bytes + entry.workspace_bytes
    return Cluster(
        entry.cluster,
        entry.ops,
        entry.compile_seconds,
        entry.payload_bytes,
        argument_bytes,
        result_bytes,
        entry.workspace_bytes,
        needed <= memory_bytes,
    )


def _bytes(arrays: Sequence[str]) -> int:
    """Returns the size in bytes of arrays in the notation "float32[128,784]"."""
    import tensorflow as tf

    total = 0
    for array in arrays:
        dtype, _, dims = array.partition("[")
        total += tf.as_dtype(dtype).size * math.prod(int(dim) for dim in dims.rstrip("]").split(",") if dim)
    return total


def _print(report: Report) -> None:
    print(f"\n{report.card}; {text.size(report.memory_bytes)} for programs", file=sys.stderr)
    heads = ("cluster", "ops", "compiled in", "code", "arguments", "results", "temporaries", "fits")
    rows = [
        (
            text.shortened(cluster.name, _NAME_WIDTH),
            str(cluster.ops),
            f"{cluster.compile_seconds:.2f} s",
            text.size(cluster.code_bytes),
            text.size(cluster.argument_bytes),
            text.size(cluster.result_bytes),
            text.size(cluster.temporary_bytes),
            "yes" if cluster.fits else "NO",
        )
        for cluster in report.clusters
    ]
    print(*text.table(heads, rows), sep="\n", file=sys.stderr)
    for failure in report.failures:
        print(f"  {failure}", file=sys.stderr)
