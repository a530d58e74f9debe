"""Renders a report as one HTML page that needs no other file and no network. The page is also well-formed XML."""

from __future__ import annotations

import html
import pathlib
from collections.abc import Iterable, Sequence

from habana_frameworks.tensorflow._internal import html_template
from habana_frameworks.tensorflow._internal.text import number as number_of
from habana_frameworks.tensorflow._internal.text import size
from habana_frameworks.tensorflow.cli.report import svg, wording
from habana_frameworks.tensorflow.cli.report.model import PlacementException, Report, Steps

_FOLDER = pathlib.Path(__file__).parent / "page"
_MAX_EXCEPTIONS = 3
_NUMBERED_STYLES = 4
# Largest step time of the plot, as a multiple of the time that 90 % of the steps do not exceed.
_LIMIT = 2.0


def render(report: Report) -> str:
    """Returns the page as HTML."""
    parts = {
        "TITLE": html.escape(f"hpu report: {pathlib.Path(report.program.script).name}"),
        "PROGRAM": _program(report),
        "STEPS": _steps(report.steps),
        "TIMES": _times(report),
        "PLACEMENT": _placement(report),
        "MEMORY": _memory(report),
        "SETTINGS": _settings(report),
        "VERSIONS": _table(("", ""), [(name, version) for name, version in report.versions.items()]),
        "NOTES": "".join(_paragraph(note) for note in report.notes) or _paragraph("All figures were recorded."),
    }
    return html_template.fill(_FOLDER, parts)


def _program(report: Report) -> str:
    program = report.program
    stopped = f" Stopped: {program.stopped}." if program.stopped else ""
    return f"<p><code>{html.escape(wording.command(program))}</code></p>" + _paragraph(
        f"Started {program.started}, ran {program.seconds:.1f} s, exit code {program.exit_code}.{stopped}"
    )


def _steps(steps: Steps | None) -> str:
    text = _paragraph(wording.steps(steps))
    if steps is None or not steps.seconds:
        return text
    numbers = [float(number) for number in range(1, len(steps.seconds) + 1)]
    lines = (
        svg.Line("step time", "line a", numbers, [1e3 * value for value in steps.seconds]),
        svg.Line("time of the cluster itself", "line b", numbers, [1e3 * value for value in steps.device_seconds[:-1]]),
    )
    # A few long steps, such as the first one, would leave no height for the others.
    limit = 1e3 * _LIMIT * (steps.quantile(0.9) or 0.0)
    above = sum(value > limit for value in lines[0].ys)
    if above:
        text += _paragraph(f"{number_of(above, 'step')} longer than {limit:.4g} ms: drawn at the top of the plot.")
    legend = _legend((line.name, line.style) for line in lines)
    return text + legend + svg.plot(lines, "step", "ms", y_limit=limit)


def _times(report: Report) -> str:
    styles: list[str] = []
    for part in report.times:
        same = sum(style.startswith(part.kind) for style in styles)
        styles.append(f"{part.kind} n{same % _NUMBERED_STYLES}")
    parts = [svg.Part(part.name, style, part.share) for part, style in zip(report.times, styles)]
    rows = [
        (part.name, wording.seconds(part.seconds), wording.percent(part.share), wording.details(part))
        for part in report.times
    ]
    bar = svg.divided_bar(parts, "Shares of the run time")
    return bar + _table(("", "time", "share", "events"), rows, [f"swatch {style}" for style in styles])


def _placement(report: Report) -> str:
    listed = "".join(_exception(exception, report.program.script) for exception in report.exceptions[:_MAX_EXCEPTIONS])
    if not report.exceptions and report.placement.ops:
        listed = _paragraph("No op needs a remedy.")
    rest = len(report.exceptions) - _MAX_EXCEPTIONS
    more = _paragraph(f"{rest} less expensive exceptions: see hpu explain.") if rest > 0 else ""
    return _paragraph(wording.placement(report.placement)) + listed + more


def _exception(exception: PlacementException, script: str) -> str:
    if exception.source_line:
        line = wording.location(exception.source_line, script)
        where = f"<code>{html.escape(line)}: {html.escape(exception.source)}</code>"
    else:
        where = "line of the program: not recorded"
    return (
        f'<div class="exception"><b>{html.escape(exception.rule)}</b> ({html.escape(wording.cost(exception))}): '
        f"{html.escape(exception.meaning)}<br/>{where}<br/>{html.escape(wording.ops(exception))}<br/>"
        f"What to do: {html.escape(exception.remedy)}.</div>"
    )


def _memory(report: Report) -> str:
    memory = report.memory
    xs = [sample.seconds for sample in memory.samples]
    device = svg.Line("device memory in use", "line a", xs, [sample.device / 1e6 for sample in memory.samples])
    text = f"Device memory: {wording.memory(memory)}. Sampled every {1e3 * memory.interval:.0f} ms."
    plots = _paragraph(text) + svg.plot([device], "seconds", "MB")
    hosts = [sample.host for sample in memory.samples if sample.host is not None]
    if len(hosts) < len(xs):
        return plots
    host = svg.Line("memory of the process", "line b", xs, [value / 1e6 for value in hosts])
    return plots + _paragraph(f"Memory of the process: peak {size(max(hosts))}.") + svg.plot([host], "seconds", "MB")


def _settings(report: Report) -> str:
    if not report.settings:
        return _paragraph("All at their defaults.")
    rows = [(setting.name, setting.value, setting.default or "empty") for setting in report.settings]
    return _table(("", "value", "default"), rows)


def _legend(entries: Iterable[tuple[str, str]]) -> str:
    spans = (f'<span><i class="swatch {style}"></i>{html.escape(name)}</span>' for name, style in entries)
    return f'<p class="legend">{"".join(spans)}</p>'


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], swatches: Sequence[str] = ()) -> str:
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    body = []
    for number, row in enumerate(rows):
        swatch = f'<i class="{swatches[number]}"></i>' if swatches else ""
        cells = "".join(f"<td>{html.escape(text)}</td>" for text in row[1:])
        body.append(f"<tr><td>{swatch}{html.escape(row[0])}</td>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
