"""Traces of HPU activity, as files for chrome://tracing and ui.perfetto.dev (docs/tuning/profiling.md).

TensorFlow's own profiler (`tf.profiler`) shows the same events next to the host's.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import os
import pathlib
import time
from collections.abc import Iterator

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library


class Recording:
    """Records copies, launches, compiles and collectives from construction until stop(). Recordings may overlap.

    detailed: include the shapes of each launch's arguments and results.
    """

    def __init__(self, detailed: bool = True) -> None:
        self._plugin = plugin_library.handle()
        self._number: int = c_api.function(self._plugin, "hpu_trace_start")(detailed)

    def stop(self) -> bytes:
        """Waits for the queued work and returns the trace as JSON, or b"" if the recording was already stopped.

        Raises errors.DeviceError if the queued work failed.
        """
        trace, error = self._stop()
        if error is not None:
            raise error
        return trace

    def write(self, path: str | os.PathLike[str]) -> None:
        """Stops the recording and writes the trace to `path`. Creates the directory if it is missing."""
        target = pathlib.Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        trace, error = self._stop()
        target.write_bytes(trace)
        if error is not None:
            raise error

    def _stop(self) -> tuple[bytes, errors.DeviceError | None]:
        """Returns the trace, and the error of the queued work if it failed."""
        failure = None
        try:
            c_api.check(self._plugin, "hpu_synchronize")
        except errors.DeviceError as error:
            failure = error
        return c_api.read(self._plugin, "hpu_trace_stop", self._number), failure


@contextlib.contextmanager
def record(path: str | os.PathLike[str], detailed: bool = True) -> Iterator[None]:
    """Traces the HPU during the `with` block and writes the trace to `path`, also after an exception."""
    recording = Recording(detailed)
    try:
        yield
    finally:
        recording.write(path)


@functools.cache
def keep_source_lines() -> None:
    """Keeps the source lines of all functions that TensorFlow traces from now on, for the events of instructions."""
    from habana_frameworks.tensorflow.explanation.source_lines import SourceLines

    lines = SourceLines()
    lines.start()

    def find(op: bytes, line: int, size: int) -> int:
        found = (lines.find_in_any(op.decode(errors="replace")) or "").encode()[: size - 1]
        ctypes.memmove(line, found + b"\0", len(found) + 1)
        return len(found)

    global _finder
    _finder = c_api.SourceLineFinder(find)
    set_finder = c_api.function(plugin_library.handle(), "hpu_trace_set_source_line_finder")
    set_finder(_finder)
    # Profiles of TensorFlow's profiler server may end after the interpreter.
    atexit.register(set_finder, c_api.SourceLineFinder())


_finder: ctypes._FuncPointer | None = None
"""The function that the plugin calls, which must stay alive."""


def mark(name: str, begin_ns: int | None = None, end_ns: int | None = None) -> None:
    """Adds a user event to all recordings: an instant (now, without arguments) or a span (times as time.time_ns())."""
    if not plugin_library.is_loaded():
        return
    begin = time.time_ns() if begin_ns is None else begin_ns
    end = begin if end_ns is None else end_ns
    c_api.function(plugin_library.handle(), "hpu_trace_mark")(name.encode(), begin, end)
