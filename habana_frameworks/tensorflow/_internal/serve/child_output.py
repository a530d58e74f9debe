"""Rate limit on the output of the fork server and the session processes, which clients could flood."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

_READ_BYTES = 64 << 10
_MAX_BYTES = 64 << 10
_INTERVAL_SECONDS = 10
# Translation table that replaces control characters. Keeps the bytes of UTF-8 sequences.
_PRINTABLE = bytes(code if (code >= 32 and code != 127) or code in b"\n\t" else 32 for code in range(256))


class OutputLimit:
    """Passes at most 64 KiB per 10 s, cuts at the end of a line, and counts the omitted bytes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = clock()
        self._left = _MAX_BYTES
        self._omitted = 0

    def take(self, data: bytes) -> bytes:
        """Returns the bytes to write for `data`, preceded by a notice if earlier bytes were omitted.

        Replaces control characters by spaces, because clients control parts of the output.
        """
        notice = b""
        if self._clock() - self._begin >= _INTERVAL_SECONDS:
            if self._omitted:
                notice = f"({self._omitted} earlier bytes of the sessions' output were not logged)\n".encode()
            self._begin, self._left, self._omitted = self._clock(), _MAX_BYTES, 0
        taken = data if len(data) <= self._left else data[: data.rfind(b"\n", 0, self._left) + 1]
        self._left = self._left - len(taken) if len(taken) == len(data) else 0
        self._omitted += len(data) - len(taken)
        return notice + taken.translate(_PRINTABLE)


class ChildOutput:
    """Pipe that forwards the children's output to `target`, up to the rate limit, until all children have ended.

    Belongs to one event loop.
    """

    def __init__(self, target: int) -> None:
        """target: a file descriptor that the caller owns."""
        self._target = target
        self._limit = OutputLimit()
        self._loop = asyncio.get_running_loop()
        self._read_end, self.write_end = os.pipe()
        """Descriptor for the children. Call close_write_end() once the children have inherited it."""
        os.set_blocking(self._read_end, False)
        self._loop.add_reader(self._read_end, self.pass_on)

    def close_write_end(self) -> None:
        os.close(self.write_end)

    def pass_on(self) -> None:
        """Forwards available output, or closes the pipe at end of file. Does nothing after close()."""
        if self._read_end < 0:
            return
        try:
            data = os.read(self._read_end, _READ_BYTES)
        except BlockingIOError:
            return
        if data:
            self._write(self._limit.take(data))
        else:
            self.close()

    def close(self) -> None:
        """Closes the pipe. Children that still write get EPIPE."""
        if self._read_end >= 0:
            self._loop.remove_reader(self._read_end)
            os.close(self._read_end)
            self._read_end = -1

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._target, data) :]
        except OSError:
            return  # the server keeps running without a log
