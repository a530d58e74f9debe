"""Random programs with arguments of changing size: expressions as text, and the arguments of each call."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import numpy as np

from tests.ops.sweep import random_ops
from tests.ops.sweep.random_ops import BOOL, CLASSES, FLOAT, INT, LONG, Size, Tensor
from tests.ops.sweep.records import Array

CALLS = 10
MOST = 17  # the largest size
_N, _M = Size("n", MOST), Size("m", MOST)
ARGUMENTS = (
    Tensor("x", FLOAT, (_N, 4)),
    Tensor("y", FLOAT, (_N, 4)),
    Tensor("z", FLOAT, (_M, 3)),
    Tensor("u", FLOAT, (_N, _M)),
    Tensor("w", FLOAT, (_N,)),
    Tensor("ids", INT, (_N,)),
    Tensor("longs", LONG, (_M,)),
    Tensor("mask", BOOL, (_N,)),
    Tensor("lengths", INT, (_N,)),
    Tensor("k", INT, ()),
)
# Most calls have sizes of one range, so that they share a recipe.
_RANGES = ((2, 4), (5, 6), (7, 8), (9, 12), (13, 16))


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Sizes of a call: n, m, and the length k of slices."""

    n: int
    m: int
    k: int


@dataclasses.dataclass(frozen=True)
class Program:
    """Expressions by name. `results` are returned; a loss of `losses` updates the variables in programs with a step."""

    seed: int
    lines: Sequence[tuple[str, str]]
    results: Sequence[str]
    losses: Sequence[str]
    step: str  # "": no variables; "sgd", "adam" or "sparse"
    mean: bool  # the loss is a mean, not a sum
    sizes: Sequence[Sizes]

    def listing(self) -> list[str]:
        lines = [f"{name} = {text}" for name, text in self.lines]
        if self.step:
            function = "tf.reduce_mean" if self.mean else "tf.reduce_sum"
            terms = ", ".join(f"{function}(tf.tanh({name}))" for name in self.losses)
            lines.append(f"loss = tf.add_n([{terms}])  # {self.step}")
        return [*lines, f"return {', '.join(self.results)}"]

    def arrays(self, call: int) -> list[Array]:
        """Returns the arguments of a call, in the order of ARGUMENTS."""
        sizes = self.sizes[call]
        draws = np.random.default_rng([self.seed, call])
        arrays = []
        for tensor in ARGUMENTS:
            shape = [getattr(sizes, d.text) if isinstance(d, Size) else d for d in tensor.shape]
            if tensor.text == "k":
                array = np.array(sizes.k)
            elif tensor.text == "lengths":
                array = draws.integers(0, sizes.n + 1, shape)
            elif tensor.dtype == BOOL:
                array = draws.integers(0, 2, shape)
            elif tensor.dtype == FLOAT:
                array = draws.standard_normal(shape)
            else:
                array = draws.integers(0, CLASSES, shape)
            arrays.append(array.astype(tensor.dtype))
        return arrays


def _sizes(draws: random.Random) -> list[Sizes]:
    homes = draws.choice(_RANGES), draws.choice(_RANGES)
    made: list[Sizes] = []
    for _ in range(CALLS):
        if made and draws.random() < 0.15:
            made.append(draws.choice(made))
            continue
        n, m = (_size(draws, home) for home in homes)
        m = n if draws.random() < 0.15 else m
        made.append(Sizes(n, m, draws.randint(0, n)))
    return made


def _size(draws: random.Random, home: tuple[int, int]) -> int:
    number = draws.random()
    if number < 0.08:
        return draws.randint(0, 1)
    return draws.randint(*home) if number < 0.75 else draws.randint(2, MOST)


def generate(seed: int) -> Program:
    draws = random.Random(seed)
    step = draws.choice(["sgd", "adam", "sparse"]) if draws.random() < 0.5 else ""
    draft = random_ops.Draft(draws, ARGUMENTS, bool(step))
    lines: list[tuple[str, str]] = []
    made: list[Tensor] = []
    if step:
        starts = ["x @ kernel + bias", f"tf.nn.embedding_lookup(table, ids % {CLASSES})"]
        shapes: list[random_ops.Shape] = [(_N, 3), (_N, 4)]
        for i in draws.sample(range(2), 2):
            made.append(Tensor(f"t{len(lines)}", FLOAT, shapes[i]))
            lines.append((made[-1].text, starts[i]))
        draft.tensors += made
    for _ in range(draws.randint(4, 12)):
        new = random_ops.make(draft)
        tensor = dataclasses.replace(new, text=f"t{len(lines)}")
        lines.append((tensor.text, new.text))
        draft.tensors.append(tensor)
        made.append(tensor)
    results = [tensor.text for tensor in made if draws.random() < 0.5] or [made[-1].text]
    floats = [tensor.text for tensor in made if tensor.dtype == FLOAT]
    losses = [name for name in floats if draws.random() < 0.4] or floats[-1:]
    return Program(seed, lines, results, losses if step else [], step, draws.random() < 0.5, _sizes(draws))
