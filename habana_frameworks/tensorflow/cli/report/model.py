"""Data classes of a report: what one run of a program did, and where its time went."""

from __future__ import annotations

import dataclasses
import json

FORMAT = 1
"""Version of the JSON format; increases when a field changes its meaning or is removed."""


@dataclasses.dataclass(frozen=True)
class Program:
    """The program that ran."""

    script: str
    arguments: tuple[str, ...]
    exit_code: int
    started: str = ""
    """Local time, "2026-05-04 10:15:32"."""
    seconds: float = 0.0
    """Run time, from the program's first line until its last work on the device ended."""
    stopped: str = ""
    """Reason why the program was stopped; empty if it ended by itself."""


@dataclasses.dataclass(frozen=True)
class Steps:
    """Executions of the cluster with the most time. A step lasts until the next step begins; the last has no time."""

    cluster: str
    launches: int
    fallbacks: int
    """Executions by the CPU."""
    begins: tuple[float, ...]
    """Seconds since the program's start."""
    seconds: tuple[float, ...]
    """Time of each step except the last."""
    device_seconds: tuple[float, ...]
    """Time of each execution itself, on the HPU or on the CPU."""

    @property
    def count(self) -> int:
        return len(self.begins)

    def quantile(self, share: float) -> float | None:
        """Returns the step time that this share of the steps does not exceed; None with fewer than two steps."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


@dataclasses.dataclass(frozen=True)
class TimeShare:
    """Part of the run time. Each moment counts for one part only, so the parts' `seconds` sum to the run time."""

    kind: str
    """"cluster", "eager", "collective", "copy", "compile", "cpu", "input", "tracing" or "host"."""
    name: str
    seconds: float
    share: float
    """From 0 to 1."""
    count: int | None = None
    """Number of events; None for "host"."""
    busy_seconds: float | None = None
    """Time in which an event of this part was active, including moments that count for other parts."""
    bytes: int = 0
    """Bytes of copies and collectives."""


@dataclasses.dataclass(frozen=True)
class Placement:
    """Number of ops in graphs, and of ops outside graphs by the device that executed them."""

    graphs: int
    ops: int
    hpu_ops: int
    clustered_ops: int
    clusters: int
    eager_launches: int
    eager_cpu_runs: int
    eager_copied_bytes: int

    @property
    def hpu_share(self) -> float:
        """Share of the graphs' ops on the HPU, from 0 to 1; 0 without a graph."""
        return self.hpu_ops / self.ops if self.ops else 0.0


@dataclasses.dataclass(frozen=True)
class PlacementException:
    """Ops off the HPU or outside clusters, or a cluster that ran on the CPU: one rule, and one line of the program."""

    rule: str
    meaning: str
    remedy: str
    reason: str
    """Reason of the first op."""
    ops: tuple[str, ...]
    """Names with types: "Exp (Exp)". An op that is in several graphs counts once."""
    graph: str
    """The most expensive of the graphs."""
    graphs: int
    """Number of graphs with this exception, such as the traces of one function. Costs are sums over the graphs."""
    copied_bytes: int
    cpu_runs: int
    """Executions on the CPU of ops or clusters that are on the HPU."""
    splits: int
    """Number of cluster pairs that the ops separate."""
    source_line: str | None
    """"file:line"; None if unknown."""
    source: str
    """Text of that line; empty if unknown."""


@dataclasses.dataclass(frozen=True)
class MemorySample:
    """Memory at one time, in bytes."""

    seconds: float
    """Since the program's start."""
    device: int
    host: int | None
    """Resident memory of the process; None if unknown."""


@dataclasses.dataclass(frozen=True)
class Memory:
    """Memory over time. Samples are taken at intervals; `device_peak` is exact."""

    samples: tuple[MemorySample, ...]
    interval: float
    """Seconds between two samples."""
    device_peak: int
    device_limit: int
    workspace: int
    """Part of the device memory in use at the end: temporaries of recipes."""


@dataclasses.dataclass(frozen=True)
class Recipes:
    """Recipes of the program by origin."""

    compiled: int
    disk_hits: int
    memory_hits: int
    compile_seconds: float
    """Sum over all clusters and eager ops, also of compiles in the background."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting that is set. `value` is hidden for secrets."""

    name: str
    value: str
    default: str


@dataclasses.dataclass(frozen=True)
class Report:
    """Everything that `hpu report` shows."""

    program: Program
    steps: Steps | None
    """None if no cluster ran."""
    times: tuple[TimeShare, ...]
    placement: Placement
    exceptions: tuple[PlacementException, ...]
    """The most expensive is first."""
    memory: Memory
    recipes: Recipes
    settings: tuple[Setting, ...]
    versions: dict[str, str]
    notes: tuple[str, ...]
    """Figures that were not recorded, with the reason."""

    def to_json(self) -> str:
        """Returns a JSON object with the fields of this class and "format"."""
        return json.dumps({"format": FORMAT, **dataclasses.asdict(self)}, indent=2)
