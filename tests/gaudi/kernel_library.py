"""Runs single kernels of the Synapse double (plugin/testing/synapse_double/kernels/) on numpy arrays."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

from tests.support import build_folders

NAME = "libhpu_synapse_kernels.so"
MAX_RANK = 8

BF16 = np.dtype(ml_dtypes.bfloat16)
F16 = np.dtype(np.float16)
F32 = np.dtype(np.float32)
# As synDataType.
TYPE_CODES = {
    np.dtype(np.int8): 1 << 0,
    BF16: 1 << 1,
    F32: 1 << 2,
    np.dtype(np.int16): 1 << 3,
    np.dtype(np.int32): 1 << 4,
    np.dtype(np.uint8): 1 << 5,
    F16: 1 << 8,
    np.dtype(np.uint16): 1 << 9,
    np.dtype(np.uint32): 1 << 10,
    np.dtype(np.int64): 1 << 15,
    np.dtype(np.uint64): 1 << 16,
}
FLOATS = (F32, BF16, F16)
INTEGERS = tuple(dtype for dtype in TYPE_CODES if dtype not in FLOATS)
SIGNED = tuple(dtype for dtype in INTEGERS if dtype.kind == "i")

# Shape and type of a result.
Spec = tuple[Sequence[int], Any]


class KernelError(Exception):
    """A kernel refused its arguments."""

    def __init__(self, text: str, outputs: list[np.ndarray]) -> None:
        super().__init__(text)
        self.outputs = outputs


@dataclasses.dataclass(frozen=True)
class Switches:
    """Behaviour that a card may or may not have."""

    flush_denormals: bool = False
    lose_nan_in_max_min: bool = False
    seed: int = 0
    order: int = 0


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_uint32),
        ("rank", ctypes.c_uint32),
        ("sizes", ctypes.c_int64 * MAX_RANK),
        ("strides", ctypes.c_int64 * MAX_RANK),
    )


class _Switches(ctypes.Structure):
    _fields_ = (
        ("flush_denormals", ctypes.c_uint8),
        ("lose_nan_in_max_min", ctypes.c_uint8),
        ("seed", ctypes.c_uint64),
        ("order", ctypes.c_uint64),
    )


def path() -> pathlib.Path | None:
    """Returns HPU_SYNAPSE_KERNELS or the newest library of a build folder in the tree."""
    if chosen := os.environ.get("HPU_SYNAPSE_KERNELS"):
        return pathlib.Path(chosen)
    return build_folders.newest(NAME)


@functools.cache
def library() -> ctypes.CDLL:
    found = path()
    if found is None:
        pytest.skip(f"no {NAME}: run `make build-tests`")
    loaded = ctypes.CDLL(str(found))
    loaded.list_kernels.restype = ctypes.c_size_t
    loaded.list_kernels.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    loaded.run_kernel.argtypes = (
        *(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t),
        *(ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t),
    )
    return loaded


def params_sizes() -> dict[str, list[int]]:
    """Returns the sizes of params (0: no params) by stem. Stems have * in place of types."""
    buffer = ctypes.create_string_buffer(library().list_kernels(None, 0))
    library().list_kernels(buffer, len(buffer))
    rows = (line.split() for line in buffer.value.decode().splitlines())
    return {stem: list(map(int, sizes)) for stem, *sizes in rows}


def limits(dtype: Any) -> Any:
    """Returns the finfo of a float type."""
    untyped: Any = ml_dtypes
    return untyped.finfo(dtype)


def suffix(dtype: Any) -> str:
    """Returns a type as guids spell it."""
    dtype = np.dtype(dtype)
    return "bf16" if dtype == BF16 else f"{dtype.kind}{8 * dtype.itemsize}"


def _tensor(array: np.ndarray | None) -> _Tensor:
    if array is None:
        return _Tensor()
    tensor = _Tensor(array.ctypes.data, TYPE_CODES[array.dtype], array.ndim)
    for i, (size, stride) in enumerate(zip(reversed(array.shape), reversed(array.strides))):
        tensor.sizes[i] = size
        tensor.strides[i] = stride // array.itemsize
    return tensor


def _guarded(spec: Spec, dense: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns an array for a result, and the larger array that it is a part of."""
    shape, dtype = tuple(spec[0]), np.dtype(spec[1])
    if dense:
        whole = np.zeros(shape, dtype)
        return whole, whole
    whole = np.zeros((*shape[:-1], shape[-1] + 1), dtype)
    whole.view(np.uint8)[...] = 0xA5
    return whole[..., :-1], whole


def run(
    guid: str,
    inputs: Iterable[np.ndarray | None],
    outputs: Sequence[Spec],
    params: bytes = b"",
    switches: Switches | None = None,
    dense: bool = False,
) -> list[np.ndarray]:
    """Returns the node's results. Unless `dense`, results have gaps between rows, which must stay untouched."""
    switches = switches or Switches()
    operands = list(inputs)
    results, wholes = zip(*(_guarded(spec, dense) for spec in outputs)) if outputs else ((), ())
    input_array = (_Tensor * max(len(operands), 1))(*map(_tensor, operands))
    output_array = (_Tensor * max(len(results), 1))(*map(_tensor, results))
    message = ctypes.create_string_buffer(1024)
    values = _Switches(switches.flush_denormals, switches.lose_nan_in_max_min, switches.seed, switches.order)
    failed = library().run_kernel(
        *(guid.encode(), ctypes.byref(input_array), len(operands), ctypes.byref(output_array), len(results)),
        *(params or None, len(params), ctypes.byref(values), message, len(message)),
    )
    for whole in wholes if not dense else ():
        assert np.all(np.ascontiguousarray(whole[..., -1:]).view(np.uint8) == 0xA5), f"{guid} wrote outside its result"
    copies = [np.ascontiguousarray(result) for result in results]
    if failed:
        raise KernelError(message.value.decode(), copies)
    return copies


def run_one(
    guid: str,
    inputs: Iterable[np.ndarray | None],
    output: Spec,
    params: bytes = b"",
    switches: Switches | None = None,
    dense: bool = False,
) -> np.ndarray:
    """Returns the only result of a node."""
    return run(guid, inputs, [output], params, switches, dense)[0]


def assert_close(actual: np.ndarray, expected: Any, ulps: float = 1) -> None:
    """Compares with float64 numbers rounded to the result's type; integers must be equal."""
    expected = np.asarray(expected)
    assert actual.shape == expected.shape, f"{actual.shape} != {expected.shape}"
    if actual.dtype not in FLOATS:
        np.testing.assert_array_equal(actual, expected.astype(actual.dtype))
        return
    info = limits(actual.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = expected.astype(actual.dtype).astype(np.float64)
    np.testing.assert_allclose(
        actual.astype(np.float64), rounded, rtol=ulps * float(info.eps), atol=float(info.smallest_subnormal)
    )


def assert_same_zeros(actual: np.ndarray, expected: Any) -> None:
    """Checks that zeros have the same sign."""
    zeros = np.asarray(expected) == 0
    np.testing.assert_array_equal(np.signbit(actual.astype(np.float64))[zeros], np.signbit(expected)[zeros])


Test = TypeVar("Test", bound=Callable[..., None])
# Stems that tests compare with goldens.
covered: set[str] = set()


def covers(*tested: str) -> Callable[[Test], Test]:
    """Declares the stems that a test compares with goldens, in the spelling of params_sizes()."""

    def declare(test: Test) -> Test:
        covered.update(tested)
        return test

    return declare


def random_array(shape: Sequence[int], dtype: Any, seed: int = 0, low: float = -2, high: float = 2) -> np.ndarray:
    """Returns numbers of a type in [low, high)."""
    generator = np.random.default_rng(seed)
    if np.dtype(dtype) in FLOATS:
        return generator.uniform(low, high, shape).astype(dtype)
    return generator.integers(int(low), int(high), shape, np.int64).astype(dtype)


def special_values(dtype: Any) -> np.ndarray:
    """Returns the values at which kernels differ: limits, zeros, NaN, infinities, ties of rounding."""
    dtype = np.dtype(dtype)
    if dtype not in FLOATS:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        middle = [value for value in (-128, -7, -2, -1) if value >= low]
        return np.array([low, *middle, 0, 1, 2, 3, 7, 127, high - 1, high], dtype)
    info = limits(dtype)
    largest, normal, denormal = float(info.max), float(info.tiny), float(info.smallest_subnormal)
    numbers = [0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 7.25, 20, 89, largest, normal, denormal, np.inf]
    return np.array([*numbers, *(-number for number in numbers), np.nan], np.float64).astype(dtype)
