"""Reference results of the numerics check: samples of CPU results, and errors relative to the samples."""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# Number of sampled elements of a larger array.
_SAMPLE = 4096


@dataclasses.dataclass(frozen=True)
class Reference:
    """Results of a program on the CPU: a sample of each array, and the array's largest value."""

    inputs: str
    """Checksum of the program's inputs."""
    samples: dict[str, Array]
    shapes: dict[str, list[int]]
    largest: dict[str, float]

    @classmethod
    def of(cls, inputs: str, results: Mapping[str, Array]) -> Reference:
        return cls(
            inputs,
            {name: sample(array) for name, array in results.items()},
            {name: list(array.shape) for name, array in results.items()},
            {name: _largest(array) for name, array in results.items()},
        )

    def write(self, path: pathlib.Path) -> None:
        names = list(self.samples)
        about = {"inputs": self.inputs, "names": names, "shapes": self.shapes, "largest": self.largest}
        arrays = {str(number): self.samples[name] for number, name in enumerate(names)}
        np.savez_compressed(path, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)

    @classmethod
    def read(cls, path: pathlib.Path) -> Reference:
        """Inverse of write."""
        with np.load(path) as data:
            about = json.loads(bytes(data["about"]))
            samples = {name: data[str(number)] for number, name in enumerate(about["names"])}
        return cls(about["inputs"], samples, about["shapes"], about["largest"])


ALL = slice(None)


@dataclasses.dataclass(frozen=True)
class Losses:
    """Losses of the same train steps on the CPU, by TensorFlow's kernels and by XLA, which sum in different orders."""

    kernels: list[float]
    xla: list[float]

    def write(self, path: pathlib.Path) -> None:
        path.write_text(json.dumps(dataclasses.asdict(self)))

    @classmethod
    def read(cls, path: pathlib.Path) -> Losses:
        """Inverse of write."""
        return cls(**json.loads(path.read_text()))

    def spread(self, steps: slice = ALL) -> float:
        """Returns the largest difference between the two runs over these steps."""
        return max(abs(one - other) for one, other in zip(self.kernels[steps], self.xla[steps]))

    def distance(self, losses: Sequence[float], steps: slice = ALL) -> float:
        """Returns the largest difference of `losses` from the closer run over these steps."""
        both = zip(losses[steps], self.kernels[steps], self.xla[steps])
        return max(min(abs(loss - one), abs(loss - other)) for loss, one, other in both)


@dataclasses.dataclass(frozen=True)
class Errors:
    """Differences of results from the CPU's, relative to the largest value of each array."""

    largest: float
    """Largest error of an element, over all arrays."""
    where: str
    """Name of the array with the largest error."""
    rms: float
    """Root mean square error of that array."""
    together: float
    """Norm of the differences of all arrays, relative to the norm of all values."""
    unequal: dict[str, int]
    """Number of unequal elements per integer array; empty if all are equal."""

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.largest))


def compare(reference: Reference, results: Mapping[str, Array], floor: float = 0) -> Errors:
    """Compares results with the CPU's. Raises ValueError if their names or shapes differ.

    floor: minimum scale of an error, as a share of the largest value of all arrays. For gradients, because some
    gradients consist of rounding errors only.
    """
    largest, where, rms = 0.0, "", 0.0
    least = floor * max(reference.largest.values())
    unequal: dict[str, int] = {}
    squares = norm = 0.0
    if reference.shapes != {name: list(array.shape) for name, array in results.items()}:
        raise ValueError("names or shapes of the results differ from the recorded results: pack the kit again")
    for name, expected in reference.samples.items():
        got = sample(results[name])
        if not np.issubdtype(expected.dtype, np.inexact):
            if count := int(np.count_nonzero(expected != got)):
                unequal[name] = count
            continue
        with np.errstate(invalid="ignore"):
            error = np.abs(got - expected)
        error[(got == expected) | (np.isnan(got) & np.isnan(expected))] = 0
        squares += float(np.square(error).sum())
        norm += float(np.square(np.abs(expected[np.isfinite(expected)])).sum())
        scaled = np.nan_to_num(error / (max(reference.largest[name], least) or 1), nan=np.inf)
        if scaled.size and float(scaled.max()) >= largest:
            largest, where = float(scaled.max()), name
            rms = float(np.sqrt(np.mean(np.square(scaled))))
    return Errors(largest, where, rms, math.sqrt(squares / norm) if norm else 0.0, unequal)


def sample(array: Array) -> Array:
    """Returns the array's elements, or evenly spread elements of a large array; floats as float64."""
    flat = array.reshape(-1)
    if flat.size > _SAMPLE:
        flat = flat[np.linspace(0, flat.size - 1, _SAMPLE).astype(np.int64)]
    if np.issubdtype(flat.dtype, np.complexfloating):
        return flat.astype(np.complex128)
    # NumPy has no bfloat16 of its own, so np.floating would not match.
    return flat if np.issubdtype(flat.dtype, np.integer) or flat.dtype == np.bool_ else flat.astype(np.float64)


def _largest(array: Array) -> float:
    finite = np.abs(sample(array).astype(np.complex128))
    finite = finite[np.isfinite(finite)]
    return float(finite.max()) if finite.size else 0.0


def checksum(inputs: Sequence[Array]) -> str:
    """Returns a checksum of the inputs' bytes."""
    value = 0
    for array in inputs:
        value = zlib.crc32(np.ascontiguousarray(array).tobytes(), value)
    return f"{value:08x}"
