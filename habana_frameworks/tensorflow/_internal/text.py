"""Formats numbers, names, paths and tables for human readers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a table. The first column is left-aligned, the others are right-aligned."""
    lines = [heads, *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(heads))]
    for row in lines:
        cells = [
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        yield "  " + "  ".join(cells).rstrip()


def shortened(text: str, length: int) -> str:
    """Shortens a text in the middle. Keeps both ends, which distinguish the clusters of a graph."""
    return text if len(text) <= length else f"{text[: length - 9]}…{text[-8:]}"


def number(count: int, one: str, many: str = "") -> str:
    """Formats a count with its noun: "1 entry", "3 entries"."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def numbers_below(count: int) -> str:
    """Names the numbers below a positive count: "0", "0 to 7"."""
    return f"0 to {count - 1}" if count > 1 else "0"


def named_ranks(ranks: Sequence[int]) -> str:
    """Names ranks: "rank 2", "ranks 2, 3"."""
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


def size(count: float) -> str:
    """Formats a number of bytes with a decimal unit: "512 bytes", "1.5 MB"."""
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def duration(seconds: float) -> str:
    """Formats a time span in its largest unit: "45 s", "3 h", "12 d"."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def shown_path(path: str) -> str:
    """Returns a path relative to the working directory if it is inside."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def shown_line(line: str) -> str:
    """Returns "file:line" with the file as in shown_path."""
    file, _, number_of_line = line.rpartition(":")
    return f"{shown_path(file)}:{number_of_line}"
