"""Program of changing shapes: the types, the loops over its steps, and its data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

Record = Callable[[Any], None]
"""Called after each step, with the step's loss, or None."""
Program = Callable[[int, Record], None]
"""Runs a number of steps."""
Step = Callable[[int], Any]
"""Runs the step of a number, and returns its loss, or None."""


def generator(number: int) -> np.random.Generator:
    """Returns the generator for the sizes and data of a step. It is the same on every device."""
    return np.random.default_rng([1, number])


def words(draw: np.random.Generator, vocabulary: int, *shape: int) -> np.ndarray:
    """Returns word numbers from 1, with frequencies as in a text (Zipf's law)."""
    ranks = np.exp(draw.random(shape) * np.log(vocabulary)).astype(np.int64)
    return np.clip(ranks, 1, vocabulary - 1)


def sentences(draw: np.random.Generator, vocabulary: int, count: int, shortest: int, longest: int) -> list[np.ndarray]:
    """Returns sentences of different lengths as word numbers."""
    lengths = draw.integers(shortest, longest + 1, count)
    return [words(draw, vocabulary, length) for length in lengths]


def in_steps(build: Callable[[], Step]) -> Program:
    """Returns the program that calls the step of `build` in a loop."""

    def program(steps: int, record: Record) -> None:
        step = build()
        for number in range(steps):
            record(step(number))

    return program


def in_fit(build: Callable[[], tuple[tf.keras.Model, Callable[[], Any], dict[str, Any]]]) -> Program:
    """Returns the program that trains with Keras's fit() until the steps are done.

    `build` returns a compiled model, a function that returns fit()'s data, and further arguments of fit().
    """

    def program(steps: int, record: Record) -> None:
        model, data, options = build()
        model.fit(data(), epochs=steps, verbose=0, callbacks=[_Recorder(steps, record)], **options)

    return program


class _Recorder(tf.keras.callbacks.Callback):
    """Records each train step, and ends the training."""

    def __init__(self, steps: int, record: Record) -> None:
        super().__init__()
        self._left = steps
        self._record = record

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        if self._left > 0:
            self._record((logs or {}).get("loss"))
        self._left -= 1
        if self._left <= 0:
            self.model.stop_training = True


def dataset(make: Callable[[int], Any], count: int, signature: Any) -> tf.data.Dataset:
    """Returns a dataset of `count` elements, which `make` returns for numbers from 0."""

    def elements() -> Iterator[Any]:
        return (make(number) for number in range(count))

    return tf.data.Dataset.from_generator(elements, output_signature=signature)
