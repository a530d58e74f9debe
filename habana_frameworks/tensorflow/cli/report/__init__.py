"""`hpu report`: runs a program once and reports on it, as text and as an HTML page to send to a colleague."""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow.cli import outputs, program, program_limits

if TYPE_CHECKING:
    from habana_frameworks.tensorflow.cli.report.model import Report

NOTHING_TO_REPORT = 3
_COMMAND = "hpu report"


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "report",
        help="run a program and report its steps, time, placement, memory",
        description="Runs a program with the HPU loaded. Reports on stderr the times of its steps, where its time "
        "went, the share of its ops on the HPU with the most expensive exceptions, its memory, settings and versions. "
        "The exit code is the program's; 2: wrong usage; 3: the program succeeded, but nothing ran on the HPU.",
    )
    parser.add_argument("--html", metavar="FILE", help="write the report as an HTML page")
    outputs.add_json(parser, "the report")
    program_limits.add_steps(parser)
    program.add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the program and reports on it, even if the program fails."""
    if not program.accepts(_COMMAND, arguments, outputs.problem(arguments.json, arguments.html)):
        return 2
    if not program.load(_COMMAND):
        return 2
    from habana_frameworks.tensorflow.cli.report.model import Program
    from habana_frameworks.tensorflow.cli.report.recorder import Recorder

    recorder = Recorder()
    watch = program_limits.Watch(_COMMAND, arguments.steps, None)
    recorder.start()
    code = 0
    with program.stdout_to_stderr() if arguments.json == "-" else contextlib.nullcontext(), watch.stopping():
        code = program.run(_COMMAND, arguments)
    report = recorder.stop(Program(arguments.script, tuple(arguments.arguments), code, stopped=watch.reason))
    watch.exit_code = _exit_code(code, _write(report, arguments), report)
    return watch.exit_code


def _exit_code(code: int, written: bool, report: Report) -> int:
    if code:
        return code
    if not written:
        return 1
    if report.steps is None and not report.placement.hpu_ops and not report.placement.eager_launches:
        graphs = "graphs come from tf.function, Keras and Sessions, not from eager ops"
        print(f"{_COMMAND}: nothing ran on the HPU; {graphs}", file=sys.stderr)
        return NOTHING_TO_REPORT
    return 0


def _write(report: Report, arguments: argparse.Namespace) -> bool:
    """Writes the requested outputs. Returns False if a file could not be written."""
    from habana_frameworks.tensorflow.cli.report import page, text

    print(f"\n{text.render(report)}", end="", file=sys.stderr)
    return outputs.write(
        _COMMAND,
        arguments.json,
        report.to_json,
        arguments.html,
        lambda file: pathlib.Path(file).write_text(page.render(report), encoding="utf-8"),
    )
