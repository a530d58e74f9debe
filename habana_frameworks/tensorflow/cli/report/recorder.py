"""Records one run of a program for a report."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import tempfile
import time

from habana_frameworks.tensorflow import device_trace, errors, flags, statistics
from habana_frameworks.tensorflow.cli.report import events, exceptions, time_shares, versions
from habana_frameworks.tensorflow.cli.report.host_profile import HostProfile
from habana_frameworks.tensorflow.cli.report.memory import MemorySampler
from habana_frameworks.tensorflow.cli.report.model import Memory, Placement, Program, Recipes, Report, Setting
from habana_frameworks.tensorflow.explanation import Collector, Explanation

_HIDDEN = "(not shown)"


class Recorder:
    """Records from start() to stop(). Use one at a time. The HPU must be loaded."""

    def __init__(self) -> None:
        self._collector = Collector()
        self._host_profile = HostProfile()
        self._memory = MemorySampler()
        self._notes: list[str] = []

    def start(self) -> None:
        """Starts all recordings. The run starts when this function returns."""
        self._before = _recipe_counts()
        self._started = time.strftime("%Y-%m-%d %H:%M:%S")
        self._collector.start()
        self._recording = device_trace.Recording(detailed=False)
        self._memory.start()
        self._host_profile.start()
        self._start_ns = time.time_ns()

    def stop(self, program: Program) -> Report:
        """Waits for queued work, stops all recordings and returns the report.

        program: this function sets its `started` and `seconds`.
        """
        trace = self._stop_trace()
        seconds = (time.time_ns() - self._start_ns) / 1e9
        memory = self._memory.stop()
        host = self._host_profile.stop()
        explanation = self._collector.stop()
        clusters = {cluster.name for cluster in statistics.get().clusters}
        if self._host_profile.problem:
            self._notes.append(f"Waits for input and tracing: {self._host_profile.problem}.")
        elif host is None:
            self._notes.append("Waits for input and tracing: not recorded.")
        if trace.dropped:
            self._notes.append(
                f"Trace: {trace.dropped} events were not recorded, because a buffer was full; pass --steps."
            )
        if explanation.dropped_graphs:
            self._notes.append(f"Placement: {explanation.dropped_graphs} graphs were not recorded.")
        return Report(
            program=dataclasses.replace(program, started=self._started, seconds=seconds),
            steps=time_shares.find_steps(trace, clusters),
            times=time_shares.divide(trace, host, clusters, seconds),
            placement=_placement(explanation),
            exceptions=exceptions.find(explanation),
            memory=self._checked(memory),
            recipes=_difference(_recipe_counts(), self._before),
            settings=_settings(),
            versions=versions.collect(),
            notes=tuple(self._notes),
        )

    def _stop_trace(self) -> events.Trace:
        with tempfile.TemporaryDirectory(prefix="hpu-report-") as directory:
            path = pathlib.Path(directory, "trace.json")
            try:
                self._recording.write(path)
            except errors.DeviceError as error:  # the trace is written nevertheless
                self._notes.append(f"Work that was queued at the program's end failed: {error}")
            return events.parse(path.read_bytes(), self._start_ns)

    def _checked(self, memory: Memory) -> Memory:
        if memory.samples[0].host is None:
            self._notes.append("Memory of the process: not recorded, because this system has no /proc.")
        return memory


def _recipe_counts() -> Recipes:
    counts = statistics.recipes()
    return Recipes(counts.compiled, counts.disk_hits, counts.memory_hits, statistics.get().compile_seconds)


def _difference(after: Recipes, before: Recipes) -> Recipes:
    values = {field.name: getattr(after, field.name) for field in dataclasses.fields(Recipes)}
    return Recipes(**{name: value - getattr(before, name) for name, value in values.items()})


def _placement(explanation: Explanation) -> Placement:
    return Placement(
        graphs=len(explanation.traces),
        ops=explanation.ops,
        hpu_ops=explanation.hpu_ops,
        clustered_ops=explanation.clustered_ops,
        clusters=explanation.clusters,
        eager_launches=explanation.eager.launches,
        eager_cpu_runs=explanation.eager.host_runs,
        eager_copied_bytes=explanation.eager.host_bytes,
    )


def _settings() -> tuple[Setting, ...]:
    """Returns the settings that are set, also by the program."""
    return tuple(
        Setting(name, _HIDDEN if flag.secret else os.environ[name], flag.default)
        for flag in flags.ALL
        for name in flag.names_in(os.environ)
    )
