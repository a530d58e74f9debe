"""Comparison of an HPU outcome with CPU outcomes."""

from __future__ import annotations

import enum
import re

import numpy as np

from tests.ops.sweep.records import Array, Outcome


class Verdict(enum.Enum):
    """Verdict on one run on the HPU, from worst to best."""

    ABORT = "abort"
    HANG = "hang"
    VALUE = "wrong value"
    REFUSED = "error where the CPU works"
    ACCEPTED = "value where the CPU fails"
    CLASS = "another class of error"
    TEXT = "another text of error"
    XLA = "the value of XLA:CPU, another than the CPU's"
    SAME = "same"


# Error of a CPU outcome that matches every error.
ANY_ERROR = "any"
# Accepted differences relative to the largest number, for sums in different orders. Integers must be equal.
_BOUNDS = {"float64": 1e-10, "float32": 2e-5, "float16": 4e-3, "bfloat16": 4e-2, "complex64": 4e-5, "complex128": 1e-10}
# Error classes that count as equal: for invalid arguments, graph construction may raise ValueError or TypeError.
_OF_GRAPHS = {"ValueError", "TypeError", "InvalidArgumentError"}


def compare(expected: list[Outcome], actual: Outcome) -> tuple[Verdict, str]:
    """Compares with `expected`, several acceptable CPU outcomes.

    Returns the best verdict, and a description of the difference.
    """
    differences = [_compare(one, actual) for one in expected]
    return max(differences, key=lambda difference: [*Verdict].index(difference[0]))


def _compare(expected: Outcome, actual: Outcome) -> tuple[Verdict, str]:
    if expected.ok and actual.ok:
        difference = difference_of(expected, actual)
        return (Verdict.VALUE, difference) if difference else (Verdict.SAME, "")
    if expected.ok:
        return Verdict.REFUSED, f"{actual.error}: {actual.text[:400]}"
    if actual.ok:
        return Verdict.ACCEPTED, f"the CPU: {expected.error}: {expected.text[:300]}"
    if expected.error == ANY_ERROR:
        return Verdict.SAME, ""
    texts = f"{actual.error}: {actual.text[:300]} | the CPU: {expected.error}: {expected.text[:300]}"
    if expected.error != actual.error and not {expected.error, actual.error} <= _OF_GRAPHS:
        return Verdict.CLASS, texts
    return (Verdict.SAME, "") if _names_the_same(expected.text, actual.text) else (Verdict.TEXT, texts)


def _names_the_same(one: str, other: str) -> bool:
    """Whether two messages share a fifth of the words of the shorter message."""
    words = [
        set(re.findall(r"[a-z]{3,}", re.sub(r"\{\{.*?\}\}|\[Op:.*?\]", "", text.lower()))) for text in (one, other)
    ]
    smaller = min(map(len, words))
    return smaller == 0 or len(words[0] & words[1]) >= max(1, smaller // 5)


def difference_of(expected: Outcome, actual: Outcome) -> str:
    """Describes the difference; empty if the outcomes agree."""
    if len(expected.arrays) != len(actual.arrays):
        return f"{len(actual.arrays)} results instead of {len(expected.arrays)}"
    for i, (one, other) in enumerate(zip(expected.arrays, actual.arrays)):
        if one.dtype != other.dtype:
            return f"result {i} is {other.dtype} instead of {one.dtype}"
        if one.shape != other.shape:
            return f"result {i} has shape {other.shape} instead of {one.shape}"
        if difference := _difference(one, other, expected.inputs):
            return f"result {i}: {difference}"
    return ""


def _difference(expected: Array, actual: Array, inputs: float) -> str:
    name = expected.dtype.name
    if name not in _BOUNDS:
        same = expected == actual
        if expected.dtype == np.bool_:
            same = expected.view(np.uint8) == actual.view(np.uint8)
        return "" if np.all(same) else _first(expected, actual, ~np.asarray(same))
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = expected.astype(wide), actual.astype(wide)
    with np.errstate(all="ignore"):
        finite = np.abs(one[np.isfinite(one)])
        scale = max(float(finite.max()) if finite.size else 0.0, min(inputs, 1.0))
        close = np.abs(one - other) <= _BOUNDS[name] * scale + 1.2e-38
        same = (one == other) | (np.isnan(one) & np.isnan(other)) | close
    return "" if np.all(same) else _first(expected, actual, ~same)


def _first(expected: Array, actual: Array, differs: Array) -> str:
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    count = int(np.count_nonzero(differs))
    return f"{actual[place]!s} instead of {expected[place]!s} at {place}, {count} of {expected.size} differ"
