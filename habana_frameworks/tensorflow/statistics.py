"""What this process compiled and ran so far: clusters, eager ops, fallbacks, and where ops were placed."""

from __future__ import annotations

import atexit
import dataclasses
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

_logger = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """One cluster of a graph. Clusters of the same name and size count as one."""

    name: str
    ops: int
    # Recipes compiled for it: one for each signature of dtypes and shapes that it was launched with, or fewer with
    # TF_ENABLE_DYNAMIC_SHAPES.
    recipes: int
    compile_seconds: float
    launches: int
    # Executions on the CPU instead, and the bytes that these copied between host and device.
    fallbacks: int
    fallback_bytes: int
    # All arguments, and those of them whose values are known when it is compiled.
    arguments: int = 0
    constants: int = 0
    # Bytes of the arguments of the recipe that was compiled last, and of all its recipes as they are stored.
    argument_bytes: int = 0
    recipe_bytes: int = 0
    # Why executions were on the CPU, and how many for each reason: "fallback" where the HPU could not run it; by
    # HPU_COMPILE_MODE "lazy", "compiling", "megamorphic", "compile-limit", "never" (docs/tuning/recipes.md).
    fallback_reasons: Mapping[str, int] = dataclasses.field(default_factory=dict)
    # The part of compile_seconds that goes into lowering to HLO, which a recipe from disk does not save.
    lowering_seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Eager:
    """Ops that ran outside of clusters."""

    recipes: int
    compile_seconds: float
    launches: int
    # Executions by the CPU's kernel (HPU_EAGER_COMPILE_AFTER), and the bytes that these copied.
    host_runs: int
    host_bytes: int


@dataclasses.dataclass(frozen=True)
class Placement:
    """Ops of the graphs that TensorFlow gave to the passes, by the device that they were placed on."""

    hpu_ops: int
    all_ops: int

    @property
    def hpu_share(self) -> float:
        """From 0 to 1; 0 while there was no graph."""
        return self.hpu_ops / self.all_ops if self.all_ops else 0.0


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Counts since the process started, or since reset(). The last four add up clusters and eager ops."""

    clusters: tuple[Cluster, ...]
    eager: Eager
    compile_seconds: float
    launches: int
    fallbacks: int
    fallback_bytes: int

    @property
    def launched_clusters(self) -> tuple[Cluster, ...]:
        """Those that ran on the HPU at least once."""
        return tuple(cluster for cluster in self.clusters if cluster.launches)

    def cluster(self, name_part: str) -> Cluster:
        """The one launched cluster whose name holds `name_part`; LookupError if there is none or more than one."""
        found = [cluster for cluster in self.launched_clusters if name_part in cluster.name]
        if len(found) != 1:
            names = ", ".join(cluster.name for cluster in self.launched_clusters) or "none"
            raise LookupError(f"{len(found)} launched clusters have {name_part!r} in their name; launched are: {names}")
        return found[0]


@dataclasses.dataclass(frozen=True)
class Recipes:
    """Where recipes came from, since the process started."""

    memory_hits: int
    disk_hits: int
    compiled: int
    # Of the disk cache (TF_RECIPE_CACHE_PATH): recipes that were not there, that were put there, that were there and
    # could not be used, that were removed to keep it small.
    disk_misses: int
    stored: int
    refused: int
    evicted: int
    # How often, and how long in all, another process was waited for that compiled the same recipe.
    waits: int
    wait_seconds: float
    # Of the remote cache (HPU_RECIPE_CACHE_REMOTE): recipes that were fetched, that were not there, that were there and
    # could not be used; transfers that failed; recipes that were uploaded.
    remote_hits: int = 0
    remote_misses: int = 0
    remote_refused: int = 0
    remote_failures: int = 0
    uploaded: int = 0


def parse(data: Mapping[str, Any]) -> Statistics:
    """The dataclasses for the JSON object that hpu_statistics (plugin/c_api/c_api.h) gives; more keys do no harm."""
    clusters = tuple(_dataclass(Cluster, entry) for entry in data["clusters"])
    return _dataclass(Statistics, {**data, "clusters": clusters, "eager": _dataclass(Eager, data["eager"])})  # type: ignore[no-any-return]


def _dataclass(kind: Any, data: Mapping[str, Any]) -> Any:
    # A field with a default is one that an older plugin lacks.
    missing = dataclasses.MISSING
    required = {f.name for f in dataclasses.fields(kind) if f.default is missing and f.default_factory is missing}
    fields = [f for f in dataclasses.fields(kind) if f.name in required or f.name in data]
    return kind(**{field.name: data[field.name] for field in fields})


def parse_placement(reports: Iterable[Mapping[str, Any]]) -> Placement:
    """Adds up the reports of the passes, one for each graph."""
    listed = list(reports)
    return Placement(sum(report["hpu_nodes"] for report in listed), sum(report["nodes"] for report in listed))


def get() -> Statistics:
    """Statistics of this process. Loads the module if that was not done; acquires nothing."""
    return parse(c_api.read_json(plugin_library.handle(), "hpu_statistics"))


def clusters() -> tuple[Cluster, ...]:
    """The clusters that were compiled or ran, in the order in which they came."""
    return tuple(c for c in get().clusters if c.recipes or c.launches or c.fallbacks)


def table() -> str:
    """The same as text, one cluster a line, with a running total of the time to compile."""
    plugin = plugin_library.handle()
    call = c_api.function(plugin, "hpu_statistics_table")
    call.restype = c_api.Buffer
    return c_api.take(plugin, call()).decode()


def log_at_exit() -> None:
    """Has the table logged when the program ends, if this module's logger is on for INFO then."""
    atexit.register(_log_table)


def _log_table() -> None:
    if _logger.isEnabledFor(logging.INFO) and plugin_library.is_loaded() and clusters():
        _logger.info("clusters of this process:\n%s", table())


def placement() -> Placement:
    """Where the ops of the latest graphs were placed."""
    return parse_placement(c_api.read_json(plugin_library.handle(), "hpu_graph_reports"))


def recipes() -> Recipes:
    """Where the recipes of this process came from."""
    return _dataclass(Recipes, c_api.read_json(plugin_library.handle(), "hpu_recipe_cache"))  # type: ignore[no-any-return]


def reset() -> None:
    """Sets all counters of get() to zero."""
    call = c_api.function(plugin_library.handle(), "hpu_statistics_reset")
    call.restype = None
    call()
