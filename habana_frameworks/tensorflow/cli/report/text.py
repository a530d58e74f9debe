"""Text form of a report, for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from habana_frameworks.tensorflow._internal.text import number, shortened, table
from habana_frameworks.tensorflow.cli.report import wording
from habana_frameworks.tensorflow.cli.report.model import PlacementException, Report
from habana_frameworks.tensorflow.cli.sparkline import sparkline

_WIDTH = 110
_PLOT = 60
_MAX_EXCEPTIONS = 3


def render(report: Report) -> str:
    """Returns the report as lines for a terminal."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    program = report.program
    yield f"{wording.command(program)}: {program.seconds:.1f} s, exit code {program.exit_code}"
    if program.stopped:
        yield f"The program was stopped: {program.stopped}."
    yield ""
    yield from _steps(report)
    yield ""
    yield "Where the time went:"
    rows = [
        [shortened(part.name, 48), wording.seconds(part.seconds), wording.percent(part.share), wording.details(part)]
        for part in report.times
    ]
    yield from table(["", "time", "share", ""], rows)
    yield ""
    yield from _placement(report)
    yield ""
    memory = report.memory
    yield f"Device memory: {wording.memory(memory)}"
    yield f"  {sparkline([sample.device for sample in memory.samples], memory.device_peak, _PLOT)}"
    yield f"Recipes: {wording.recipes(report.recipes)}"
    settings = ", ".join(f"{setting.name}={setting.value}" for setting in report.settings)
    yield from textwrap.wrap(f"Settings: {settings or 'all at their defaults'}", _WIDTH, subsequent_indent="  ")
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    yield from textwrap.wrap(f"Versions: {versions}", _WIDTH, subsequent_indent="  ")
    for note in report.notes:
        yield from textwrap.wrap(note, _WIDTH, subsequent_indent="  ")


def _steps(report: Report) -> Iterator[str]:
    yield wording.steps(report.steps)
    if report.steps is not None and report.steps.seconds:
        yield f"  {sparkline(report.steps.seconds, max(report.steps.seconds), _PLOT)}"


def _placement(report: Report) -> Iterator[str]:
    yield from textwrap.wrap(wording.placement(report.placement), _WIDTH, subsequent_indent="  ")
    for exception in report.exceptions[:_MAX_EXCEPTIONS]:
        yield from _exception(exception, report.program.script)
    if len(report.exceptions) > _MAX_EXCEPTIONS:
        rest = number(len(report.exceptions) - _MAX_EXCEPTIONS, "less expensive exception")
        yield f"  … and {rest}: see `hpu explain`"


def _exception(exception: PlacementException, script: str) -> Iterator[str]:
    yield f"  {exception.rule} ({wording.cost(exception)}): {exception.meaning}"
    if exception.source_line is None:
        yield "      line of the program: not recorded"
    else:
        yield f"      {wording.location(exception.source_line, script)}: {exception.source}"
    yield from textwrap.wrap(wording.ops(exception), _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 8)
    yield f"      -> {exception.remedy}"
