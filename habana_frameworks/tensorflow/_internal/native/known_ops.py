"""What the plugin knows of TensorFlow's ops: plugin/op_facts.yaml and plugin/op_lists/gaudi.yaml."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Iterable, Mapping
from typing import Any

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library


class Fact(enum.Enum):
    """A fact that users of an op notice. proto/hpu/ops/v1/ops.proto explains them."""

    FUSIBLE = enum.auto()
    PRODUCT = enum.auto()
    SIZE_BOUNDED = enum.auto()
    SIZE_FROM_VALUES = enum.auto()
    RANDOM_SEEDED = enum.auto()
    RANDOM_OTHER = enum.auto()
    JIT_ONLY = enum.auto()
    EAGER_ON_CPU = enum.auto()
    CHECKED_INDICES = enum.auto()
    CHECKED_VALUES = enum.auto()
    LOSES_ERROR = enum.auto()
    NARROWED = enum.auto()


@dataclasses.dataclass(frozen=True)
class ListedOp:
    """What is publicly known about a card's support of an op."""

    verdict: str = "unknown"
    """documented, inferred or unknown."""
    source: str = ""
    """Where this is said; empty if nowhere."""
    max_rank: int = 0
    """Of tensors; 0: not limited."""
    types: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """By type attribute. A documented op supports no others."""


@dataclasses.dataclass(frozen=True)
class OpList:
    """The ops that a card supports."""

    types: tuple[str, ...]
    """Of all ops."""
    index_attributes: tuple[str, ...]
    """Attributes with the type of indices, axes, shapes and sizes."""
    index_types: tuple[str, ...]
    """Types that these attributes may also have."""
    ops: Mapping[str, ListedOp]

    def op(self, name: str) -> ListedOp:
        return self.ops.get(name, ListedOp())


def facts(op: str) -> tuple[Fact, ...]:
    """Returns the facts about an op. Loads the plugin if necessary."""
    return _facts().get(op, ())


@functools.cache
def gaudi() -> OpList:
    """Returns the op list gaudi. Loads the plugin if necessary."""
    found = _message().gaudi
    ops = {
        op.name: ListedOp(
            op.verdict, op.source, op.max_rank, {name: _types(each.types) for name, each in op.types.items()}
        )
        for op in found.ops
    }
    return OpList(_types(found.types), tuple(found.index_attributes), _types(found.index_types), ops)


@functools.cache
def _facts() -> Mapping[str, tuple[Fact, ...]]:
    from habana_frameworks.tensorflow._internal.messages import ops_pb2

    return {op.name: tuple(Fact[ops_pb2.Fact.Name(fact)] for fact in op.facts) for op in _message().ops}


@functools.cache
def _message() -> Any:
    from habana_frameworks.tensorflow._internal.messages import ops_pb2

    return ops_pb2.Ops.FromString(c_api.read(plugin_library.handle(), "hpu_ops"))


def _types(numbers: Iterable[int]) -> tuple[str, ...]:
    import tensorflow as tf

    return tuple(tf.dtypes.as_dtype(number).name for number in numbers)
