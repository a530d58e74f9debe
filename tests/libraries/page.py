"""Writer of docs/user/libraries.md from the outcomes of a sweep."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Sequence

HEAD = """# TensorFlow libraries on the HPU

`make libraries` installs public TensorFlow libraries in an environment of their own, and trains with each of them on
the HPU and on the CPU. A program is a file of `tests/libraries/programs`. It trains {steps} steps of fixed shapes, with
generated data and random weights. The suite compares all losses and the last weights, and writes this page. A program
also fails if a cluster cannot run on the HPU (`TF_CPU_RUNTIME_FALLBACK=forbid`), or if a crash is contained.
`make libraries LIBRARIES_ARGS=--check` repeats the run and fails if the page is outdated.

A step of **1** launch is one cluster on the HPU. Launches are averages of the steps after the first {warm_up}, which
compile. They include launches of ops outside of functions, such as updates of Keras metrics. The last column has the
reasons for more launches. `hpu explain` ([explain.md](explain.md)) finds them in other programs.
"""
_DATE = re.compile(r"^Run on .*\n", re.MULTILINE)
_MAX_REASONS, _MAX_REASON = 3, 160


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A program on both devices. `fault`: what failed, or what differs; empty if nothing."""

    library: str
    version: str
    program: str
    fault: str = ""
    launches: float = 0
    reasons: tuple[str, ...] = ()
    hpu_ms: float = 0
    cpu_ms: float = 0


def write(outcomes: Sequence[Outcome], date: datetime.date, steps: int, warm_up: int) -> str:
    """Returns the page. `date`: day of the run."""
    whole = sum(not outcome.fault and outcome.launches == 1 for outcome in outcomes)
    wrong = sum(bool(outcome.fault) for outcome in outcomes)
    libraries = len({outcome.library for outcome in outcomes})
    lines = [HEAD.format(steps=steps, warm_up=warm_up), "## Figures", "", f"Run on {date.isoformat()}.", ""]
    lines += [
        f"{libraries} libraries, {len(outcomes)} programs: {whole} train with one launch a step; {wrong} fail.",
        "",
        "| library | program | launches a step | why more than one |",
        "|---|---|---|---|",
        *map(_row, outcomes),
    ]
    return "\n".join(lines) + "\n"


def without_date(text: str) -> str:
    """Returns the text of a page without the day of its run."""
    return _DATE.sub("", text)


def _row(outcome: Outcome) -> str:
    reasons = [_cut(reason) for reason in outcome.reasons[:_MAX_REASONS]]
    more = "; …" if len(outcome.reasons) > _MAX_REASONS else ""
    why = "; ".join(reasons) + more if outcome.launches != 1 else ""
    if outcome.fault:
        why = f"**fails**: {_cut(outcome.fault)}"
    cells = (
        f"{outcome.library} {outcome.version}",
        outcome.program,
        f"{outcome.launches:.4g}" if not outcome.fault else "",
    )
    return "| " + " | ".join((*cells, why.replace("|", "/"))) + " |"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text[:_MAX_REASON] + ("…" if len(text) > _MAX_REASON else "")
