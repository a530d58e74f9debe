"""One-line plots for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"
_UNKNOWN = "·"


def sparkline(values: Sequence[float | None], maximum: float, width: int) -> str:
    """Returns a bar for each value, from 0 to `maximum`. None is drawn as a dot.

    With more than `width` values each bar is the largest of several values.
    """
    columns = min(width, len(values))
    groups = [values[i * len(values) // columns : (i + 1) * len(values) // columns] for i in range(columns)]
    return "".join(_bar([value for value in group if value is not None], maximum) for group in groups)


def _bar(values: Sequence[float], maximum: float) -> str:
    if not values:
        return _UNKNOWN
    level = max(values) / maximum if maximum > 0 else 0.0
    return _BARS[min(len(_BARS) - 1, max(0, int(level * len(_BARS))))]
