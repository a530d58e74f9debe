"""Random programs as plain data, generated from a seed.

A step is defined by its kind and a number. Its operands, attributes and constants are drawn from the seed, the number
and a slot when the step is built. A program therefore stays valid without some of its steps, and the other steps mostly
keep their operands.
"""

from __future__ import annotations

import dataclasses
import enum
import random
import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

MAX_DEPTH = 3


class Mode(enum.Enum):
    """Execution mode of a program."""

    EAGER = "eager"
    FUNCTION = "function"
    SESSION = "session"
    SESSION_V1 = "session with control flow v1"


@dataclasses.dataclass(frozen=True)
class Step:
    """One step. `bodies`: branches of a conditional, or the body of a loop or function."""

    seed: int
    number: int
    kind: str
    bodies: tuple[tuple[Step, ...], ...] = ()
    on_cpu: bool = False

    def hash(self, *slot: Any) -> int:
        """Returns a random number of 32 bits for a slot."""
        mixed = zlib.crc32(f"{self.seed}/{self.number}/{slot}".encode())
        return (mixed * 2654435761 + (mixed >> 15)) & 0xFFFFFFFF

    def draw(self, slot: Any, options: int) -> int:
        """Returns a random number below `options` for a slot."""
        return (self.hash(slot) >> 7) % options

    def choose(self, slot: Any, options: Sequence[T]) -> T:
        return options[self.draw(slot, len(options))]

    def chance(self, slot: Any, percent: int) -> bool:
        return self.draw(slot, 100) < percent


@dataclasses.dataclass(frozen=True)
class Spec:
    """Declaration of an argument or variable."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Program:
    """A random program. `types`: dtypes of its values; `runs`: number of executions of its steps."""

    seed: int
    mode: Mode
    types: tuple[str, ...]
    arguments: tuple[Spec, ...]
    variables: tuple[Spec, ...]
    steps: tuple[Step, ...]
    settings: dict[str, str]
    runs: int
    known_shapes: bool
    named_device: bool

    def without(self, numbers: Collection[int]) -> Program:
        """Returns the program without the numbered steps."""
        return dataclasses.replace(self, steps=_without(self.steps, numbers))

    def numbers(self) -> list[int]:
        """Returns the numbers of all steps, including steps in bodies."""
        return [step.number for step in walk(self.steps)]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of step: its weight, its number of bodies, and the modes that support it."""

    name: str
    weight: int = 1
    bodies: tuple[int, int] = (0, 0)
    modes: frozenset[Mode] = frozenset(Mode)


def walk(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        for body in step.bodies:
            yield from walk(body)


def _without(steps: Sequence[Step], numbers: Collection[int]) -> tuple[Step, ...]:
    return tuple(
        dataclasses.replace(step, bodies=tuple(_without(body, numbers) for body in step.bodies))
        for step in steps
        if step.number not in numbers
    )


PALETTES = (
    (25, ("int32", "bool")),
    (15, ("int32", "int64", "uint8", "int8", "bool")),
    (15, ("float32", "int32", "bool")),
    (15, ("float32", "float64", "bfloat16", "float16", "int32")),
    (10, ("int32", "string", "bool", "float32")),
    (
        20,
        (
            *("float32", "float64", "bfloat16", "float16", "complex64", "complex128"),
            *("int32", "int64", "uint8", "int8", "int16", "uint16", "uint32", "uint64", "bool", "string"),
        ),
    ),
)
SHAPES = ((), (), (1,), (3,), (3,), (4,), (2, 3), (2, 3), (3, 3), (1, 3), (2, 1, 3), (0,), (0, 3))
# Weights of modes. Eager programs and uncompiled programs are cheap; compile time limits the number of the others.
MODES = ((40, Mode.EAGER), (34, Mode.FUNCTION), (13, Mode.SESSION), (13, Mode.SESSION_V1))
SETTINGS: dict[str, tuple[tuple[int, str], ...]] = {
    "HPU_COMPILE_MODE": ((55, "strict"), (25, "lazy"), (5, "async"), (15, "never")),
    "HPU_EAGER_COMPILE_AFTER": ((80, "2"), (20, "0")),
    "HPU_CLUSTERING": ((80, "on"), (12, "off"), (8, "lite")),
    "HPU_MAX_CLUSTER_SIZE": ((85, "0"), (8, "2"), (7, "5")),
    "TF_ENABLE_DYNAMIC_SHAPES": ((90, "false"), (10, "true")),
}


def _weighted(rng: random.Random, options: Sequence[tuple[int, T]]) -> T:
    return rng.choices([option for _, option in options], [weight for weight, _ in options])[0]


class _Generator:
    """Generator of the steps of one program."""

    def __init__(self, seed: int, rng: random.Random, mode: Mode, kinds: Sequence[Kind]) -> None:
        self._seed, self._rng = seed, rng
        self._kinds = [kind for kind in kinds if mode in kind.modes]
        self._number = 0

    def steps(self, count: int, depth: int) -> tuple[Step, ...]:
        return tuple(self._step(depth) for _ in range(count))

    def _step(self, depth: int) -> Step:
        self._number += 1
        number = self._number
        kinds = [kind for kind in self._kinds if depth < MAX_DEPTH or not kind.bodies[1]]
        kind = self._rng.choices(kinds, [kind.weight for kind in kinds])[0]
        bodies = tuple(
            self.steps(self._rng.randint(0 if body else 1, 3), depth + 1)
            for body in range(self._rng.randint(*kind.bodies))
        )
        return Step(self._seed, number, kind.name, bodies, on_cpu=self._rng.random() < 0.06)


def generate(seed: int, kinds: Sequence[Kind]) -> Program:
    """Returns the program of a seed."""
    rng = random.Random(seed)
    mode = _weighted(rng, MODES)
    types = _weighted(rng, PALETTES)
    settings = {name: _weighted(rng, options) for name, options in SETTINGS.items()}
    arguments, variables = (
        tuple(Spec(f"{prefix}{i}", rng.choice(types), rng.choice(SHAPES)) for i in range(rng.randint(1, 4)))
        for prefix in "av"
    )
    return Program(
        seed=seed,
        mode=mode,
        types=types,
        arguments=arguments,
        variables=variables,
        steps=_Generator(seed, rng, mode, kinds).steps(rng.choice((2, 2, 3, 3, 4, 5, 6, 7)), 0),
        settings=settings,
        runs=rng.choice((1, 3, 3)) if mode is Mode.EAGER else rng.choice((1, 2, 3)),
        known_shapes=rng.random() < 0.6,
        named_device=rng.random() < 0.4,
    )
