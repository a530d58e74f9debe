"""Why ops are off the HPU or outside clusters, from their definitions and the facts of plugin/op_facts.yaml."""

from __future__ import annotations

from typing import Any

from habana_frameworks.tensorflow._internal.native import known_ops
from habana_frameworks.tensorflow._internal.native.known_ops import Fact
from habana_frameworks.tensorflow.explanation.rules import Rule
from habana_frameworks.tensorflow.op_registry import kernels
from habana_frameworks.tensorflow.op_registry.model import Place, Refusal

_PIPELINE = ("dataset", "experimental_dataset", "parsing", "io")
_OTHER_DEVICES = {"GPU": "GPU", "TPU": "TPU", "TPU_SYSTEM": "TPU"}
_CONTROL_FLOW = frozenset(
    {
        *("ControlTrigger", "Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"),
        *("RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSwitch"),
    }
)
_COMMUNICATION = frozenset({"Recv", "Send"})
# Random ops that a pass replaces by ops with the CPU's numbers, which join clusters (plugin/passes/random).
REWRITTEN = frozenset(
    {
        *("Multinomial", "RandomShuffle", "RandomStandardNormal", "RandomUniform", "RandomUniformInt"),
        *("StatelessMultinomial", "StatelessRandomNormal", "StatelessRandomNormalV2", "StatelessRandomUniform"),
        *("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt"),
        *("StatelessRandomUniformIntV2", "StatelessRandomUniformV2"),
    }
)
_DATA_SIZE = Refusal(Rule.DYNAMIC_SIZE, "the size of the result depends on values")
_MISSING = Refusal(Rule.NO_KERNEL, "neither tf2xla nor the plugin has a lowering for it")


def off_hpu(op: str, place: Place) -> Refusal | None:
    """Returns why an op is not on the HPU; None if it is."""
    if place.is_hpu:
        return None
    if place is Place.NONE:
        return Refusal(Rule.NO_KERNEL, _without_kernel(op))
    definition = kernels.definitions()[op]
    of_size = _DATA_SIZE if Fact.SIZE_FROM_VALUES in known_ops.facts(op) else None
    return _of_types(definition) or _of_host(op, definition) or of_size or _MISSING


def outside_clusters(op: str, place: Place) -> Refusal | None:
    """Returns why an op joins no cluster: RefuseByOp in plugin/passes/analysis/op_rules.cc."""
    if not place.is_hpu or op in REWRITTEN:
        return None
    facts = known_ops.facts(op)
    if op in _CONTROL_FLOW:
        return Refusal(Rule.CONTROL_FLOW, "the op is part of lowered control flow, which runs between clusters")
    if op in _COMMUNICATION or op.startswith("Collective"):
        return Refusal(Rule.COMMUNICATION, "the op waits for other processes or devices")
    if Fact.LOSES_ERROR in facts:
        return Refusal(Rule.LOST_ERROR, "the op raises errors or prints, which compiled code cannot do")
    if Fact.SIZE_FROM_VALUES in facts:
        return _DATA_SIZE
    if Fact.RANDOM_SEEDED in facts:
        return Refusal(Rule.RANDOM, "the op has seeds that compiled code would ignore")
    if Fact.RANDOM_OTHER in facts:
        return Refusal(Rule.RANDOM, "the op draws different numbers in compiled code than on the CPU")
    return Refusal(Rule.UNCOMPILABLE, "the op has no XLA lowering") if place is Place.KERNEL else None


def _without_kernel(op: str) -> str:
    """Returns why neither the HPU nor the CPU has a kernel."""
    others = sorted({_OTHER_DEVICES[name] for name in kernels.devices(op) & _OTHER_DEVICES.keys()})
    if others:
        return f"TensorFlow has kernels for the {' and the '.join(others)} only"
    return "TensorFlow's build for the CPU has no kernel for it"


def _of_types(definition: Any) -> Refusal | None:
    import tensorflow as tf

    arguments = (*definition.input_arg, *definition.output_arg)
    if any(argument.is_ref for argument in arguments):
        return Refusal(Rule.REFERENCE, "the op uses a reference variable")
    if any(argument.type == tf.string.as_datatype_enum for argument in arguments):
        return Refusal(Rule.STRING, "the op has string inputs or results")
    types = [attribute.allowed_values.list.type for attribute in definition.attr if attribute.type == "type"]
    quantized = {dtype.as_datatype_enum for dtype in (tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32)}
    if any(allowed and quantized.issuperset(allowed) for allowed in types):
        return Refusal(Rule.NO_KERNEL, "the op has quantized types, which no lowering has")
    return None


def _of_host(op: str, definition: Any) -> Refusal | None:
    import tensorflow as tf

    if kernels.family(op) in _PIPELINE:
        return Refusal(Rule.INPUT_PIPELINE, "the op belongs to the input pipeline, which runs on the host")
    handles = {dtype.as_datatype_enum for dtype in (tf.resource, tf.variant)}
    if any(argument.type in handles for argument in (*definition.input_arg, *definition.output_arg)):
        return Refusal(
            Rule.NO_KERNEL, "the op uses an object in host memory, such as a table, a tree or a sparse matrix"
        )
    return None
