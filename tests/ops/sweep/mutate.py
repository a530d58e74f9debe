"""Mutation of a call, so that its arguments are likely invalid."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array

_EXTREME = (-1, 0, -(2**31), 2**31 - 1, 2**31, 2**62, -(2**63), 2**63 - 1, 1000003, 10**12)
_KINDS = ("numbers", "number", "rank up", "rank down", "longer", "shorter", "empty")


def mutate(program: Program, rng: np.random.Generator) -> Program:
    """Replaces one array: numbers out of range, another rank, or another length."""
    if not program.arrays:
        return program
    whole = [i for i, array in enumerate(program.arrays) if array.dtype.kind in "iu"]
    place = int(rng.choice(whole)) if whole and rng.random() < 0.6 else int(rng.integers(len(program.arrays)))
    arrays = list(program.arrays)
    arrays[place] = _changed(arrays[place], rng)
    return dataclasses.replace(program, arrays=tuple(arrays))


def _changed(array: Array, rng: np.random.Generator) -> Array:
    kind = str(rng.choice(_KINDS, p=[0.2, 0.3, 0.12, 0.12, 0.1, 0.1, 0.06]))
    if kind in ("numbers", "number") and array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(array.dtype)
        fitting = [number for number in _EXTREME if limits.min <= number <= limits.max]
        changed = array.copy()
        if kind == "numbers":
            changed[...] = rng.choice(np.array(fitting, object), size=array.shape).astype(array.dtype)
        else:
            changed.reshape(-1)[int(rng.integers(array.size))] = fitting[int(rng.integers(len(fitting)))]
        return changed
    if kind == "rank down" and array.ndim and array.shape[0]:
        return np.asarray(array[0])
    if kind == "longer" and array.ndim and array.size:
        return np.concatenate([array, array[:1]], 0)
    if kind == "shorter" and array.ndim and array.shape[-1]:
        return np.ascontiguousarray(array[..., :-1])
    if kind == "empty" and array.ndim:
        return np.ascontiguousarray(array[..., :0])
    return array[np.newaxis]
