"""Messages from workers to the parent process, which does not import TensorFlow."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Mode(enum.Enum):
    """Execution mode of a program."""

    EAGER = "eager"
    GRAPH = "tf.function"
    JIT = "jit_compile"
    SESSION = "session"
    GRADIENT = "gradient"
    COMPILED_GRADIENT = "compiled gradient"  # used on the CPU only, for XLA:CPU's outcome


# Modes in which each case runs on the HPU.
MODES = (Mode.EAGER, Mode.GRAPH, Mode.JIT, Mode.SESSION, Mode.GRADIENT)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Results or error of one run."""

    arrays: tuple[Array, ...] = ()
    error: str = ""  # class name
    text: str = ""
    inputs: float = 0.0  # largest finite number among the arguments

    @property
    def ok(self) -> bool:
        return not self.error


@dataclasses.dataclass(frozen=True)
class BoundedRun:
    """Outcomes of one function for several sizes."""

    outcomes: tuple[Outcome, ...]
    compiled: bool  # whether a cluster ran
    shared: bool  # whether the sizes share a recipe


@dataclasses.dataclass(frozen=True)
class RandomRun:
    """Run of a random program on both devices. `difference` is empty if they agree."""

    seed: int
    difference: str = ""
    errors: int = 0  # calls that fail on the CPU
    error: str = ""  # text of the last error on the CPU
    launches: int = 0
    recipes: int = 0
    clusters: int = 0
    bounded: int = 0  # clusters of which a recipe served several sizes
    listing: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Found:
    """CPU result of a case."""

    seed: int
    outcome: Outcome
    types: tuple[str, ...]  # dtypes of the arguments
    gradient: bool  # whether the op has a gradient with respect to an argument
    description: str


@dataclasses.dataclass(frozen=True)
class Claim:
    """Support of an op on the HPU."""

    op: str
    kernel: bool  # has an HPU kernel
    default: bool  # has a DEVICE_DEFAULT kernel
    lowering: bool  # has a lowering for clusters
    types: tuple[str, ...]  # dtypes of kernels and lowerings, over all type attributes


# Size of the length prefix of a worker's message.
FRAME_BYTES = 8


@dataclasses.dataclass(frozen=True)
class Started:
    """A worker process is ready for requests."""

    process: int


@dataclasses.dataclass(frozen=True)
class Ended:
    """A worker process has ended. `code` is in the form of os.waitstatus_to_exitcode."""

    code: int
