"""Derives the support of each op from TensorFlow's registries, the facts about ops and the op list gaudi."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from habana_frameworks.tensorflow._internal.native import known_ops, plugin_library
from habana_frameworks.tensorflow._internal.native.known_ops import Fact
from habana_frameworks.tensorflow.op_registry import gaudi, kernels, refusals
from habana_frameworks.tensorflow.op_registry.model import Place, RegisteredOp

_NOTES = {
    Fact.FUSIBLE: "XLA fuses the op with its neighbours",
    Fact.PRODUCT: "HPU_FP32_MATH=bfloat16 rounds the float32 operands",
    Fact.SIZE_FROM_VALUES: "with jit_compile=True, the size of the result is bounded by the shapes",
    Fact.SIZE_BOUNDED: "the size of the result depends on values; the result stays in its cluster",
    Fact.JIT_ONLY: "compiled only with jit_compile=True",
    Fact.EAGER_ON_CPU: "outside clusters, the CPU's kernel runs on copies",
    Fact.CHECKED_INDICES: "a check outside the cluster raises the CPU's error for indices out of range",
    Fact.CHECKED_VALUES: "a check outside the cluster raises the CPU's error for bad values",
    Fact.NARROWED: "under the op list gaudi, 64-bit values that fit into 32 bits are narrowed",
}
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
    notes = [_NOTES[fact] for fact in known_ops.facts(name) if fact in _NOTES]
    notes += [_REWRITTEN] if name in refusals.REWRITTEN else []
    return tuple(notes)
