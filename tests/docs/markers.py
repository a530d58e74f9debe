"""Markers of code blocks: HTML comments before a block, invisible in rendered Markdown.

    <!-- block: continues; needs horovod -->

| Marker | Meaning |
|---|---|
| `continues` | the block runs in the process of the preceding block of its language |
| `slow` | the block's process runs with `make docs` only |
| `needs NAME` | the block is skipped without this Python module, command, or file of the tree |
| `file NAME` | the block is a file; a later shell block of the page uses it |
| `part of PATH` | the block is a part of this file of the tree |
| `figures vary` | numbers of the block's output, and their units, depend on the machine; any match |
| `not run: REASON` | the block cannot run |
"""

from __future__ import annotations

import dataclasses
import re

_COMMENT = re.compile(r"^<!-- block: (?P<text>.*) -->$")


class MarkerError(ValueError):
    """A marker that is unknown or misplaced."""


@dataclasses.dataclass(frozen=True)
class Markers:
    """Markers of one block."""

    continues: bool = False
    slow: bool = False
    figures_vary: bool = False
    needs: str = ""
    file: str = ""
    part_of: str = ""
    not_run: str = ""


_SWITCHES = {"continues": "continues", "slow": "slow", "figures vary": "figures_vary"}
_VALUES = {"needs ": "needs", "file ": "file", "part of ": "part_of", "not run: ": "not_run"}


def is_marker(line: str) -> bool:
    return line.strip().startswith("<!-- block:")


def parse(lines: list[str]) -> Markers:
    """Returns the markers in comments. Raises MarkerError."""
    found: dict[str, bool | str] = {}
    for line in lines:
        comment = _COMMENT.match(line)
        if comment is None:
            raise MarkerError(f"not a marker: {line}")
        for word in comment["text"].split("; "):
            found.update([_marker(word)])
    return Markers(**found)  # type: ignore[arg-type]


def _marker(word: str) -> tuple[str, bool | str]:
    if word in _SWITCHES:
        return _SWITCHES[word], True
    for prefix, field in _VALUES.items():
        if word.startswith(prefix) and word[len(prefix) :].strip():
            return field, word[len(prefix) :]
    raise MarkerError(f"unknown marker or missing value: {word}")
