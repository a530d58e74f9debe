"""`hpu synapse-check`: compiles every node of the Gaudi backend, and programs, with the installed SynapseAI."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import sys
from typing import Any

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow.cli import numbers
from habana_frameworks.tensorflow.cli.checks import Finding, Level
from habana_frameworks.tensorflow.cli.checks.gaudi import kernels, library
from habana_frameworks.tensorflow.cli.synapse_check import process, views
from habana_frameworks.tensorflow.cli.synapse_check.report import Report

GENERATIONS = ("gaudi", "gaudi2", "gaudi3")
_COMMAND = "hpu synapse-check"
_TIMEOUT_SECONDS = 300.0


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "synapse-check",
        help="compile all nodes of the Gaudi backend with the installed SynapseAI",
        description="Compiles one graph for each node and type that the Gaudi backend uses, and the programs of a "
        "folder, with SynapseAI. Acquires no card and needs none. Exit code 0: SynapseAI refuses no graph; 1: "
        "SynapseAI refuses a graph or crashes, or a program cannot be read; 2: wrong usage, or SynapseAI cannot be "
        "used.",
    )
    parser.add_argument(
        "--library", metavar="PATH", help="SynapseAI's library (default: the path in HPU_BACKEND, else libSynapse.so)"
    )
    parser.add_argument(
        "--generation", choices=GENERATIONS, help="compile for this generation (default: the cards' generation)"
    )
    parser.add_argument(
        "--programs", metavar="FOLDER", help="also compile the programs *.hlo and *.pb: HLO as text or serialised"
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=numbers.positive,
        default=_TIMEOUT_SECONDS,
        help="end the compilation of a graph that takes longer (default: %(default)g)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--report", metavar="FILE", help="write a text file with versions and all refused graphs")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Checks the library, compiles all graphs, and prints the outcomes."""
    path = arguments.library or _default_library()
    findings = [*library.check(path), *kernels.check()]
    error = next((finding for finding in findings if finding.subject == library.SUBJECT and _is_error(finding)), None)
    if error is not None:
        print(f"{_COMMAND}: {error.text}\n  -> {error.remedy}", file=sys.stderr)
        return 2
    checked = process.Options(path, arguments.generation or "", arguments.programs or "", arguments.timeout)
    try:
        report = process.check(checked, tuple(findings))
        if arguments.report:
            pathlib.Path(arguments.report).write_text("\n".join(views.file_lines(report)) + "\n")
    except (process.CheckError, OSError) as problem:
        print(f"{_COMMAND}: {problem}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(_as_json(report), indent=2))
    else:
        print(*views.table_lines(report), sep="\n")
    return int(bool(report.failures()))


def _default_library() -> str:
    scheme, _, path = flags.backend().partition(":")
    return path if scheme == "gaudi" and path else library.DEFAULT


def _is_error(finding: Finding) -> bool:
    return finding.level is Level.ERROR


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "library": dataclasses.asdict(report.library),
        "findings": [{**dataclasses.asdict(finding), "level": finding.level.value} for finding in report.findings],
        "totals": {outcome.value: count for outcome, count in report.totals().items()},
        "graphs": [{**dataclasses.asdict(graph), "outcome": graph.outcome.value} for graph in report.graphs],
    }
