"""Every code block of README.md and docs/ runs, and prints what the page shows.

`python -m tests.docs PAGE` runs the blocks of one page. Markers: markers.py.
"""

from __future__ import annotations

import pathlib

import pytest

from tests.docs import blocks, runner
from tests.docs.markers import MarkerError
from tests.support.processes import ROOT

# Raise it only for a block that needs hardware, network, much time or another machine, or is no program.
MAX_NOT_RUN = 32


def paths(slow: bool) -> list[pathlib.Path]:
    """Returns the pages with blocks to run or to compare, and pages with a wrong marker."""
    found = []
    for path in blocks.pages():
        try:
            page = blocks.read(path)
        except MarkerError:
            found.append(path)  # its test reports the marker
            continue
        if any(program.slow == slow for program in page.programs) or (page.parts and not slow):
            found.append(path)
    return found


def name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


def check(path: pathlib.Path, slow: bool) -> None:
    outcome = runner.run_page(blocks.read(path), slow)
    assert not outcome.failures, "\n\n".join(map(str, outcome.failures))
    if outcome.skipped and not outcome.run:
        pytest.skip("; ".join(outcome.skipped))


@pytest.mark.parametrize("path", paths(slow=False), ids=name)
def test_page(path: pathlib.Path) -> None:
    check(path, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("path", paths(slow=True), ids=name)
def test_slow_blocks(path: pathlib.Path) -> None:
    check(path, slow=True)


def test_few_blocks_are_not_run() -> None:
    not_run = [block for path in blocks.pages() for block in blocks.read(path).not_run]
    listed = "\n".join(f"{block.place}: {block.markers.not_run}" for block in not_run)
    advice = "quote single lines within a sentence, or raise MAX_NOT_RUN"
    assert len(not_run) <= MAX_NOT_RUN, f"{len(not_run)} blocks do not run: {advice}\n{listed}"
