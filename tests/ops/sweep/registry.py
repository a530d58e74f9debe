"""Queries of TensorFlow's registries of ops and kernels, by device."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.python.framework import kernels, op_def_registry

from tests.ops.sweep.records import Claim

HPU = "HPU"
LOWERING = "XLA_HPU_JIT"
_ANY_DEVICE = "DEFAULT"


@dataclasses.dataclass(frozen=True)
class Kernel:
    """Dtypes of a registered kernel by attribute. An attribute without an entry accepts all dtypes."""

    types: Mapping[str, Sequence[tf.DType]]


@functools.cache
def _kernels() -> Mapping[str, Mapping[str, Sequence[Kernel]]]:
    """Returns the kernels by device and op."""
    found: dict[str, dict[str, list[Kernel]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for kernel in kernels.get_all_registered_kernels().kernel:
        types = {
            constraint.name: tuple(map(tf.as_dtype, constraint.allowed_values.list.type))
            for constraint in kernel.constraint
        }
        found[kernel.device_type][kernel.op].append(Kernel(types))
    return found


def cpu_kernels(op: str) -> Sequence[Kernel]:
    """Returns the kernels that may compute the op on the CPU."""
    return [*_kernels()["CPU"].get(op, ()), *_kernels()[_ANY_DEVICE].get(op, ())]


@functools.cache
def _xla_calls() -> Mapping[str, Callable[..., Any]]:
    """Returns the Python functions of XLA ops, by lower-case op name."""
    return {name.replace("_", ""): call for name, call in vars(gen_xla_ops).items() if name.startswith("xla_")}


def call_of(op: str) -> Callable[..., Any]:
    """Returns TensorFlow's Python function for the op."""
    return getattr(tf.raw_ops, op, None) or _xla_calls()[op.lower()]


def is_callable(op: str) -> bool:
    return hasattr(tf.raw_ops, op) or op.lower() in _xla_calls()


def definition(op: str) -> Any:
    return op_def_registry.get(op)


def claims() -> list[Claim]:
    """Returns all TensorFlow ops that the HPU supports. Requires the loaded plugin."""
    by_device = _kernels()
    names = {*by_device[HPU], *by_device[LOWERING], *by_device[_ANY_DEVICE]}
    own = _own_ops()
    return [_claim(name) for name in sorted(names - own) if definition(name) is not None]


def _own_ops() -> set[str]:
    """Returns the plugin's own ops, which are not part of TensorFlow."""
    names = {*_kernels()[HPU], *_kernels()[LOWERING]}
    return {name for name in names if name.lstrip("_").startswith(("Habana", "Hpu", "PyramidRoiAlign"))}


def _claim(op: str) -> Claim:
    by_device = _kernels()
    types = {
        dtype.name
        for device in (HPU, LOWERING)
        for kernel in by_device[device].get(op, ())
        for allowed in kernel.types.values()
        for dtype in allowed
    }
    return Claim(
        op, op in by_device[HPU], op in by_device[_ANY_DEVICE], op in by_device[LOWERING], tuple(sorted(types))
    )
