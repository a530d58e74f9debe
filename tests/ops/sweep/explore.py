"""Search for seeds of an op for which the CPU returns values, and for some that raise errors."""

from __future__ import annotations

import collections
import dataclasses
import re
import time
from collections.abc import Iterator

import numpy as np

from tests.ops.sweep import generic, modes
from tests.ops.sweep.case import Case
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Found, Mode, Outcome

_NO_KERNEL = re.compile(r"<no registered kernels>|Could not find device for node|No OpKernel was registered")
_SECONDS = 6.0  # time limit of the search for one op


def explore(device: str, op: str, first: int, last: int, enough: int) -> Iterator[int | Found]:
    """Yields each seed before it runs, then its result, if the result is small enough to compare.

    Stops after `enough` values and half as many errors, after twice as many values, or after _SECONDS.
    """
    found: collections.Counter[bool] = collections.Counter()
    end = time.monotonic() + _SECONDS
    for seed in range(first, last):
        if found[True] >= enough and (found[False] >= enough // 2 or found[True] >= 2 * enough):
            return
        if time.monotonic() > end:
            return
        yield seed
        try:
            program = Case(op, seed).program()
        except generic.NoMakerError:
            return
        outcome = _expected(program, device)
        if outcome.error == modes.TooLargeError.__name__:
            continue
        found[outcome.ok] += 1
        yield Found(
            seed,
            dataclasses.replace(outcome, inputs=_largest(program)),
            tuple(str(array.dtype) for array in (*program.variables, *program.arrays)),
            outcome.ok and _is_differentiable(program),
            program.describe(),
        )


def _expected(program: Program, device: str) -> Outcome:
    """Returns the CPU's outcome, or XLA:CPU's outcome if TensorFlow has no CPU kernel for the op and dtypes."""
    outcome = modes.run(program, Mode.EAGER, device, calls=1)[0]
    return modes.run(program, Mode.JIT, device, calls=1)[0] if _NO_KERNEL.search(outcome.text) else outcome


def _is_differentiable(program: Program) -> bool:
    floats = any(array.dtype.kind in "fcV" for array in program.arrays)
    return floats and not program.variables and generic.has_gradient(program.op)


def _largest(program: Program) -> float:
    """Returns the largest finite number among the arguments."""
    largest = 0.0
    for array in (*program.variables, *program.arrays):
        if array.dtype.kind in "fcViu" and array.size:
            numbers = np.abs(array.astype(np.complex128))
            finite = numbers[np.isfinite(numbers)]
            largest = max(largest, float(finite.max()) if finite.size else 0.0)
    return largest
