"""References of the numerics check: round trip, and errors of floats, integers and non-finite values."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tools.accelerator.corpus import Reference, compare

ARRAYS = {"large": np.linspace(-2, 1, 10_000, dtype=np.float32), "whole": np.arange(5), "none": np.zeros([0, 3])}


def test_references_are_restored(tmp_path: pathlib.Path) -> None:
    Reference.of("1234abcd", ARRAYS).write(tmp_path / "reference.npz")
    reference = Reference.read(tmp_path / "reference.npz")
    errors = compare(reference, ARRAYS)
    assert reference.inputs == "1234abcd" and reference.largest["large"] == 2
    assert errors.largest == errors.together == 0 and not errors.unequal


def test_errors_are_relative_to_the_largest_value() -> None:
    errors = compare(Reference.of("", ARRAYS), {**ARRAYS, "large": ARRAYS["large"] + 0.5, "whole": np.arange(5) // 2})
    assert errors.largest == pytest.approx(0.25) and errors.where == "large"
    assert errors.unequal == {"whole": 4}


def test_small_arrays_are_judged_by_the_scale_of_all() -> None:
    reference = Reference.of("", {"large": np.array([100.0]), "zero": np.array([1e-9])})
    results = {"large": np.array([100.0]), "zero": np.array([-1e-9])}
    assert compare(reference, results).largest == pytest.approx(2)
    assert compare(reference, results, floor=1e-3).largest < 1e-7


def test_missing_values_are_infinite_errors() -> None:
    expected = np.array([1.0, np.nan, np.inf])
    reference = Reference.of("", {"x": expected})
    assert compare(reference, {"x": expected}).largest == 0
    assert not compare(reference, {"x": np.array([np.nan, np.nan, np.inf])}).is_finite


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="pack the kit again"):
        compare(Reference.of("", ARRAYS), {**ARRAYS, "whole": np.arange(6)})
