"""All programs of changing shapes, by name."""

from __future__ import annotations

from benchmarks.changing import graphs, images, loops, selection, text
from benchmarks.changing.program import Program

PROGRAMS: dict[str, Program] = {
    **text.PROGRAMS,
    **graphs.PROGRAMS,
    **images.PROGRAMS,
    **loops.PROGRAMS,
    **selection.PROGRAMS,
}
