"""Shared parts of the digits examples: data, command line and final report."""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import sklearn.datasets
import sklearn.model_selection

Array = npt.NDArray[np.float32]


class Digits(NamedTuple):
    """Scikit-learn's handwritten digits: 1437 training and 360 test images, 8x8x1, values from 0 to 1."""

    train_images: Array
    train_labels: npt.NDArray[np.int32]
    test_images: Array
    test_labels: npt.NDArray[np.int32]


def load() -> Digits:
    """Loads the data. The split is the same at each call."""
    images, labels = sklearn.datasets.load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 8, 8, 1)
    train_images, test_images, train_labels, test_labels = sklearn.model_selection.train_test_split(
        images, labels.astype(np.int32), test_size=360, random_state=0, stratify=labels
    )
    return Digits(train_images, train_labels, test_images, test_labels)


def shuffled_batches(digits: Digits, batch_size: int, seed: int) -> Iterator[tuple[Array, npt.NDArray[np.int32]]]:
    """Yields the full batches of one epoch."""
    order = np.random.default_rng(seed).permutation(len(digits.train_images))
    for start in range(0, len(order) - batch_size + 1, batch_size):
        picked = order[start : start + batch_size]
        yield digits.train_images[picked], digits.train_labels[picked]


class Arguments(argparse.Namespace):
    """Command line of the digits examples."""

    device: str
    epochs: int
    batch_size: int
    seed: int


def make_parser(description: str, epochs: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", choices=("hpu", "cpu"), default="hpu", help="where to train (default: hpu)")
    parser.add_argument("--epochs", type=int, default=epochs, help=f"passes over the data (default: {epochs})")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def parse_arguments(description: str, epochs: int) -> Arguments:
    return make_parser(description, epochs).parse_args(namespace=Arguments())


def prepare(arguments: Arguments) -> None:
    """Loads the HPU, with the two lines that every program needs. Call this before the first TensorFlow operation."""
    if arguments.device == "hpu":
        from habana_frameworks.tensorflow import load_habana_module

        load_habana_module()


class Stopwatch:
    """Records the times of train steps: run each step in `with stopwatch:`."""

    def __init__(self) -> None:
        self._seconds: list[float] = []  # empty if no steps remained
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds.append(time.perf_counter() - self._start)

    @property
    def first(self) -> float:
        """Seconds of the first step, which traces and compiles."""
        return self._seconds[0] if self._seconds else 0.0

    @property
    def median(self) -> float:
        """Median of the other steps, in seconds."""
        return statistics.median(self._seconds[1:] or self._seconds or [0.0])


@dataclasses.dataclass(frozen=True)
class Report:
    """Final report of a run."""

    loss: float
    accuracy: float
    stopwatch: Stopwatch

    def print(self, arguments: Arguments) -> None:
        lines = self._on_hpu() if arguments.device == "hpu" else {"backend": "none", "device": "/device:CPU:0"}
        lines["test loss"] = f"{self.loss:.4f}"
        lines["test accuracy"] = f"{self.accuracy:.2%}"
        lines["step time"] = f"{1000 * self.stopwatch.median:.2f} ms (median; first step {self.stopwatch.first:.2f} s)"
        width = max(map(len, lines))
        print("\nReport")
        for name, value in lines.items():
            print(f"  {name:<{width}}  {value}")

    @staticmethod
    def _on_hpu() -> dict[str, str]:
        from habana_frameworks.tensorflow import habana_device, statistics

        device = habana_device.info()
        counts = statistics.get()
        launched = counts.launched_clusters
        busiest = max(launched, key=lambda cluster: cluster.launches, default=None)
        launches = sum(cluster.launches for cluster in launched)
        placement = statistics.placement()
        lines = {
            "backend": str(device["backend"]),
            "device": f"/device:HPU:0 ({device.get('description', 'not used')})",
            "clusters": f"{len(launched)}, launched {launches} times, {counts.fallbacks} fallbacks to the CPU",
        }
        if busiest:
            lines["train step"] = f"{busiest.name}: {busiest.ops} ops, {busiest.launches} launches"
        lines["ops on the HPU"] = f"{placement.hpu_share:.1%} ({placement.hpu_ops} of {placement.all_ops} in graphs)"
        lines["compile time"] = f"{counts.compile_seconds:.2f} s"
        return lines
