"""Random mutations of serialised HLO modules from tf2xla."""

from __future__ import annotations

import random
from typing import Any

from tensorflow.compiler.xla.service import hlo_pb2

from tests.soak.attacks.protobuf_mutations import flip_bytes, mutate, number
from tests.soak.attacks.targeted import OPCODES, TARGETS

_WORDS = (*OPCODES, *TARGETS, "LT", "NE", "SIGNED", "hpu_operation", "dilation", "image")
_DIMENSIONS = (0, 1, 2, 8, 64, 1 << 16, 1 << 31, 1 << 40, -1)


class Mutator:
    """Generator of mutations of some programs."""

    def __init__(self, programs: tuple[bytes, ...]) -> None:
        self._programs = programs
        self._modules = [hlo_pb2.HloModuleProto.FromString(program) for program in programs]

    def draw(self, chance: random.Random) -> bytes:
        index = chance.randrange(len(self._modules))
        if chance.random() < 0.1:
            return flip_bytes(self._programs[index], chance)
        module = hlo_pb2.HloModuleProto()
        module.CopyFrom(self._modules[index])
        for _ in range(chance.choice((1, 1, 1, 2, 3, 5))):
            if chance.random() < 0.3:
                mutate(module, chance, _WORDS)
            else:
                _change_instruction(module, chance)
        return bytes(module.SerializeToString())


def _change_instruction(module: Any, chance: random.Random) -> None:
    """Changes one instruction, often to values of another instruction, so that most of a program stays valid."""
    if not module.computations:
        return
    computation = chance.choice(module.computations)
    if not computation.instructions:
        return
    instruction, other = chance.choice(computation.instructions), chance.choice(computation.instructions)
    kind = chance.randrange(12)
    if kind == 0:
        instruction.opcode = other.opcode if chance.random() < 0.7 else chance.choice(OPCODES)
    elif kind == 1 and instruction.operand_ids:
        instruction.operand_ids[chance.randrange(len(instruction.operand_ids))] = other.id
    elif kind == 2 and instruction.shape.dimensions:
        at = chance.randrange(len(instruction.shape.dimensions))
        instruction.shape.dimensions[at] = chance.choice(_DIMENSIONS)
    elif kind == 3:
        instruction.shape.CopyFrom(other.shape)
    elif kind == 4:
        instruction.shape.element_type = other.shape.element_type
    elif kind == 5 and instruction.called_computation_ids:
        instruction.called_computation_ids[0] = chance.choice(module.computations).id
    elif kind == 6:
        instruction.parameter_number = chance.choice((0, 1, 2, 99, -1, number(chance) % (1 << 62)))
    elif kind == 7 and instruction.dimensions:
        instruction.dimensions[0] = chance.choice(_DIMENSIONS)
    elif kind == 8:
        instruction.backend_config = b'{"outer_dimension_partitions":["-%d","%d"]}' % (
            chance.randint(0, 5000),
            chance.randint(-5000, 5000),
        )
    elif kind == 9:
        computation.root_id = other.id
    elif kind == 10:
        for field in ("dot_dimension_numbers", "window", "gather_dimension_numbers", "literal", "padding_config"):
            if instruction.HasField(field):
                mutate(getattr(instruction, field), chance, _WORDS)
    else:
        mutate(instruction, chance, _WORDS)
