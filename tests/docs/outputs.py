"""Comparison of a program's output with the output in a page."""

from __future__ import annotations

import re

ELLIPSIS = "…"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def matches(expected: str, actual: str, figures_vary: bool = False) -> bool:
    """Whether `actual` is the output `expected`.

    "…" in a line stands for any text, and a line "…" for any lines. Empty lines and repeated blanks do not count.
    If figures_vary, a number stands for any number.
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
    return _NUMBER.pattern.join(re.escape(part) for part in _NUMBER.split(text))


def _lines(text: str) -> list[str]:
    """Returns the lines that are not empty, with single blanks."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
