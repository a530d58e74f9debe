"""Reference implementation of the bfloat16 conversion: slow, and independent of the plugin.

docs/tuning/mixed_precision.md defines the rules.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

FLOAT = tf.float32.as_datatype_enum
BF16 = tf.bfloat16.as_datatype_enum
NO_DATA = {tf.resource.as_datatype_enum, tf.variant.as_datatype_enum, tf.string.as_datatype_enum}
CONTRACTS = {"_Arg", "_Retval", "Const", "Placeholder", "Cast", "Bitcast", "_Send", "_Recv", "_HostSend", "_HostRecv"}
CONTROL_FLOW = {"Switch", "Merge", "Enter", "Exit", "NextIteration"}
STORED = {"Const", "ReadVariableOp"}

Config = Mapping[str, Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class Ports:
    """Type attribute of each data input and output, with its index in a list attribute; None: a fixed dtype."""

    inputs: list[tuple[str, int] | None]
    outputs: list[tuple[str, int] | None]


def ports(node: tf.compat.v1.NodeDef) -> Ports:
    definition = op_def_registry.get(node.op)

    def expand(arguments: Iterable[Any]) -> list[tuple[str, int] | None]:
        result: list[tuple[str, int] | None] = []
        for argument in arguments:
            if argument.type_list_attr:
                count = len(node.attr[argument.type_list_attr].list.type)
                result += [(argument.type_list_attr, i) for i in range(count)]
                continue
            repeats = node.attr[argument.number_attr].i if argument.number_attr else 1
            result += repeats * [(argument.type_attr, 0) if argument.type_attr else None]
        return result

    return Ports(expand(definition.input_arg), expand(definition.output_arg))


@functools.cache
def lowered_in_bf16(op: str, attr: str) -> bool:
    """Whether the HPU's compiler supports bfloat16 for that attribute of the op."""
    for kernel in kernels.get_registered_kernels_for_op(op).kernel:
        if kernel.device_type != "XLA_HPU_JIT":
            continue
        allowed = [c.allowed_values.list.type for c in kernel.constraint if c.name == attr]
        if all(BF16 in types for types in allowed):
            return True
    return False


def convertible_attrs(node: tf.compat.v1.NodeDef) -> set[str]:
    """Returns the type attributes that the conversion of the node changes; empty if the node cannot be converted."""
    definition = op_def_registry.get(node.op)
    if node.op in CONTRACTS | CONTROL_FLOW or definition is None:
        return set()
    if any(value.HasField("func") or value.list.func for value in node.attr.values()):
        return set()
    if any(argument.type in NO_DATA for argument in [*definition.input_arg, *definition.output_arg]):
        return set()
    if any(value.type in NO_DATA or NO_DATA & set(value.list.type) for value in node.attr.values()):
        return set()
    found = []
    for attr in definition.attr:
        value = node.attr[attr.name]
        if attr.allowed_values.list.type and BF16 not in attr.allowed_values.list.type:
            continue
        if (attr.type == "type" and value.type == FLOAT) or (attr.type == "list(type)" and FLOAT in value.list.type):
            found.append(attr.name)
    if "T" in node.attr and node.attr["T"].type in (FLOAT, BF16):
        found = [name for name in found if name == "T"]
    governed = {port[0] for port in [*ports(node).inputs, *ports(node).outputs] if port}
    if not governed & set(found) or not all(lowered_in_bf16(node.op, name) for name in found):
        return set()
    return set(found)


def converted(graph: tf.compat.v1.GraphDef, config: Config, hpu: str) -> dict[str, str]:
    """Returns the nodes that `config` converts, each with the list that converts it."""
    nodes = {node.name: node for node in graph.node}
    attrs = {name: convertible_attrs(node) if node.device == hpu else set() for name, node in nodes.items()}

    def becomes_bf16(port: tuple[str, int] | None, node: tf.compat.v1.NodeDef) -> bool:
        if port is None or port[0] not in attrs[node.name]:
            return False
        value = node.attr[port[0]]
        return (value.list.type[port[1]] if value.list.type else value.type) == FLOAT

    edges: list[tuple[str, str, bool, bool]] = []  # source, target, output is converted, input is converted
    for node in graph.node:
        for port, source in zip(ports(node).inputs, (s for s in node.input if not s.startswith("^"))):
            name, _, output = source.partition(":")
            output_port = ports(nodes[name]).outputs[int(output or 0)]
            edges.append((name, node.name, becomes_bf16(output_port, nodes[name]), becomes_bf16(port, node)))

    around: dict[str, list[tuple[str, str, bool, bool]]] = {name: [] for name in nodes}
    for edge in edges:
        around[edge[0]].append(edge)
        if edge[0] != edge[1]:
            around[edge[1]].append(edge)

    def excepted(node: tf.compat.v1.NodeDef, key: str) -> bool:
        inlined = re.sub("^((Stateful)?PartitionedCall(_[0-9]+)?/)+", "", node.name)
        return any(
            op in ("", node.op) and (re.fullmatch(name, node.name) or re.fullmatch(name, inlined))
            for name, op in config.get(key, [])
        )

    def rule(node: tf.compat.v1.NodeDef) -> str:
        if excepted(node, "non_convertible_exceptions"):
            return ""
        if excepted(node, "convertible_exceptions"):
            return "convertible_exceptions"
        for key in ("allowlist", "conditional_list", "strict_conditional_list"):
            if node.op in config.get(key, []):
                return key
        return ""

    rules = {name: rule(node) if attrs[name] else "" for name, node in nodes.items()}
    result = {name: key for name, key in rules.items() if key in ("allowlist", "convertible_exceptions")}
    while True:
        before = len(result)
        for name, key in rules.items():
            if key == "conditional_list" and any(
                from_end and to_end and (target if source == name else source) in result
                for source, target, from_end, to_end in around[name]
            ):
                result[name] = key
            if key == "strict_conditional_list" and all(
                nodes[source].op in STORED or (from_end and source in result)
                for source, target, from_end, to_end in around[name]
                if target == name and to_end
            ):
                result[name] = key
        if len(result) == before:
            return result


def casts_are_minimal(before: tf.compat.v1.GraphDef, after: tf.compat.v1.GraphDef) -> None:
    """Fails if an added cast is redundant because of another cast."""
    old = {node.name for node in before.node}
    nodes = {node.name: node for node in after.node}
    seen: dict[tuple[str, int], str] = {}
    exact = {tf.as_dtype(name).as_datatype_enum for name in ("bool", "int8", "uint8", "half", "bfloat16")}
    for node in after.node:
        if node.op != "Cast":
            continue
        source, target = node.attr["SrcT"].type, node.attr["DstT"].type
        other = seen.setdefault((node.input[0], target), node.name)
        assert {node.name, other} <= old or other == node.name, f"{node.name} and {other} cast one tensor to one type"
        assert node.name in old or source != target, f"{node.name} casts to the type that it has"
        behind = nodes[node.input[0].split(":")[0]]
        if behind.op == "Cast" and not {node.name, behind.name} <= old:
            first = behind.attr["SrcT"].type
            assert not (first in exact and source == FLOAT), f"{node.name} repeats {behind.name}"
