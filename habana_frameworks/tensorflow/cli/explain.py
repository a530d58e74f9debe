"""`hpu explain`: runs a program and reports the placement of every op of its graphs, with the reason."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow.cli import outputs, program

if TYPE_CHECKING:
    from habana_frameworks.tensorflow.explanation import Explanation

NOTHING_TO_EXPLAIN = 3


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "explain",
        help="run a program and report where its ops run, and why",
        description="Runs a program with the HPU loaded. Reports on stderr which ops of its graphs are on the HPU and "
        "in clusters, and why the other ops are not. The exit code is the program's; 2: wrong usage; 3: the program "
        "succeeded, but no graph had an op on the HPU.",
    )
    outputs.add_json(parser, "the full report")
    parser.add_argument("--html", metavar="FILE", help="write an HTML page that shows the graphs")
    parser.add_argument(
        "--time",
        action="store_true",
        help="time every instruction on the emulator; recipes are recompiled and run a little slower",
    )
    parser.add_argument(
        "--memory", action="store_true", help="list the tensors in device memory during a launch of each cluster"
    )
    program.add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the program and reports on its graphs, even if the program fails."""
    if not program.accepts("hpu explain", arguments, outputs.problem(arguments.json, arguments.html)):
        return 2
    from habana_frameworks.tensorflow.explanation import Collector

    if not program.load("hpu explain"):
        return 2
    collector = Collector(with_times=arguments.time, with_memory=arguments.memory)
    collector.start()
    with program.stdout_to_stderr() if arguments.json == "-" else contextlib.nullcontext():
        code = program.run("hpu explain", arguments)
    explanation = collector.stop()
    if code == 0 or explanation.graphs or explanation.eager.launches:
        print(f"\n{explanation.summary()}", end="", file=sys.stderr)
    written = _write(explanation, arguments)
    if code == 0 and not written:
        return 1
    if code == 0 and not explanation.hpu_ops:
        print(
            "hpu explain: no graph had an op on the HPU. Graphs come from tf.function, Keras and Sessions, not from "
            "eager ops.",
            file=sys.stderr,
        )
        return NOTHING_TO_EXPLAIN
    return code


def _write(explanation: Explanation, arguments: argparse.Namespace) -> bool:
    """Writes the requested outputs. Returns False if a file could not be written."""
    return outputs.write(
        "hpu explain", arguments.json, explanation.to_json, arguments.html, explanation.to_html, content="Graphs"
    )
