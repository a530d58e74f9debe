"""Reads TensorFlow's registries of ops and kernels."""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

HPU = "HPU"
LOWERING = "XLA_HPU_JIT"
"""The device that lowerings are registered for."""
CPU = "CPU"
ANY_DEVICE = "DEFAULT"
_OWN = ("Habana", "Hpu", "PyramidRoiAlign")
_OWN_FAMILY = "habana"
_OTHER_FAMILY = "other"


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A registered kernel or lowering. An attribute without an entry accepts all dtypes of the op."""

    types: Mapping[str, tuple[Any, ...]]


@functools.cache
def kernels() -> Mapping[str, Mapping[str, Sequence[Kernel]]]:
    """Returns all kernels by device and op, as of the first call: load libraries of ops before it."""
    import tensorflow as tf
    from tensorflow.python.framework import kernels as registered

    found: dict[str, dict[str, list[Kernel]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for kernel in registered.get_all_registered_kernels().kernel:
        types = {
            constraint.name: tuple(map(tf.as_dtype, constraint.allowed_values.list.type))
            for constraint in kernel.constraint
        }
        found[kernel.device_type][kernel.op].append(Kernel(types))
    return found


@functools.cache
def definitions() -> Mapping[str, Any]:
    """Returns the definitions (OpDef) of all registered ops by name, in alphabetical order."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    ops = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    return {op.name: op for op in sorted(ops.op, key=lambda op: str(op.name))}


def is_own(op: str) -> bool:
    """Whether the op is the plugin's own, not TensorFlow's."""
    return op.lstrip("_").startswith(_OWN)


def is_of_tests(op: str) -> bool:
    """Whether the op belongs to TensorFlow's own tests or to another part of TensorFlow without Python functions."""
    import tensorflow as tf

    has_call = hasattr(tf.raw_ops, op) or op.startswith("_")
    return not has_call and op not in kernels()[HPU] and op not in kernels()[LOWERING]


def devices(op: str) -> set[str]:
    """Returns the devices that have a kernel for the op."""
    return {device for device, ops in kernels().items() if op in ops}


def types(op: str, on: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Returns the dtypes of the op's kernels on some devices by type attribute; an empty tuple: all dtypes."""
    import tensorflow as tf

    found: dict[str, tuple[str, ...]] = {}
    registered = [kernel for device in on for kernel in kernels().get(device, {}).get(op, ())]
    for attribute in definitions()[op].attr:
        if attribute.type not in ("type", "list(type)"):
            continue
        allowed = tuple(map(tf.as_dtype, attribute.allowed_values.list.type))
        names = {dtype.name for kernel in registered for dtype in kernel.types.get(attribute.name, allowed)}
        unlimited = any(attribute.name not in kernel.types for kernel in registered) and not allowed
        found[attribute.name] = () if unlimited else tuple(sorted(names))
    return found


def family(op: str) -> str:
    """Returns the family of an op: the name of the module that TensorFlow generates for it, such as math or nn."""
    if is_own(op):
        return _OWN_FAMILY
    return _families().get(op, _OTHER_FAMILY)


@functools.cache
def _families() -> Mapping[str, str]:
    from tensorflow.python import ops

    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(ops.__path__):
        if module.name.startswith("gen_"):
            name = module.name.removeprefix("gen_").removesuffix("_v2").removesuffix("_ops")
            for op in vars(importlib.import_module(f"tensorflow.python.ops.{module.name}")):
                if op in definitions():
                    found.setdefault(op, name)
    found.update({op: "xla" for op in definitions() if op.startswith("Xla")})
    found.update({op: "internal" for op in definitions() if op.startswith("_")})
    return found
