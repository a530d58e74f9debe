"""Builder of serialised HLO modules, without checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorflow.compiler.xla import xla_data_pb2 as xla
from tensorflow.compiler.xla.service import hlo_pb2


def shape(element: str, dims: Sequence[int] = ()) -> Any:
    """Returns an array's ShapeProto. element: a PrimitiveType such as "F32"."""
    made = xla.ShapeProto(element_type=xla.PrimitiveType.Value(element))
    made.dimensions.extend(dims)
    made.is_dynamic_dimension.extend([False] * len(dims))
    made.layout.minor_to_major.extend(reversed(range(len(dims))))
    return made


def tuple_shape(*elements: Any) -> Any:
    made = xla.ShapeProto(element_type=xla.TUPLE)
    made.tuple_shapes.extend(elements)
    return made


class Computation:
    """A computation of a module. Instructions are protobuf messages."""

    def __init__(self, module: Module, message: Any) -> None:
        self._module = module
        self.message = message
        self._parameters: list[Any] = []

    @property
    def id(self) -> int:
        return int(self.message.id)

    def add(self, opcode: str, result: Any, *operands: Any, **fields: Any) -> Any:
        """Adds an instruction. fields: further fields of HloInstructionProto."""
        number = self._module.next_id()
        name = f"{opcode.replace('-', '_')}.{number}"
        instruction = self.message.instructions.add(name=name, opcode=opcode, id=number, **fields)
        instruction.shape.CopyFrom(result)
        instruction.operand_ids.extend(operand.id for operand in operands)
        return instruction

    def parameter(self, kind: Any) -> Any:
        made = self.add("parameter", kind, parameter_number=len(self._parameters))
        self._parameters.append(made)
        return made

    def constant(self, kind: Any, **values: Any) -> Any:
        """Adds a constant. values: the field of LiteralProto for the element type."""
        literal = xla.LiteralProto(**values)
        literal.shape.CopyFrom(kind)
        return self.add("constant", kind, literal=literal)

    def finish(self, root: Any) -> Computation:
        """Sets `root` as the result."""
        self.message.root_id = root.id
        program = self.message.program_shape
        for index, parameter in enumerate(self._parameters):
            program.parameters.add().CopyFrom(parameter.shape)
            program.parameter_names.append(f"p{index}")
        program.result.CopyFrom(root.shape)
        return self


class Module:
    """A module under construction. Its messages may be changed freely before serialize()."""

    def __init__(self, name: str = "attack") -> None:
        self.message = hlo_pb2.HloModuleProto(name=name, id=1)
        self._last_id = 0

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def computation(self, name: str) -> Computation:
        message = self.message.computations.add(name=name, id=len(self.message.computations) + 1)
        return Computation(self, message)

    def serialize(self, entry: Computation) -> bytes:
        self.message.entry_computation_id = entry.id
        self.message.entry_computation_name = entry.message.name
        self.message.host_program_shape.CopyFrom(entry.message.program_shape)
        return bytes(self.message.SerializeToString())


def whole_program(parameters: Sequence[Any], opcode: str, result: Any, **fields: Any) -> bytes:
    """Returns a program of one instruction over its parameters. Its result is a tuple."""
    module = Module()
    entry = module.computation("main")
    made = entry.add(opcode, result, *(entry.parameter(kind) for kind in parameters), **fields)
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(result), made)))


def slice_dimensions(*ranges: tuple[int, int, int]) -> list[Any]:
    """Returns slice dimensions. ranges: start, limit and stride per dimension."""
    kind = hlo_pb2.HloInstructionProto.SliceDimensions
    return [kind(start=start, limit=limit, stride=stride) for start, limit, stride in ranges]
