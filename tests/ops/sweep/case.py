"""Case of the op sweep: an op and a seed from which its program is drawn."""

from __future__ import annotations

import dataclasses
import zlib

import numpy as np

from tests.ops.sweep import generic, makers
from tests.ops.sweep.mutate import mutate
from tests.ops.sweep.program import Program

_MUTATED = 0.25


@dataclasses.dataclass(frozen=True)
class Case:
    """A case, with the text form Op:seed."""

    op: str
    seed: int

    def __str__(self) -> str:
        return f"{self.op}:{self.seed}"

    @classmethod
    def parse(cls, text: str) -> Case:
        op, _, seed = text.rpartition(":")
        return cls(op, int(seed))

    def program(self) -> Program:
        rng = np.random.default_rng([zlib.crc32(self.op.encode()), self.seed])
        mutated = rng.random() < _MUTATED
        maker = makers.find(self.op)
        program = maker(rng) if maker else generic.draw(self.op, rng)
        program = dataclasses.replace(program, op=self.op)
        return mutate(program, rng) if mutated else program
