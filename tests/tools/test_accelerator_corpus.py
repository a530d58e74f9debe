"""Recorded data of the accelerator kit: references, their errors, losses, programs for JAX."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from tensorflow.compiler.xla.service import hlo_pb2

from tools.accelerator import record
from tools.accelerator.corpus import Losses, Reference, compare

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


def test_losses_are_compared_with_the_closer_run(tmp_path: pathlib.Path) -> None:
    Losses([4.0, 2.0, 1.0], [4.0, 3.0, 1.5]).write(tmp_path / "losses.json")
    losses = Losses.read(tmp_path / "losses.json")
    assert losses.spread() == 1 and losses.spread(slice(-1, None)) == 0.5
    assert losses.distance([4.0, 2.75, 0.5]) == 0.5
    assert losses.distance([9.0, 9.0, 1.25], slice(-1, None)) == 0.25


def test_programs_for_jax_have_no_copies() -> None:
    module = hlo_pb2.HloModuleProto()
    computation = module.computations.add(id=1, root_id=4)
    for number, opcode, operands in ((1, "parameter", ()), (2, "copy", (1,)), (3, "negate", (2,)), (4, "copy", (3,))):
        computation.instructions.add(id=number, opcode=opcode, operand_ids=operands)
    (left,) = hlo_pb2.HloModuleProto.FromString(record.without_copies(module.SerializeToString())).computations
    assert [(one.opcode, list(one.operand_ids)) for one in left.instructions] == [("parameter", []), ("negate", [1])]
    assert left.root_id == 3
