"""Comparison of a random program's observations on two devices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.ops.chains.run import Observation
from tests.ops.chains.scope import BOUND
from tests.support.compare import TOLERANCES, Tolerance

# Chains accumulate the differences of single ops: a multiple of one op's tolerance.
STEPS = 10
# Errors of ops that the CPU cannot run: a dtype without a kernel, or ParallelConcat in a loop. The rest of the program
# is then undefined.
UNSUPPORTED = (
    "No OpKernel",
    "OpKernel",
    "Could not find device",
    "No registered",
    "not supported",
    "nimplemented",
    "has inputs from different frames",
)
# A failing call cancels its step before it reports the error. TensorFlow reports the error that arrives first, which
# may be the cancelled copy between devices.
CANCELLED_COPY = "RecvAsync is cancelled"


def unsupported(error: Exception) -> bool:
    """Whether the error means that the CPU cannot run the op."""
    return any(text in str(error) for text in UNSUPPORTED)


def difference(ours: Sequence[Observation], theirs: Sequence[Observation]) -> str:
    """Describes the first observation that differs from the CPU's; empty without differences."""
    for one, other in zip(ours, theirs):
        if other.error is not None and unsupported(other.error):
            return ""
        if one.label != other.label:
            return f"{_text(one)} instead of {_text(other)}"
        found = _one(one, other)
        if found:
            return f"{one.label}: {found}"
    return "" if len(ours) == len(theirs) else f"{len(ours)} observations instead of {len(theirs)}"


def _text(seen: Observation) -> str:
    if seen.error is not None:
        return f"{seen.label}: {_line(seen.error)}"
    return f"{seen.label}: {_numbers(seen.value)}"


def _line(error: Exception) -> str:
    # Removes the stack trace of the op's definition.
    text = " ".join(str(error).split("Original stack trace")[0].split())
    return f"{type(error).__name__}: {text if len(text) < 500 else f'{text[:100]} … {text[-400:]}'}"


def _numbers(value: np.ndarray | None) -> str:
    if value is None:
        return "nothing"
    text = np.array2string(value, threshold=16, separator=",").replace("\n", "")
    return f"{value.dtype.name}{list(value.shape)} {text}"


def _one(one: Observation, other: Observation) -> str:
    if one.error is not None and other.error is not None:
        same = type(one.error) is type(other.error) or CANCELLED_COPY in str(one.error)
        return "" if same else f"{_line(one.error)} instead of {_line(other.error)}"
    if one.value is None or other.value is None:
        ours = _line(one.error) if one.error is not None else _numbers(one.value)
        theirs = _line(other.error) if other.error is not None else _numbers(other.value)
        return f"{ours} instead of {theirs}"
    if one.value.dtype != other.value.dtype or one.value.shape != other.value.shape:
        return f"{_numbers(one.value)} instead of {_numbers(other.value)}"
    same = _same(one.value, other.value, exact=one.exact and other.exact)
    return "" if same else f"{_numbers(one.value)} instead of {_numbers(other.value)}"


def _same(one: np.ndarray, other: np.ndarray, exact: bool) -> bool:
    if one.dtype == object or one.dtype.kind in "iub":
        return bool(np.array_equal(one, other))
    name = one.dtype.name
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    one, other = one.astype(wide), other.astype(wide)
    if exact:
        return bool(np.array_equal(one, other, equal_nan=True))
    single = TOLERANCES.get({"complex128": "float64"}.get(name, name), Tolerance(0, 0))
    # Terms up to BOUND may have cancelled out.
    return bool(np.allclose(one, other, STEPS * single.rtol, STEPS * single.atol * BOUND, equal_nan=True))
