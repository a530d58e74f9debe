"""Division of a run's time, and choice of its steps, from given events."""

from __future__ import annotations

import pytest

from habana_frameworks.tensorflow.cli.report import svg, time_shares
from habana_frameworks.tensorflow.cli.report.events import Event, Lane, Trace
from habana_frameworks.tensorflow.cli.report.host_profile import HostEvents
from habana_frameworks.tensorflow.cli.sparkline import sparkline

EVENTS = (
    Event(Lane.COMPILE, "step", 0.0, 2.0),
    Event(Lane.COMPUTE, "step", 2.0, 3.0),
    Event(Lane.COPY_TO_HOST, "Copy to the host", 2.5, 3.5, bytes=8),
    Event(Lane.CPU_FALLBACK, "step", 4.0, 5.0),
    Event(Lane.COMPUTE, "MatMul", 5.0, 5.5),
    Event(Lane.COMPUTE, "step", 6.0, 7.0),
    Event(Lane.COMPUTE, "once", 7.0, 9.5),
)
HOST = HostEvents(waits=((3.25, 4.25), (9.75, 11.0)), tracing=((-1.0, 0.5),))


def test_each_moment_counts_once() -> None:
    parts = time_shares.divide(Trace(EVENTS, 0), HOST, {"step", "once"}, 10.0)
    assert {part.name: (part.seconds, part.count, part.busy_seconds) for part in parts} == {
        "once": (2.5, 1, 2.5),
        "step": (2.0, 2, 2.0),
        "ops outside clusters": (0.5, 1, 0.5),
        "Copies to the host": (0.5, 1, 1.0),
        "Compiles": (2.0, 1, 2.0),
        "Runs on the CPU instead": (1.0, 1, 1.0),
        "Waits for input": (0.75, 2, 1.25),
        "Tracing of tf.functions": (0.0, 1, 0.5),
        time_shares.HOST: (0.75, None, None),
    }
    assert sum(part.share for part in parts) == pytest.approx(1.0)


def test_waits_that_were_not_recorded_have_no_part() -> None:
    parts = time_shares.divide(Trace((), 0), None, set(), 10.0)
    assert [(part.kind, part.seconds) for part in parts] == [("host", 10.0)]


def test_steps_are_the_executions_of_the_most_expensive_repeated_cluster() -> None:
    steps = time_shares.find_steps(Trace(EVENTS, 0), {"step", "once"})
    assert steps is not None
    assert (steps.cluster, steps.launches, steps.fallbacks) == ("step", 2, 1)
    assert (steps.begins, steps.seconds, steps.device_seconds) == ((2.0, 4.0, 6.0), (2.0, 2.0), (1.0, 1.0, 1.0))
    assert time_shares.find_steps(Trace(EVENTS, 0), set()) is None


def test_plots_of_many_values_keep_the_largest() -> None:
    values = [1.0] * 5000
    values[4321] = 9.0
    plot = svg.plot([svg.Line("steps", "line a", range(5000), values)], "step", "ms")
    (points,) = plot.split('points="')[1:]
    heights = [float(point.partition(",")[2]) for point in points.partition('"')[0].split()]
    assert len(heights) == 800 and len(set(heights)) == 2 and heights.count(min(heights)) == 1
    assert sparkline(values, 9.0, 10) == "▁▁▁▁▁▁▁▁█▁"
    assert sparkline([0.0, None, 0.5, 1.0], 1.0, 10) == "▁·▅█"
