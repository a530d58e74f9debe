"""Counters of this process: compiled and launched clusters, eager ops, CPU fallbacks, and op placement."""

from __future__ import annotations

import atexit
import dataclasses
import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

if TYPE_CHECKING:
    from habana_frameworks.tensorflow._internal.messages import report_pb2

_logger = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Counters of one cluster of a graph. Clusters of the same name and size share their counters."""

    name: str
    ops: int
    # Recipes compiled for the cluster: one per signature of dtypes and shapes, or fewer if sizes share bounded recipes.
    recipes: int
    compile_seconds: float
    launches: int
    # CPU fallbacks, and the bytes that they copied between host and device.
    fallbacks: int
    fallback_bytes: int
    # Number of arguments, and how many of them have values known at compile time.
    arguments: int = 0
    constants: int = 0
    # Bytes of the latest recipe's arguments, and bytes of all recipes of the cluster in serialized form.
    argument_bytes: int = 0
    recipe_bytes: int = 0
    # Number of CPU fallbacks by reason. "fallback": the HPU could not run the cluster. HPU_COMPILE_MODE causes "lazy",
    # "compiling", "new-shape", "faster-on-cpu", "megamorphic", "compile-limit" and "never"
    # (docs/tuning/compile_modes.md).
    fallback_reasons: Mapping[str, int] = dataclasses.field(default_factory=dict)
    # Part of compile_seconds spent on lowering to HLO. A recipe from disk does not save this time.
    lowering_seconds: float = 0.0
    # The size that changes most often, as text with its latest values; empty if none changes.
    changing_size: str = ""
    # Launches of bounded recipes (docs/tuning/dynamic_shapes.md), the bytes of their arguments of changing size, and
    # the same bytes with the padding.
    padded_launches: int = 0
    changing_bytes: int = 0
    padded_bytes: int = 0

    @property
    def padding_share(self) -> float:
        """Share of padding in the arguments of changing size of all padded launches, from 0 to 1."""
        return padding_share(self.changing_bytes, self.padded_bytes)


@dataclasses.dataclass(frozen=True)
class Eager:
    """Counters of ops outside clusters."""

    recipes: int
    compile_seconds: float
    launches: int
    # Executions by the CPU kernel, for any reason, and the bytes that they copied.
    host_runs: int
    host_bytes: int


@dataclasses.dataclass(frozen=True)
class Placement:
    """Number of ops placed on the HPU, and of all ops, in the graphs that the passes have seen."""

    hpu_ops: int
    all_ops: int

    @property
    def hpu_share(self) -> float:
        """Share of ops on the HPU, from 0 to 1; 0 without a graph."""
        return self.hpu_ops / self.all_ops if self.all_ops else 0.0


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Counts since the process started, or since reset(). The last four fields are sums over clusters and eager ops."""

    clusters: tuple[Cluster, ...]
    eager: Eager
    compile_seconds: float
    launches: int
    fallbacks: int
    fallback_bytes: int

    @property
    def launched_clusters(self) -> tuple[Cluster, ...]:
        """Clusters that ran on the HPU at least once."""
        return tuple(cluster for cluster in self.clusters if cluster.launches)

    def cluster(self, name_part: str) -> Cluster:
        """Returns the launched cluster whose name contains `name_part`. Raises LookupError unless exactly one does."""
        found = [cluster for cluster in self.launched_clusters if name_part in cluster.name]
        if len(found) != 1:
            names = ", ".join(cluster.name for cluster in self.launched_clusters) or "none"
            raise LookupError(f"{name_part!r} matches {len(found)} launched clusters, not 1; launched: {names}")
        return found[0]


@dataclasses.dataclass(frozen=True)
class Recipes:
    """Recipe counts by origin since the process started."""

    memory_hits: int
    disk_hits: int
    compiled: int
    # Disk cache (TF_RECIPE_CACHE_PATH): recipes not found, stored, found but unusable, and evicted to save space.
    disk_misses: int
    stored: int
    refused: int
    evicted: int
    # Number and total time of waits for another process that was compiling the same recipe.
    waits: int
    wait_seconds: float
    # Remote cache (HPU_RECIPE_CACHE_REMOTE): recipes fetched, not found, found but unusable; failed transfers; recipes
    # uploaded.
    remote_hits: int = 0
    remote_misses: int = 0
    remote_refused: int = 0
    remote_failures: int = 0
    uploaded: int = 0


def padding_share(changing_bytes: int, padded_bytes: int) -> float:
    """Share of padding in arrays of `padded_bytes` whose contents take `changing_bytes`; 0 without arrays."""
    return 1 - changing_bytes / padded_bytes if padded_bytes else 0.0


def parse(message: report_pb2.Statistics) -> Statistics:
    """Converts the message of hpu_statistics (plugin/c_api/c_api.h)."""
    clusters = tuple(c_api.to_dataclass(Cluster, cluster) for cluster in message.clusters)
    return c_api.to_dataclass(Statistics, message, clusters=clusters, eager=c_api.to_dataclass(Eager, message.eager))


def parse_placement(reports: Iterable[report_pb2.GraphReport]) -> Placement:
    """Adds up the ops in the passes' reports, one report per graph."""
    listed = list(reports)
    return Placement(sum(report.hpu_nodes for report in listed), sum(report.nodes for report in listed))


def get() -> Statistics:
    """Returns the statistics of this process. Loads the module if necessary; acquires nothing."""
    return parse(c_api.read_message(plugin_library.handle(), "hpu_statistics", "Statistics"))


def clusters() -> tuple[Cluster, ...]:
    """Returns the clusters that were compiled or executed, in order of first use."""
    return tuple(c for c in get().clusters if c.recipes or c.launches or c.fallbacks)


def table() -> str:
    """Returns the statistics as text: one cluster per line, with a running total of compile time."""
    return c_api.read(plugin_library.handle(), "hpu_statistics_table").decode()


def log_at_exit() -> None:
    """Registers an exit handler that logs the table if this module's logger is then enabled for INFO."""
    atexit.register(_log_table)


def _log_table() -> None:
    if _logger.isEnabledFor(logging.INFO) and plugin_library.is_loaded() and clusters():
        _logger.info("clusters of this process:\n%s", table())


def placement() -> Placement:
    """Returns the placement of the ops in the latest graphs."""
    return parse_placement(c_api.read_message(plugin_library.handle(), "hpu_graph_reports", "GraphReports").reports)


def recipes() -> Recipes:
    """Returns the recipe counts of this process. Loads the module if necessary."""
    return c_api.to_dataclass(
        Recipes, c_api.read_message(plugin_library.handle(), "hpu_recipe_cache", "RecipeCounters")
    )


def reset() -> None:
    """Sets all counters of get() to zero."""
    c_api.function(plugin_library.handle(), "hpu_statistics_reset")()
