"""Renders the result of a check as one self-contained HTML page. The page needs no JavaScript."""

from __future__ import annotations

import html
import linecache
import pathlib
from collections.abc import Iterator

from habana_frameworks.tensorflow._internal import html_template
from habana_frameworks.tensorflow._internal.text import size
from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.card_check import text
from habana_frameworks.tensorflow.card_check.model import CheckedProgram, Level, Violation
from habana_frameworks.tensorflow.card_check.origins import Line
from habana_frameworks.tensorflow.explanation import Rule

_FOLDER = pathlib.Path(__file__).parent / "page"
_CONTEXT_LINES = 2


def render(result: CheckedProgram, strict: bool) -> str:
    """Returns the page as HTML."""
    parts = {
        "VERDICT": result.verdict(strict).value.replace(" ", "-"),
        "HEADLINE": html.escape(text.headline(result, strict)),
        "BODY": "\n".join(_body(result)),
        "VERSION": html.escape(__version__),
    }
    return html_template.fill(_FOLDER, parts)


def _body(result: CheckedProgram) -> Iterator[str]:
    memory = result.memory
    yield _table(
        ("", ""),
        (
            ("Card", f"{result.card.type} ({result.card.product})"),
            ("Graphs", str(result.graphs)),
            ("Ops on the HPU", f"{result.hpu_ops} of {result.ops}"),
            ("Device memory at the peak", size(memory.peak)),
            (
                "Device memory of the card",
                f"{memory.card >> 20} MiB, of which {memory.reserved >> 20} MiB are reserved",
            ),
            ("Recipes", text.recipes(result)),
            ("Compiler of the card", text.compiler(result)),
        ),
    )
    for level, title in ((Level.FAILURE, "Failures"), (Level.NOTE, "Notes")):
        entries = [entry for entry in result.violations if entry.level is level]
        if entries:
            yield f"<h2>{title}</h2>"
        for entry in entries:
            yield from _violation(entry)
    if result.narrowed:
        yield "<h2>Narrowed to 32 bits, because the values fit</h2>"
        yield _table(
            ("Line", "Source", "Ops", "What"),
            (
                (
                    text.place(entry.line, "of libraries"),
                    entry.line.text if entry.line else "",
                    str(len(entry.ops)),
                    entry.what,
                )
                for entry in result.narrowed
            ),
        )
    if result.support:
        yield "<h2>Support of the op types on the HPU</h2>"
        yield _table(
            ("Op", "Ops", "Support", "Source"),
            ((entry.op, str(entry.count), entry.verdict, entry.source) for entry in result.support),
        )


def _violation(violation: Violation) -> Iterator[str]:
    yield f'<section class="{violation.level.value}">'
    yield (
        f"<h3>{html.escape(text.place(violation.line, violation.graph))} <small>{html.escape(violation.rule)}: "
        f"{html.escape(Rule(violation.rule).card_meaning)}</small></h3>"
    )
    if violation.line is not None:
        yield f"<pre>{''.join(_excerpt(violation.line))}</pre>"
    yield f"<p>{html.escape(violation.reason)}</p>"
    if violation.ops:
        copied = f"; {size(violation.copied_bytes)} copied" if violation.copied_bytes else ""
        yield f"<p class=dim>{html.escape(', '.join(violation.ops))}{copied}</p>"
    if violation.level is Level.FAILURE and violation.remedy:
        yield f"<p class=advice>{html.escape(violation.remedy)}</p>"
    yield "</section>"


def _excerpt(line: Line) -> Iterator[str]:
    """Yields the lines around a line of the program, with the line itself marked."""
    number = line.number
    for current in range(max(1, number - _CONTEXT_LINES), number + _CONTEXT_LINES + 1):
        source = html.escape(linecache.getline(line.path, current).rstrip("\n"))
        if not source and current > number:
            break
        row = f"{current:5}  {source}"
        yield f"<mark>{row}</mark>\n" if current == number else f"{row}\n"


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]] | tuple[tuple[str, ...], ...]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads) if any(heads) else ""
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}</table>" if head else f"<table>\n{body}</table>"
