"""Times of the program's waits for tf.data and of its traces of tf.functions, from TensorFlow's own profiler."""

from __future__ import annotations

import dataclasses
import pathlib
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from habana_frameworks.tensorflow.cli.report.events import Interval

# TensorFlow's name for the kernel of IteratorGetNext, which both eager loops and graphs execute.
_GET_NEXT = "IteratorGetNextOp::DoCompute"
# TensorFlow's name for the tracing of a tf.function.
_TRACING = "tf.function-graph_building"
_CLOCK = "hpu report: start"
_OPTIONS = {"host_tracer_level": 2, "python_tracer_level": 0, "device_tracer_level": 0}
MAX_SECONDS = 120
"""The profiler keeps every event of the host in memory, so it is stopped after this time."""


@dataclasses.dataclass(frozen=True)
class HostEvents:
    """Events of the host, in no order. Times are in seconds since HostProfile.start()."""

    waits: tuple[Interval, ...]
    """Calls of the input pipeline, until it returned an element."""
    tracing: tuple[Interval, ...]
    """Tracing of tf.functions."""


class HostProfile:
    """Records from start() to stop(), or until MAX_SECONDS have passed, or until the program starts a profile.

    TensorFlow runs one profile at a time; the program's own has priority.
    """

    def __init__(self) -> None:
        self.problem = ""
        """Reason why the events are unknown or incomplete; empty if they are complete."""
        self._lock = threading.Lock()
        self._session: Any = None
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._timer = threading.Timer(MAX_SECONDS, self._end, [f"recorded for the first {MAX_SECONDS} s only"])
        self._timer.daemon = True
        self._restore: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Starts TensorFlow's profiler. A failure becomes `problem`."""
        from tensorflow.python.profiler import profiler_v2, trace
        from tensorflow.python.profiler.internal import _pywrap_profiler

        self._directory = tempfile.TemporaryDirectory(prefix="hpu-report-")
        session = _pywrap_profiler.ProfilerSession()
        try:
            session.start(self._directory.name, _OPTIONS)
        except Exception as error:  # pybind11 raises several classes
            self.problem = f"not recorded: TensorFlow's profiler did not start: {error}"
            return
        with trace.Trace(_CLOCK):  # its begin in the profile is now
            pass
        self._session = session
        self._restore = _give_way(profiler_v2, lambda: self._end("recorded until the program started a profile"))
        self._timer.start()

    def stop(self) -> HostEvents | None:
        """Stops the profiler. Returns the events; None if they are unknown."""
        self._timer.cancel()
        self._restore()
        self._end("")
        if self._directory is None:
            return None
        with self._directory as directory:
            profiles = sorted(pathlib.Path(directory).rglob("*.xplane.pb"))
            return _read(profiles[0].read_bytes()) if profiles else None

    def _end(self, problem: str) -> None:
        with self._lock:
            session, self._session = self._session, None
            if session is None:
                return
            self.problem = problem
            session.export_to_tb()


def _give_way(profiler: Any, before: Callable[[], None]) -> Callable[[], None]:
    """Calls `before` whenever the program creates a profile. Returns a function that ends this."""
    bindings = profiler._pywrap_profiler

    class Bindings:
        """TensorFlow's bindings with another constructor of sessions."""

        def __getattr__(self, name: str) -> Any:
            return getattr(bindings, name)

        def ProfilerSession(self) -> Any:  # noqa: N802 (TensorFlow's name)
            before()
            return bindings.ProfilerSession()

    def restore() -> None:
        profiler._pywrap_profiler = bindings

    profiler._pywrap_profiler = Bindings()
    return restore


def _read(profile: bytes) -> HostEvents | None:
    """Returns the events in a serialized XSpace; None without the event _CLOCK."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    found: dict[str, list[Interval]] = {_CLOCK: [], _GET_NEXT: [], _TRACING: []}
    for plane in xplane_pb2.XSpace.FromString(profile).planes:
        lists = {number: found.get(metadata.name) for number, metadata in plane.event_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                intervals = lists[event.metadata_id]
                if intervals is not None:
                    begin = line.timestamp_ns / 1e9 + event.offset_ps / 1e12
                    intervals.append((begin, begin + event.duration_ps / 1e12))
    if not found[_CLOCK]:
        return None
    clock = found[_CLOCK][0][0]
    waits, tracing = (
        tuple((begin - clock, end - clock) for begin, end in found[name]) for name in (_GET_NEXT, _TRACING)
    )
    return HostEvents(waits, tracing)
