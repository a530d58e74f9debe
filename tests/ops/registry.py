"""Queries of TensorFlow's registries of ops and kernels."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

RESOURCE = tf.resource.as_datatype_enum


@functools.cache
def kernels_by_device() -> dict[str, dict[str, list[Any]]]:
    """Returns the kernel definitions by op and device type."""
    found: dict[str, dict[str, list[Any]]] = {}
    for kernel in kernels.get_all_registered_kernels().kernel:
        found.setdefault(kernel.op, {}).setdefault(kernel.device_type, []).append(kernel)
    return found


def op_def(op: str) -> Any:
    return op_def_registry.get(op)


def type_attributes(op: str) -> list[Any]:
    return [attribute for attribute in op_def(op).attr if attribute.type == "type"]


def _types(kernel: Any, attribute: Any) -> list[int] | None:
    """Returns the dtypes that a kernel supports for an attribute; None: all dtypes."""
    for constraint in kernel.constraint:
        if constraint.name == attribute.name:
            return list(constraint.allowed_values.list.type)
    return list(attribute.allowed_values.list.type) or None


def takes(kernel: Any, types: dict[str, int]) -> bool:
    """Whether a kernel supports the dtypes."""
    allowed = {attribute.name: _types(kernel, attribute) for attribute in type_attributes(kernel.op)}
    return all(allowed[name] is None or value in (allowed[name] or []) for name, value in types.items())


def choices(kernel: Any, among: list[tf.DType]) -> Iterator[dict[str, int]]:
    """Yields each combination of dtypes from `among` that a kernel supports."""
    enums = [dtype.as_datatype_enum for dtype in among]
    attributes = type_attributes(kernel.op)
    allowed = [[enum for enum in enums if enum in (_types(kernel, a) or enums)] for a in attributes]
    for values in itertools.product(*allowed):
        yield dict(zip([attribute.name for attribute in attributes], values))


def has_kernel(op: str, device: str, types: dict[str, int]) -> bool:
    """Whether the device, or DEVICE_DEFAULT, has a kernel for an op with these dtypes."""
    registered = kernels_by_device().get(op, {})
    return any(takes(kernel, types) for kernel in [*registered.get(device, []), *registered.get("DEFAULT", [])])
