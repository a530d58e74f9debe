"""Run time of clusters, by instruction of the compiled program and by op."""

from __future__ import annotations

import collections
import dataclasses
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from habana_frameworks.tensorflow._internal.text import number, shortened, table

if TYPE_CHECKING:
    from habana_frameworks.tensorflow._internal.messages import report_pb2

SETTING = "HPU_EMULATOR_PROFILE"
RECORDING_BACKEND = "emulator"
"""The only backend that records instructions and tensors of launches."""
_logger = logging.getLogger(__name__)
_MAX_CLUSTERS = 4
_MAX_ROWS = 12


@dataclasses.dataclass(frozen=True)
class InstructionTime:
    """Time of one instruction of a cluster's program, over all launches."""

    cluster: str
    """The cluster for which the recipe was compiled; clusters with equal programs share a recipe."""
    instruction: str
    kind: str
    """For example "loop fusion" or "dot"; for a kernel call the kernel's name."""
    op: str
    """The op that the instruction implements, or the last of several fused ops; empty if the compiler added it."""
    op_type: str
    seconds: float


def measure() -> None:
    """Enables timing of recipes created afterwards. Call before the first recipe is created."""
    os.environ[SETTING] = "1"


def collect() -> tuple[InstructionTime, ...]:
    """Returns the times so far, longest first within each cluster; empty if the backend does not time recipes.

    Waits for the queued work. If that work fails, logs the error and returns the times until the failure.
    """
    from habana_frameworks.tensorflow import errors, habana_device
    from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

    try:
        habana_device.synchronize()
    except errors.DeviceError as error:
        _logger.warning(
            "the HPU's queued work failed after the program ended: %s; the times stop at the failure", error
        )
    return build(c_api.read_message(plugin_library.handle(), "hpu_recipe_times", "RecipeTimes"))


def build(message: report_pb2.RecipeTimes) -> tuple[InstructionTime, ...]:
    """Builds the times from the message of hpu_recipe_times."""
    times = [
        InstructionTime(recipe.name, time.instruction, time.kind, time.op, time.op_type, time.seconds)
        for recipe in message.recipes
        for time in recipe.instructions
        if time.seconds > 0
    ]
    totals = _totals((time.cluster, time.seconds) for time in times)
    return tuple(sorted(times, key=lambda time: (-totals[time.cluster], time.cluster, -time.seconds)))


def _totals(seconds: Iterable[tuple[str, float]]) -> dict[str, float]:
    totals: dict[str, float] = collections.defaultdict(float)
    for name, value in seconds:
        totals[name] += value
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


def note(times: Sequence[InstructionTime] | None, backend: str) -> str | None:
    """Returns the reason why there are no times; None if there are some, or if times were not requested."""
    if times is None or times:
        return None
    if backend and backend != RECORDING_BACKEND:
        return f"No times: the backend {backend} does not time instructions; HPU_BACKEND={RECORDING_BACKEND} does"
    return "No times: no timed recipe ran on the HPU"


def lines(times: Sequence[InstructionTime], backend: str) -> Iterator[str]:
    """Yields the lines of a report for a terminal."""
    clusters = _totals((time.cluster, time.seconds) for time in times)
    if reason := note(times, backend):
        yield reason
    for cluster in list(clusters)[:_MAX_CLUSTERS]:
        own = [time for time in times if time.cluster == cluster]
        yield f"Time of {cluster}: {_milliseconds(clusters[cluster])}"
        by_type = _totals((time.op_type or "(made by the compiler)", time.seconds) for time in own)
        rows = [[name, _milliseconds(value), _share(value, clusters[cluster])] for name, value in by_type.items()]
        yield from table(["by op", "time", "share"], rows[:_MAX_ROWS])
        rows = [
            [
                time.instruction,
                time.kind,
                _milliseconds(time.seconds),
                _share(time.seconds, clusters[cluster]),
                shortened(time.op, 50),
            ]
            for time in own[:_MAX_ROWS]
        ]
        yield from table(["by instruction", "kind", "time", "share", "op"], rows)
        yield ""
    if len(clusters) > _MAX_CLUSTERS:
        rest = sum(list(clusters.values())[_MAX_CLUSTERS:])
        yield f"… and {number(len(clusters) - _MAX_CLUSTERS, 'more cluster')}: {_milliseconds(rest)}"


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"
