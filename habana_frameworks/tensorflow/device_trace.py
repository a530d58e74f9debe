"""Records what the HPU does, as trace files that chrome://tracing and ui.perfetto.dev show (docs/tuning/profiling.md).

TensorFlow's own profiler (`tf.profiler`) shows the same beside the host's work.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import time
from collections.abc import Iterator

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library


class Recording:
    """Of copies, launches, compiles and collectives, from its making until stop(). Several may run at once.

    detailed: with the shapes of what each launch takes and gives.
    """

    def __init__(self, detailed: bool = True) -> None:
        self._plugin = plugin_library.handle()
        self._number: int = c_api.function(self._plugin, "hpu_trace_start")(ctypes.c_int32(detailed))

    def stop(self) -> bytes:
        """Waits for the queued work and returns the trace as JSON; b"" if it was stopped before."""
        c_api.check(self._plugin, "hpu_synchronize")
        stop = c_api.function(self._plugin, "hpu_trace_stop")
        stop.restype = c_api.Buffer
        return c_api.take(self._plugin, stop(ctypes.c_int32(self._number)))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Stops and writes the trace to a file, whose directory is made if need be."""
        target = pathlib.Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.stop())


@contextlib.contextmanager
def record(path: str | os.PathLike[str], detailed: bool = True) -> Iterator[None]:
    """Writes a trace of what the HPU does inside to `path`, also if an exception ends it."""
    recording = Recording(detailed)
    try:
        yield
    finally:
        recording.write(path)


def mark(name: str, begin_ns: int | None = None, end_ns: int | None = None) -> None:
    """Adds an event of the program's own to all recordings: a moment, now, or a span (time.time_ns())."""
    if not plugin_library.is_loaded():
        return
    begin = time.time_ns() if begin_ns is None else begin_ns
    end = begin if end_ns is None else end_ns
    add = c_api.function(plugin_library.handle(), "hpu_trace_mark")
    add.restype = None
    add(name.encode(), ctypes.c_int64(begin), ctypes.c_int64(end))
