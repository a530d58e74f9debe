"""The kernels' registry: each kernel has a golden test, and rejects wrong params, operands and types."""

from __future__ import annotations

import importlib
import pathlib

import numpy as np
import pytest

from tests.gaudi import kernel_library as kernels
from tests.support.processes import ROOT
from tools import generate_guids

SUFFIXES = {"none": "", "type": "_*", "cast": "_*_to_*"}
ROWS = {
    row.stem + SUFFIXES[row.suffix]: row
    for row in generate_guids.parse((ROOT / "plugin/backends/gaudi/guids.yaml").read_text()).rows()
    if row.kind != "internal"
}


def guid_of(stem: str) -> str:
    return stem.replace("*", "f32")


def test_each_kernel_has_a_golden_test() -> None:
    for file in sorted(pathlib.Path(__file__).parent.glob("test_double_kernels_*.py")):
        importlib.import_module(f"tests.gaudi.{file.stem}")
    assert kernels.covered == set(kernels.params_sizes())


def test_each_proven_guid_has_a_kernel() -> None:
    assert {stem for stem, row in ROWS.items() if row.is_proven} - set(kernels.params_sizes()) == set()


def test_kernels_take_the_params_of_the_guid_table() -> None:
    for stem, sizes in kernels.params_sizes().items():
        if (params := ROWS[stem].params) is not None:
            assert sorted(sizes) == sorted(params), stem


def test_each_kernel_refuses_params_of_unknown_size() -> None:
    for stem, sizes in kernels.params_sizes().items():
        for size in {3, *(size + 1 for size in sizes)} - set(sizes):
            with pytest.raises(kernels.KernelError, match=rf"params of {size} bytes: versions have {sizes[0]}"):
                kernels.run(guid_of(stem), [], [], bytes(size))


def test_each_kernel_counts_its_tensors() -> None:
    for stem, sizes in kernels.params_sizes().items():
        with pytest.raises(kernels.KernelError, match=r"put count 0: expected \d to \d"):
            kernels.run(guid_of(stem), [], [], bytes(sizes[0]))


@pytest.mark.parametrize(
    ("guid", "text"),
    [
        ("no_such_kernel_f32", "no kernel of this name"),
        ("add_fwd_f64", "no kernel of this name"),
        ("add_fwd", "the guid lacks its types"),
        ("cast_f32", "the guid lacks its types"),
        ("cast_f64_to_f32", "no kernel of this name"),
        ("memcpy_f32", "the guid takes no type"),
        ("add_fwd_bf16", "the guid's types are not those of the tensors"),
    ],
)
def test_names(guid: str, text: str) -> None:
    x = np.zeros(2, np.float32)
    with pytest.raises(kernels.KernelError, match=text):
        kernels.run_one(guid, [x, x], ((2,), np.float32))


def test_a_required_operand_is_missing() -> None:
    x = np.zeros(2, np.float32)
    with pytest.raises(kernels.KernelError, match="add_fwd_f32: input 1 is missing"):
        kernels.run_one("add_fwd_f32", [x, None], ((2,), np.float32))
    with pytest.raises(kernels.KernelError, match="add_fwd_f32: input count 3: expected 2 to 2"):
        kernels.run_one("add_fwd_f32", [x, x, x], ((2,), np.float32))


@pytest.mark.parametrize("dtype", kernels.TYPE_CODES, ids=kernels.suffix)
def test_failures_poison_all_results(dtype: np.dtype) -> None:
    x = np.ones((2, 3), dtype)
    with pytest.raises(kernels.KernelError) as failure:
        kernels.run(f"add_fwd_{kernels.suffix(dtype)}", [x, x[:, :2]], [((2, 3), dtype)])
    assert failure.value.outputs[0].tobytes() == b"\xff" * x.nbytes
