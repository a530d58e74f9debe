"""Deterministic inputs of the Keras sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

IMAGE = (2, 8, 8, 3)
SEQUENCE = (2, 6, 4)
VOLUME = (2, 4, 6, 4, 2)
VECTOR = (4, 6)


def floats(*shape: int, seed: int = 0, low: float | None = None, high: float = 1.0) -> Any:
    """Returns normally distributed numbers, or uniform numbers from low to high."""
    generator = np.random.default_rng(seed)
    if low is None:
        return generator.standard_normal(shape, dtype=np.float32)
    return generator.uniform(low, high, shape).astype(np.float32)


def integers(*shape: int, below: int, seed: int = 0, dtype: Any = np.int32) -> Any:
    return np.random.default_rng(seed).integers(0, below, shape).astype(dtype)


def one_hot(rows: int, classes: int, seed: int = 0) -> Any:
    return np.eye(classes, dtype=np.float32)[integers(rows, below=classes, seed=seed)]


def probabilities(rows: int, classes: int, seed: int = 1) -> Any:
    values = floats(rows, classes, seed=seed, low=0.05)
    return values / values.sum(1, keepdims=True)
