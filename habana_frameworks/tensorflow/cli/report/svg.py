"""Inline SVG plots: lines over time, and a bar that is divided into parts."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 860, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 12, 12, 34
_MAX_POINTS = 800
_TICKS = 4
_BAR_HEIGHT = 34


class Line(NamedTuple):
    """One line of a plot. `style`: class in style.css."""

    name: str
    style: str
    xs: Sequence[float]
    ys: Sequence[float]


class Part(NamedTuple):
    """One part of a divided bar. `share`: from 0 to 1."""

    name: str
    style: str
    share: float


def plot(lines: Sequence[Line], x_name: str, y_unit: str, y_limit: float | None = None) -> str:
    """Returns a plot of lines with common axes that begin at 0. Long lines show the largest of neighbouring values.

    y_limit: larger values are drawn at the top of the plot.
    """
    x_max = _largest(line.xs for line in lines)
    y_max = _largest(line.ys for line in lines)
    if y_limit is not None:
        y_max = min(y_max, y_limit)
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def right(x: float) -> float:
        return _LEFT + width * x / x_max

    def down(y: float) -> float:
        return _TOP + height * (1 - min(y, y_max) / y_max)

    marks = []
    for tick in _ticks(y_max):
        y = down(tick)
        marks.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        marks.append(_label(_LEFT - 6, y + 4, "end", f"{tick:.4g} {y_unit}"))
    marks += [_label(right(tick), HEIGHT - 16, "middle", f"{tick:.4g}") for tick in _ticks(x_max)]
    marks.append(_label(_LEFT + width / 2, HEIGHT - 2, "middle", x_name))
    for line in lines:
        points = " ".join(f"{right(x):.1f},{down(y):.1f}" for x, y in _thinned(line.xs, line.ys))
        title = f"<title>{html.escape(line.name)}</title>"
        marks.append(f'<polyline class="{line.style}" points="{points}">{title}</polyline>')
    return _svg(HEIGHT, ", ".join(line.name for line in lines), marks)


def divided_bar(parts: Sequence[Part], name: str) -> str:
    """Returns a bar whose parts are as long as their shares."""
    marks, x = [], 0.0
    for part in parts:
        title = f"<title>{html.escape(part.name)}: {100 * part.share:.1f} %</title>"
        marks.append(
            f'<rect class="{part.style}" x="{x:.2f}" y="0" width="{WIDTH * part.share:.2f}" height="{_BAR_HEIGHT}">'
            f"{title}</rect>"
        )
        x += WIDTH * part.share
    return _svg(_BAR_HEIGHT, name, marks)


def _svg(height: int, name: str, marks: Sequence[str]) -> str:
    label = html.escape(name, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">{"".join(marks)}</svg>'


def _label(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _largest(values: Iterable[Sequence[float]]) -> float:
    """Returns the largest value; 1 if no value is positive."""
    return max((value for sequence in values for value in sequence if value > 0), default=1.0)


def _ticks(maximum: float) -> list[float]:
    """Returns the multiples of 1, 2 or 5 times a power of ten from 0 to `maximum`, about _TICKS of them."""
    power = 10.0 ** math.floor(math.log10(maximum / _TICKS))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power * _TICKS >= maximum * 0.8)
    return [number * step for number in range(int(maximum / step * 1.000001) + 1)]


def _thinned(xs: Sequence[float], ys: Sequence[float]) -> Sequence[tuple[float, float]]:
    if len(xs) <= _MAX_POINTS:
        return list(zip(xs, ys))
    groups = [(i * len(xs) // _MAX_POINTS, (i + 1) * len(xs) // _MAX_POINTS) for i in range(_MAX_POINTS)]
    largest = [max(range(begin, end), key=ys.__getitem__) for begin, end in groups]
    return [(xs[index], ys[index]) for index in largest]
