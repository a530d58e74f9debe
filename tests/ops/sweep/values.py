"""Random arrays by element dtype and style."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tests.ops.sweep.records import Array


class Style(enum.Enum):
    """Distribution of the elements of a case's arrays."""

    NORMAL = "normal"  # around 0, moderate magnitude
    UNIT = "unit"  # in (0, 1); integers from 0 to 3
    SPECIAL = (
        "special"  # moderate, with NaN, infinities, zeros of both signs, denormals, and the largest numbers between
    )
    TIES = "ties"  # few distinct values


TYPES = (
    tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
    tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128,
)  # fmt: skip
_ELEMENTS = 600  # maximum elements per array
_WORDS = (b"", b"a", b"HPU", b"3.5", b"-7", "ä".encode())


def draw_style(rng: np.random.Generator) -> Style:
    return rng.choice(np.array([*Style], object), p=[0.5, 0.15, 0.25, 0.1])


def draw_dimension(rng: np.random.Generator) -> int:
    return int(rng.choice([0, 1, 2, 3, 4, 5, 7, 9], p=[0.04, 0.16, 0.25, 0.25, 0.12, 0.08, 0.06, 0.04]))


def draw_shape(rng: np.random.Generator, rank: int | None = None) -> tuple[int, ...]:
    if rank is None:
        rank = int(rng.choice(6, p=[0.1, 0.2, 0.3, 0.2, 0.15, 0.05]))
    while True:
        shape = tuple(draw_dimension(rng) for _ in range(rank))
        if np.prod(shape) <= _ELEMENTS:
            return shape


def draw_array(rng: np.random.Generator, dtype: tf.DType, shape: Sequence[int], style: Style = Style.NORMAL) -> Array:
    """Draws an array of `dtype` in the given style."""
    dtype = tf.as_dtype(dtype)
    if dtype == tf.string:
        return np.array(rng.choice(np.array(_WORDS, object), size=tuple(shape)), object)
    if dtype == tf.bool:
        return np.asarray(rng.integers(0, 2, shape), np.bool_)
    if dtype.is_complex:
        real = dtype.real_dtype
        parts = [draw_array(rng, real, shape, style).astype(np.complex128) for _ in range(2)]
        return np.asarray(parts[0] + 1j * parts[1]).astype(dtype.as_numpy_dtype)
    if dtype.is_floating:
        return _floats(rng, dtype, shape, style)
    return _integers(rng, dtype, shape, style)


def _floats(rng: np.random.Generator, dtype: tf.DType, shape: Sequence[int], style: Style) -> Array:
    if style is Style.UNIT:
        values = rng.uniform(0.05, 0.95, shape)
    elif style is Style.TIES:
        values = rng.integers(-2, 3, shape).astype(np.float64)
    else:
        values = rng.normal(0, 2, shape)
    numbers: Array = np.asarray(values).astype(dtype.as_numpy_dtype)
    if style is Style.SPECIAL:
        kind = dtype.as_numpy_dtype
        limits = tf.experimental.numpy.finfo(kind) if dtype in (tf.float16, tf.float32, tf.float64) else None
        big = float(limits.max) if limits else float(dtype.max)
        tiny = float(limits.tiny) if limits else 2.0**-126
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, tiny / 4, -tiny / 4, tiny, big, -big, 1, -1, 0.5])
        places = rng.random(shape) < 0.4
        numbers = np.where(places, rng.choice(special, size=tuple(shape)).astype(kind), numbers).astype(kind)
    return numbers


def _integers(rng: np.random.Generator, dtype: tf.DType, shape: Sequence[int], style: Style) -> Array:
    low, high = int(dtype.min), int(dtype.max)
    if style is Style.UNIT:
        values = rng.integers(0, 4, shape)
    elif style is Style.TIES:
        values = rng.integers(max(low, -1), 2, shape)
    else:
        values = rng.integers(max(low, -9), 10, shape)
    numbers: Array = np.asarray(values).astype(dtype.as_numpy_dtype)
    if style is Style.SPECIAL:
        special = np.array([low, low + 1, high, high - 1, 0, 1], object)
        places = rng.random(shape) < 0.4
        drawn = rng.choice(special, size=tuple(shape))
        numbers = np.asarray(np.where(places, drawn, numbers)).astype(dtype.as_numpy_dtype)
    return numbers
