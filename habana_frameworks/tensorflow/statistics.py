"""What this process compiled and ran so far: clusters, eager ops, fallbacks, and where ops were placed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from habana_frameworks.tensorflow import _c_api, library_loader


@dataclasses.dataclass(frozen=True)
class Cluster:
    """One cluster of a graph."""

    name: str
    ops: int
    # Recipes compiled for it: one for each signature of dtypes and shapes that it was launched with.
    recipes: int
    compile_seconds: float
    launches: int
    # Executions on the CPU instead.
    fallbacks: int
    # Bytes of the arguments of its latest launch.
    argument_bytes: int


@dataclasses.dataclass(frozen=True)
class Eager:
    """Ops that ran outside of graphs."""

    compiled: int
    cpu_runs: int


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Counts since the process started."""

    clusters: tuple[Cluster, ...]
    eager: Eager
    # Ops of the graphs seen so far, by the device that they were placed on.
    hpu_ops: int
    cpu_ops: int
    compile_seconds: float
    launches: int
    fallbacks: int
    fallback_bytes: int

    @property
    def hpu_share(self) -> float:
        """Share of the graphs' ops that are on the HPU, from 0 to 1; 0 while no graph has run."""
        total = self.hpu_ops + self.cpu_ops
        return self.hpu_ops / total if total else 0.0

    def since(self, earlier: Statistics) -> Statistics:
        """What was added after `earlier`: clusters that are new or were launched, and differences of the counts."""
        before = {cluster.name: cluster for cluster in earlier.clusters}
        clusters = []
        for cluster in self.clusters:
            old = before.get(cluster.name)
            if old is None:
                clusters.append(cluster)
            elif cluster.launches > old.launches or cluster.fallbacks > old.fallbacks:
                clusters.append(
                    dataclasses.replace(
                        cluster,
                        recipes=cluster.recipes - old.recipes,
                        compile_seconds=cluster.compile_seconds - old.compile_seconds,
                        launches=cluster.launches - old.launches,
                        fallbacks=cluster.fallbacks - old.fallbacks,
                    )
                )
        return Statistics(
            clusters=tuple(clusters),
            eager=Eager(
                self.eager.compiled - earlier.eager.compiled,
                self.eager.cpu_runs - earlier.eager.cpu_runs,
            ),
            hpu_ops=self.hpu_ops - earlier.hpu_ops,
            cpu_ops=self.cpu_ops - earlier.cpu_ops,
            compile_seconds=self.compile_seconds - earlier.compile_seconds,
            launches=self.launches - earlier.launches,
            fallbacks=self.fallbacks - earlier.fallbacks,
            fallback_bytes=self.fallback_bytes - earlier.fallback_bytes,
        )


def parse(data: Mapping[str, Any]) -> Statistics:
    """The dataclasses for the JSON object that hpu_statistics gives; unknown keys are ignored."""
    return Statistics(
        clusters=tuple(_fields(Cluster, entry) for entry in data["clusters"]),
        eager=_fields(Eager, data["eager"]),
        hpu_ops=int(data["hpu_ops"]),
        cpu_ops=int(data["cpu_ops"]),
        compile_seconds=float(data["compile_seconds"]),
        launches=int(data["launches"]),
        fallbacks=int(data["fallbacks"]),
        fallback_bytes=int(data["fallback_bytes"]),
    )


def _fields(kind: Any, data: Mapping[str, Any]) -> Any:
    return kind(**{field.name: data[field.name] for field in dataclasses.fields(kind)})


def get() -> Statistics:
    """Statistics of this process. Loads the module if that was not done; acquires nothing."""
    return parse(_c_api.read_json(library_loader.plugin(), "hpu_statistics"))
