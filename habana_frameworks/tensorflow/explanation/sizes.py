"""Sizes that change from run to run, and how the clusters handle them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from habana_frameworks.tensorflow._internal.text import number, shortened, shown_line
from habana_frameworks.tensorflow.explanation.model import Cluster, Graph, counted_clusters
from habana_frameworks.tensorflow.explanation.rules import Rule

_MAX_CLUSTERS = 6
_MUCH_PADDING = 0.1
_OFTEN = 0.1


def lines(graphs: Sequence[Sequence[Graph]]) -> Iterator[str]:
    """Returns the lines of the summary, from an empty one on; none if no size changes.

    graphs: the traces of each graph.
    """
    found = [
        (cluster, traces[0].line_of_cluster(cluster.name))
        for traces in graphs
        for cluster in counted_clusters(traces[:1])
        if cluster.changing_size
    ]
    if not found:
        return
    found.sort(key=lambda item: -(item[0].launches + item[0].fallbacks))
    yield ""
    yield "Sizes that change:"
    for cluster, line in found[:_MAX_CLUSTERS]:
        place = f"{shown_line(line)}: " if line else ""
        yield f"  {place}{shortened(cluster.name, 48)}: {cluster.changing_size}"
        yield f"      {_handling(cluster)}"
        yield from (f"      -> {advice}" for advice in _advice(cluster))
    if len(found) > _MAX_CLUSTERS:
        yield f"  … and {number(len(found) - _MAX_CLUSTERS, 'more cluster')}"


def _handling(cluster: Cluster) -> str:
    parts = [number(cluster.recipes, "recipe"), number(cluster.launches, "launch", "launches")]
    if cluster.padded_launches:
        parts.append(
            f"{cluster.padded_launches} of them of bounded recipes, {100 * cluster.padding_share:.0f} % padding"
        )
    if cluster.fallbacks:
        reasons = ", ".join(f"{reason} {times}" for reason, times in sorted(cluster.fallback_reasons.items()))
        parts.append(f"{number(cluster.fallbacks, 'run')} on the CPU ({reasons})")
    return "; ".join(parts)


def _advice(cluster: Cluster) -> Iterator[str]:
    waiting = cluster.fallback_reasons.get(Rule.NEW_SHAPE, 0) + cluster.fallback_reasons.get(Rule.COMPILING, 0)
    if waiting > _OFTEN * (cluster.launches + cluster.fallbacks):
        yield "`hpu warmup` stores the recipes of all sizes before the program runs (docs/user/cache_tool.md)"
    if cluster.padding_share > _MUCH_PADDING:
        yield (
            "batches that the input pipeline pads to 4, 6, 8, 12, 16, 24, 32, 48, … need no masks "
            "(docs/tuning/dynamic_shapes.md)"
        )
