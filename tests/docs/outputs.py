"""Comparison of a program's output with the output in a page."""

from __future__ import annotations

import re

ELLIPSIS = "…"
_NUMBER = r"\d+(?:[.,]\d+)*"
# Units by quantity. A program chooses the unit by the size of the number.
_UNITS = (("us", "µs", "ms", "s", "min", "h"), ("bytes", "KB", "MB", "GB", "KiB", "MiB", "GiB"))
_FIGURE = re.compile(rf"{_NUMBER}(?: ?(?P<unit>{'|'.join(unit for units in _UNITS for unit in units)})\b)?")


def matches(expected: str, actual: str, figures_vary: bool = False) -> bool:
    """Whether `actual` is the output `expected`.

    "…" in a line stands for any text, and a line "…" for any lines. Empty lines and repeated blanks do not count.
    If figures_vary, a number stands for any number, and a unit of time or memory for the other units of that quantity.
    """
    return re.fullmatch(_pattern(expected, figures_vary), "".join(f"{line}\n" for line in _lines(actual))) is not None


def _pattern(expected: str, figures_vary: bool) -> str:
    pattern = ""
    for line in _lines(expected):
        if line == ELLIPSIS:
            pattern += r"(?:[^\n]*\n)*?"
            continue
        parts = [_escape(part, figures_vary) for part in line.split(ELLIPSIS)]
        pattern += r"[^\n]*?".join(parts) + r"\n"
    return pattern


def _escape(text: str, figures_vary: bool) -> str:
    if not figures_vary:
        return re.escape(text)
    pattern, end = "", 0
    for figure in _FIGURE.finditer(text):
        pattern += re.escape(text[end : figure.start()]) + _NUMBER
        units = next((units for units in _UNITS if figure["unit"] in units), None)
        pattern += rf" ?(?:{'|'.join(units)})\b" if units else ""
        end = figure.end()
    return pattern + re.escape(text[end:])


def _lines(text: str) -> list[str]:
    """Returns the lines that are not empty, with single blanks."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
