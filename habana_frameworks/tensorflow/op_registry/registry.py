"""Derives the support of each op from TensorFlow's registries, the facts about ops and the op list gaudi."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from habana_frameworks.tensorflow._internal import op_fact_words
from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow.op_registry import gaudi, kernels, refusals
from habana_frameworks.tensorflow.op_registry.model import Place, RegisteredOp

_NOTES = {
    "fusible": "XLA fuses the op with its neighbours",
    "product": "HPU_FP32_MATH=bfloat16 rounds the float32 operands",
    "size: data": "with jit_compile=True, the size of the result is bounded by the shapes",
    "size: bounded": "the size of the result depends on values; the result stays in its cluster",
    "compile: jit_only": "compiled only with jit_compile=True",
    "eager: cpu": "outside clusters, the CPU's kernel runs on copies",
    "indices": "a check outside the cluster raises the CPU's error for indices out of range",
    "values": "a check outside the cluster raises the CPU's error for bad values",
}
_NARROWED = "under the op list gaudi, 64-bit values that fit into 32 bits are narrowed"
_REWRITTEN = "in clusters, a pass replaces the op by ops that draw the CPU's numbers"


@functools.cache
def ops() -> Mapping[str, RegisteredOp]:
    """Returns the ops of TensorFlow and of the plugin by name, in alphabetical order. Loads the module if necessary.

    Libraries of ops that are loaded after the first call are missing.
    """
    plugin_library.load()
    return {name: _op(name) for name in kernels.definitions() if not kernels.is_of_tests(name)}


def _op(name: str) -> RegisteredOp:
    place = _place(name)
    on = [kernels.HPU, kernels.LOWERING]
    if place is Place.KERNEL and kernels.HPU not in kernels.devices(name):
        on = [kernels.ANY_DEVICE]
    types = kernels.types(name, on) if place.is_hpu else {}
    return RegisteredOp(
        name,
        kernels.family(name),
        place,
        types,
        refusals.off_hpu(name, place),
        refusals.outside_clusters(name, place),
        _notes(name) if place.is_hpu else (),
        gaudi.support(name, types) if place.is_hpu else None,
    )


def _place(name: str) -> Place:
    devices = kernels.devices(name)
    if kernels.LOWERING in devices:
        return Place.COMPILED if kernels.HPU in devices else Place.CLUSTERS
    if devices & {kernels.HPU, kernels.ANY_DEVICE}:
        return Place.KERNEL
    return Place.CPU if kernels.CPU in devices else Place.NONE


def _notes(name: str) -> tuple[str, ...]:
    facts = op_fact_words.OPS.get(name, ())
    notes = [_NOTES[fact] for fact in facts if fact in _NOTES]
    notes += [_NARROWED] if any(fact.startswith("narrowing") for fact in facts) else []
    notes += [_REWRITTEN] if name in refusals.REWRITTEN else []
    return tuple(notes)
