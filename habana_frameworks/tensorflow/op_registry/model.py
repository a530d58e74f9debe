"""Data classes of the support of TensorFlow's ops by the HPU."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

AttributeTypes = Mapping[str, tuple[str, ...]]
"""Names of dtypes by the op's type attribute. An empty tuple means all dtypes."""


class Place(enum.Enum):
    """How the HPU runs an op."""

    COMPILED = "compiled"
    """In clusters, and as a recipe of its own outside."""
    CLUSTERS = "clusters only"
    """In clusters. Elsewhere the CPU runs the op."""
    KERNEL = "kernel"
    """Outside clusters, with a kernel that moves or queues values, or runs the CPU's kernel on copies."""
    CPU = "CPU"
    """On the CPU."""
    NONE = "no kernel"
    """TensorFlow has no kernel for the op on the HPU or the CPU."""

    @property
    def is_hpu(self) -> bool:
        return self in (Place.COMPILED, Place.CLUSTERS, Place.KERNEL)


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why an op is off the HPU or outside clusters."""

    rule: str
    """Name in explanation.RULES."""
    reason: str


@dataclasses.dataclass(frozen=True)
class GaudiSupport:
    """What is publicly known about a Gaudi card's support of an op (plugin/op_lists/gaudi.yaml)."""

    verdict: str
    """documented, inferred or unknown. "not listed": no list refuses constants, calls, control flow and own ops."""
    source: str
    """Empty if no source mentions the op."""
    max_rank: int
    """Highest rank of tensors; 0: not limited."""
    types: AttributeTypes
    """Types that are known to work. Other types fail for a documented op, and may work for any other op."""


@dataclasses.dataclass(frozen=True)
class RegisteredOp:
    """An op of TensorFlow's registry, with its support on the HPU.

    The backends emulator, null, remote, pjrt and gaudi share kernels and lowerings, so `place` and `types` are the same
    for all. `gaudi` is a further limit, which HPU_OP_LIST=gaudi or HPU_CARD_RULES=on applies.
    """

    name: str
    family: str
    """Name of the module that TensorFlow generates for the op, without gen_ and _ops: math, nn, dataset."""
    place: Place
    types: AttributeTypes
    """Types of the HPU's kernels and lowerings; empty if the op is not on the HPU."""
    off_hpu: Refusal | None
    """Why the op is not on the HPU; None if it is."""
    outside_clusters: Refusal | None
    """Why the op joins no cluster; None if it does. An op with a lowering still compiles with jit_compile=True."""
    notes: tuple[str, ...]
    """Facts about the op on the HPU, each a clause."""
    gaudi: GaudiSupport | None
    """None if the op is not on the HPU, whatever the card."""
