"""Finds the error in a failed rank's last output lines, for the failure report of `hpu run`."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TRACEBACK = "Traceback (most recent call last):"
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Exit|Interrupt)\b")
_MAX_LENGTH = 300


def last_error(lines: Sequence[str]) -> str:
    """Returns the rest of a sentence: the exception of the last traceback, or else the last line of the output."""
    exception = _exception(lines)
    if exception:
        return f": {_shortened(exception)}"
    words = [line.strip() for line in lines if line.strip()]
    return f"; its last line: {_shortened(words[-1])}" if words else "; it printed nothing"


def _exception(lines: Sequence[str]) -> str:
    """The exception's text, which may have several lines; empty without a traceback.

    The traceback's beginning may be missing, because only the last lines are known.
    """
    starts = [at for at, line in enumerate(lines) if line == _TRACEBACK]
    if starts:
        after = range(starts[-1] + 1, len(lines))
        begin = next((at for at in after if lines[at] and not lines[at].startswith(" ")), None)
    else:
        frames = any(line.startswith("  File ") for line in lines)
        begin = next((at for at, line in enumerate(lines) if frames and _EXCEPTION.match(line)), None)
    return "" if begin is None else " ".join(" ".join(lines[begin:]).split())


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"
