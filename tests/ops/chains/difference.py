"""Compares what a program showed on two devices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.ops.chains.run import Observation
from tests.ops.chains.scope import BOUND
from tests.support.compare import TOLERANCES, Tolerance

# Chains add up what single ops differ by: a multiple of the tolerance of one.
STEPS = 10
# What a CPU without a kernel of some type says, or one that cannot expand ParallelConcat in a loop; the program has no
# meaning from there on.
UNSUPPORTED = (
    "No OpKernel",
    "OpKernel",
    "Could not find device",
    "No registered",
    "not supported",
    "nimplemented",
    "has inputs from different frames",
)
# A call cancels the step in which it fails before it hands on its error: TensorFlow reports whatever comes first, and
# between devices that may be a copy that was cancelled.
CANCELLED_COPY = "RecvAsync is cancelled"


def unsupported(error: Exception) -> bool:
    """The CPU cannot run the op at all."""
    return any(text in str(error) for text in UNSUPPORTED)


def difference(ours: Sequence[Observation], theirs: Sequence[Observation]) -> str:
    """How the first observation that differs from the CPU's does; empty if none does."""
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
    # Between them is where the op was defined.
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
    # Terms of up to BOUND may have cancelled each other out.
    return bool(np.allclose(one, other, STEPS * single.rtol, STEPS * single.atol * BOUND, equal_nan=True))
