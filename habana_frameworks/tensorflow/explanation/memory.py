"""Device memory of clusters during a launch: live tensors over time, by instruction and by op."""

from __future__ import annotations

import bisect
import collections
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from habana_frameworks.tensorflow._internal.text import number, shortened, size, table
from habana_frameworks.tensorflow.explanation.times import RECORDING_BACKEND

if TYPE_CHECKING:
    from habana_frameworks.tensorflow._internal.messages import report_pb2

_MAX_CLUSTERS = 4
_MAX_ROWS = 10
_KINDS = ("argument", "result", "workspace")


@dataclasses.dataclass(frozen=True)
class Buffer:
    """A tensor in device memory during a launch of a cluster."""

    kind: str
    """"argument", "result" or "workspace"."""
    instruction: str
    """Instruction of the compiled program that computes the tensor."""
    op: str
    """The op that the instruction implements, or the last of several fused ops; empty if unknown."""
    op_type: str
    shape: str
    """As XLA prints it: "f32[128,512]"."""
    bytes: int
    begin: int
    """Position in execution order at which the tensor is written; 0 for arguments."""
    end: int
    """Position of the last read; the end of the program for arguments and results."""
    source_line: str | None = None
    """Line of the program that created the op, as "file:line"; None if unknown."""

    def is_live(self, position: int) -> bool:
        return self.begin <= position <= self.end


@dataclasses.dataclass(frozen=True)
class ClusterMemory:
    """Device memory of one recipe. A launch allocates results and the whole workspace before the first instruction."""

    cluster: str
    """The cluster for which the recipe was compiled; clusters with equal programs share a recipe."""
    argument_bytes: int
    result_bytes: int
    """Without results in the memory of an argument."""
    workspace_bytes: int
    buffers: tuple[Buffer, ...]
    """The largest tensors, largest first."""
    peak: int
    """Position with the most live bytes; 0 without buffers."""
    peak_bytes: int
    """Live bytes of `buffers` at the peak."""

    @property
    def bytes(self) -> int:
        """Bytes that a launch holds."""
        return self.argument_bytes + self.result_bytes + self.workspace_bytes


def live_bytes(buffers: Sequence[Buffer]) -> list[tuple[int, int]]:
    """Returns each position at which the number of live bytes changes, with the number from there on."""
    changes: dict[int, int] = collections.defaultdict(int)
    for buffer in buffers:
        changes[buffer.begin] += buffer.bytes
        changes[buffer.end + 1] -= buffer.bytes
    live, points = 0, []
    for position in sorted(changes):
        live += changes[position]
        points.append((position, live))
    return points


FindLine = Callable[[str, str], "str | None"]
"""Returns the source line of an op by the names of the cluster and the op; None if unknown."""


def collect(find_line: FindLine) -> tuple[ClusterMemory, ...]:
    """Returns the memory of all recipes of this process; the cluster with the most bytes first."""
    from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

    return build(c_api.read_message(plugin_library.handle(), "hpu_recipe_buffers", "RecipeBuffers"), find_line)


def build(message: report_pb2.RecipeBuffers, find_line: FindLine) -> tuple[ClusterMemory, ...]:
    """Builds the memory of clusters from the message of hpu_recipe_buffers."""
    clusters = [_cluster(recipe, find_line) for recipe in message.recipes]
    return tuple(sorted(clusters, key=lambda cluster: -cluster.bytes))


def _cluster(recipe: report_pb2.RecipeBuffers.Recipe, find_line: FindLine) -> ClusterMemory:
    buffers = tuple(
        Buffer(
            _KINDS[buffer.kind],
            buffer.instruction,
            buffer.op,
            buffer.op_type,
            buffer.shape,
            buffer.bytes,
            buffer.begin,
            buffer.end,
            find_line(recipe.name, buffer.op) if buffer.op else None,
        )
        for buffer in recipe.buffers
    )
    peak, peak_bytes = max(live_bytes(buffers), key=lambda point: point[1], default=(0, 0))
    return ClusterMemory(
        recipe.name, recipe.argument_bytes, recipe.result_bytes, recipe.workspace_bytes, buffers, peak, peak_bytes
    )


def note(clusters: Sequence[ClusterMemory] | None, backend: str) -> str | None:
    """Returns the reason why no tensors are listed; None if some are, or if memory was not requested."""
    if clusters is None or any(cluster.buffers for cluster in clusters):
        return None
    if backend and backend != RECORDING_BACKEND:
        return f"No tensors: the backend {backend} does not record them; HPU_BACKEND={RECORDING_BACKEND} does"
    return "No tensors: no recipe was compiled or loaded"


def lines(clusters: Sequence[ClusterMemory], backend: str) -> Iterator[str]:
    """Yields the lines of a report for a terminal."""
    if reason := note(clusters, backend):
        yield reason
    shown = [cluster for cluster in clusters if cluster.buffers] or clusters
    for cluster in shown[:_MAX_CLUSTERS]:
        yield (
            f"Memory of {cluster.cluster}: {size(cluster.bytes)} "
            f"(arguments {size(cluster.argument_bytes)}, results {size(cluster.result_bytes)}, "
            f"workspace {size(cluster.workspace_bytes)})"
        )
        if timeline := _timeline(cluster):
            yield f"  live tensors: {timeline}  peak {size(cluster.peak_bytes)} at {cluster.peak}"
        live = [buffer for buffer in cluster.buffers if buffer.is_live(cluster.peak)]
        if not live:
            continue
        rows = [
            [
                size(buffer.bytes),
                buffer.kind,
                buffer.shape,
                f"{buffer.begin} to {buffer.end}",
                shortened(f"{buffer.op} ({buffer.op_type})" if buffer.op else buffer.instruction, 60),
                buffer.source_line or "",
            ]
            for buffer in live[:_MAX_ROWS]
        ]
        yield from table(["at the peak", "kind", "shape", "live", "op", "line"], rows)
        if len(live) > _MAX_ROWS:
            yield f"  … and {len(live) - _MAX_ROWS} smaller tensors"
        yield ""
    if len(shown) > _MAX_CLUSTERS:
        rest = sum(cluster.bytes for cluster in shown[_MAX_CLUSTERS:])
        yield f"… and {number(len(shown) - _MAX_CLUSTERS, 'more cluster')}: {size(rest)}"


def _timeline(cluster: ClusterMemory, columns: int = 40) -> str:
    """Returns live bytes over the program as a row of bars, highest at the peak."""
    points = live_bytes(cluster.buffers)
    end = max((buffer.end for buffer in cluster.buffers), default=0) + 1
    if end < 2 or not cluster.peak_bytes:
        return ""
    starts = [position for position, _ in points]
    bars = []
    for column in range(min(columns, end)):
        first, last = (end * step // min(columns, end) for step in (column, column + 1))
        inside = points[max(0, bisect.bisect_right(starts, first) - 1) : bisect.bisect_left(starts, last)]
        most = max((live for _, live in inside), default=0)
        bars.append("▁▂▃▄▅▆▇█"[min(7, 8 * most // (cluster.peak_bytes + 1))])
    return "".join(bars)
