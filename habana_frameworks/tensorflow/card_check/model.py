"""Data classes of a check by the rules of a card."""

from __future__ import annotations

import dataclasses
import enum

from habana_frameworks.tensorflow._internal.card_table import Card
from habana_frameworks.tensorflow.card_check.origins import Line


class Level(enum.Enum):
    """Severity of a violation."""

    FAILURE = "failure"
    """The program leaves the card, recompiles or does not fit: it runs slowly or not at all."""
    NOTE = "note"
    """Expected or cheap: an op that the program itself placed on the CPU, a counter."""


class Verdict(enum.Enum):
    """Verdict over a program."""

    PASSES = "passes"
    FAILS = "fails"
    NOTHING_CHECKED = "nothing checked"
    """No graph had an op for the card."""


@dataclasses.dataclass(frozen=True)
class Violation:
    """A rule of the card that one line of the program breaks."""

    rule: str
    """Name of an explanation.Rule."""
    level: Level
    line: Line | None
    """None if libraries alone created the ops."""
    graph: str
    """Empty for a violation of the whole program."""
    ops: tuple[str, ...]
    """Names of the ops."""
    op_types: tuple[str, ...]
    reason: str
    remedy: str
    copied_bytes: int = 0
    """Bytes copied between HPU and CPU because of the ops, over all runs."""


@dataclasses.dataclass(frozen=True)
class Narrowed:
    """Ops of one line that compute in 32 instead of 64 bits, because their values fit."""

    line: Line | None
    """None if libraries alone created the ops."""
    ops: tuple[str, ...]
    what: str
    """What the passes did: "computes in int32", "reads int32"."""


@dataclasses.dataclass(frozen=True)
class OpSupport:
    """What is publicly known about the card's support of an op type."""

    op: str
    """The op type; with " in float16" and the like for results of a type that later generations added."""
    verdict: str
    """documented, inferred or unknown (plugin/op_lists/gaudi.yaml)."""
    source: str
    """Source of the verdict; empty if no source mentions the op."""
    count: int
    """Ops of this type on the HPU, over all graphs; equal traces of one function count once."""


@dataclasses.dataclass(frozen=True)
class Memory:
    """Device memory, in bytes."""

    peak: int
    """Highest use during the check: tensors, variables and temporaries of recipes. Compilers differ in temporaries."""
    card: int
    """Memory of the card."""
    reserved: int
    """Part of the card's memory that collectives and SynapseAI need (TF_HCCL_MEMORY_ALLOWANCE_MB)."""


@dataclasses.dataclass(frozen=True)
class Compiler:
    """What the card's compiler did during the check."""

    target: str
    """Compiler and card, as in the keys of recipes (hal::DeviceInfo::compiler_target)."""
    refused: tuple[str, ...]
    """Clusters that were not compiled as a whole; violations have the ops, lines and reasons."""


@dataclasses.dataclass(frozen=True)
class CheckedProgram:
    """What a check found."""

    card: Card
    graphs: int
    ops: int
    hpu_ops: int
    violations: tuple[Violation, ...]
    """Failures first, in the order of their lines."""
    narrowed: tuple[Narrowed, ...]
    support: tuple[OpSupport, ...]
    memory: Memory
    recipes: int
    """Recipes that the program needed: compiled, or loaded from disk."""
    compile_seconds: float
    """Time to lower, and to compile or load, these recipes, on this machine."""
    compiler: Compiler | None
    """None if the card's compiler took no part: the clusters were compiled for another device."""

    @property
    def failures(self) -> tuple[Violation, ...]:
        return tuple(entry for entry in self.violations if entry.level is Level.FAILURE)

    @property
    def unknown_ops(self) -> tuple[OpSupport, ...]:
        return tuple(entry for entry in self.support if entry.verdict == "unknown")

    def verdict(self, strict: bool = False) -> Verdict:
        """Returns the verdict. strict: ops of unknown support count as failures."""
        if self.failures or (strict and self.unknown_ops):
            return Verdict.FAILS
        return Verdict.PASSES if self.hpu_ops else Verdict.NOTHING_CHECKED
