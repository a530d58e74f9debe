"""Renders an explanation as one self-contained HTML page."""

from __future__ import annotations

import dataclasses
import html
import json
import pathlib

from habana_frameworks.tensorflow._internal import html_template
from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.explanation import memory, times
from habana_frameworks.tensorflow.explanation.model import Findings

_FOLDER = pathlib.Path(__file__).parent / "page"
_PROGRAM = ("layout.js", "times.js", "memory.js", "draw.js", "words.js", "legend.js", "sidebar.js", "main.js")


def render(findings: Findings, summary: str) -> str:
    """Returns the page as HTML. `summary` needs no JavaScript to be visible."""
    data = dataclasses.asdict(findings)
    data["version"] = __version__
    # Reasons why requested lists are empty.
    data["notes"] = {
        "times": times.note(findings.times, findings.backend),
        "memory": memory.note(findings.memory, findings.backend),
    }
    data["rules"] = {total.rule.value: total.rule.as_dict() for total in findings.rules()}
    parts = {
        "PROGRAM": "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in _PROGRAM),
        # Escapes "<", because "</script" would end the script element.
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "TEXT": html.escape(summary),
    }
    return html_template.fill(_FOLDER, parts)
