"""Renders an explanation as one self-contained HTML page."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import pathlib

from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.explanation.model import Findings
from habana_frameworks.tensorflow.explanation.rules import find

_FOLDER = pathlib.Path(__file__).parent / "page"
_PROGRAM = ("layout.js", "times.js", "draw.js", "words.js", "legend.js", "sidebar.js", "main.js")


def render(findings: Findings, summary: str) -> str:
    """Returns the page as HTML. `summary` needs no JavaScript to be visible."""
    data = dataclasses.asdict(findings)
    data["version"] = __version__
    data["totals"] = [dataclasses.asdict(total) for total in findings.rules()]
    data["rules"] = {total.rule.name: dataclasses.asdict(find(total.rule.name)) for total in findings.rules()}
    parts = {
        "STYLE": _read("style.css"),
        "PROGRAM": "\n".join(_read(name) for name in _PROGRAM),
        # Escapes "<", because "</script" would end the script element.
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "TEXT": html.escape(summary),
    }
    page = _read("page.html")
    for name, text in parts.items():
        before, mark, after = page.partition(f"@{name}@")
        assert mark, f"page.html has no @{name}@"
        page = before + text + after
    return page


@functools.cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
