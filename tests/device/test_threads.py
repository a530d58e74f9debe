"""TF_NUM_INTEROP_THREADS holds for clusters, launched or run on the CPU, as for other ops."""

from __future__ import annotations

import pathlib

from tests.device import threads_programs as programs
from tests.profiling.traces import Event, read_chrome
from tests.support.processes import call_to, run_with_tensorflow


def cpu_runs(tmp_path: pathlib.Path, threads: int) -> list[Event]:
    """Returns the CPU runs of clusters of concurrent calls, in the order of their begin."""
    path = tmp_path / "trace.json"
    environment = {"TF_NUM_INTEROP_THREADS": str(threads), "HPU_COMPILE_MODE": "never"}
    run_with_tensorflow(call_to(programs.call_from_threads, str(path)), environment)
    found = [event for event in read_chrome(path) if event.lane == "Runs on the CPU instead"]
    assert len(found) == programs.CALLS
    return sorted(found, key=lambda event: event.begin)


def test_one_thread_runs_one_cluster_at_a_time(tmp_path: pathlib.Path) -> None:
    events = cpu_runs(tmp_path, threads=1)
    assert not any(one.overlaps(other) for one, other in zip(events, events[1:]))


def test_several_threads_run_several_clusters_at_a_time(tmp_path: pathlib.Path) -> None:
    events = cpu_runs(tmp_path, threads=programs.CALLS)
    assert any(one.overlaps(other) for one, other in zip(events, events[1:]))
