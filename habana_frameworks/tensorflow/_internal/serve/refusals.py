"""Rate-limited log of refused calls and connections, so that clients cannot fill the disk."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from habana_frameworks.tensorflow._internal.serve.status import Code, code_name

_logger = logging.getLogger(__name__)
_MAX_LINES = 20
_INTERVAL_SECONDS = 10
# Status codes that count as refusals. Other codes are normal: a client disconnected, or all modules were held.
_REFUSALS = frozenset(
    {
        Code.INVALID_ARGUMENT,
        Code.NOT_FOUND,
        Code.PERMISSION_DENIED,
        Code.RESOURCE_EXHAUSTED,
        Code.FAILED_PRECONDITION,
        Code.UNIMPLEMENTED,
        Code.INTERNAL,
        Code.UNAUTHENTICATED,
    }
)


class RefusalLog:
    """Writes at most 20 lines per 10 s, for all connections together."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = clock() - _INTERVAL_SECONDS
        self._lines = 0
        self._omitted = 0

    def add_call(self, peer: str, method: str, code: int, message: str) -> None:
        """Logs a call that a session process ended with an error."""
        if code in _REFUSALS:
            self.add(f"refused {method} of {peer}: {code_name(code)}: {message}")
        else:
            _logger.info("%s", printable(f"call of {method} ended: {code_name(code)}: {message}"))

    def add(self, line: str) -> None:
        """Logs a refusal, unless the limit is reached."""
        written = self.line(line)
        if written:
            _logger.warning("%s", written)

    def line(self, line: str) -> str:
        """Returns the line to write; empty if the limit is reached."""
        now = self._clock()
        if now - self._begin >= _INTERVAL_SECONDS:
            if self._omitted:
                line += f" ({self._omitted} earlier refusals were not logged)"
            self._begin, self._lines, self._omitted = now, 0, 0
        self._lines += 1
        if self._lines > _MAX_LINES:
            self._omitted += 1
            return ""
        return printable(line)


def printable(text: str) -> str:
    """Replaces control characters by spaces, because clients control parts of the text."""
    return "".join(character if character.isprintable() else " " for character in text)
