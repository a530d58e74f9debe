"""Targeted attack programs. Each function draws a program of one family."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tensorflow.compiler.xla import xla_data_pb2 as xla

from tests.remote.attacks import programs
from tests.remote.attacks.hlo import Computation, Module, shape, slice_dimensions, tuple_shape, whole_program
from tests.soak.attacks.protobuf_mutations import number


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


REFUSED_OPCODES = _words(
    "add-dependency all-gather all-reduce all-to-all async-start async-update async-done bitcast collective-permute "
    "copy-start copy-done domain fusion infeed outfeed partition-id replica-id reduce-scatter recv recv-done send "
    "send-done rng-get-and-update-state get-dimension-sizes no-such-operation"
)
UNARY_OPCODES = _words(
    "abs cbrt ceil copy cosine exponential exponential-minus-one floor is-finite log log-plus-one logistic negate not "
    "popcnt real imag count-leading-zeros round-nearest-afz round-nearest-even rsqrt sign sine sqrt tan tanh"
)
BINARY_OPCODES = _words(
    "add and atan2 compare complex divide dot maximum minimum multiply or power remainder shift-left "
    "shift-right-arithmetic shift-right-logical subtract xor stochastic-convert"
)
SHAPED_OPCODES = _words(
    "bitcast-convert broadcast concatenate convert convolution dynamic-slice dynamic-update-slice fft gather "
    "get-dimension-size iota map pad reduce reduce-precision reduce-window reshape reverse rng rng-bit-generator "
    "scatter select-and-scatter set-dimension-size slice sort transpose triangular-solve cholesky batch-norm-training "
    "batch-norm-grad batch-norm-inference clamp select conditional call while opt-barrier after-all tuple "
    "get-tuple-element custom-call constant parameter"
)
OPCODES = UNARY_OPCODES + BINARY_OPCODES + SHAPED_OPCODES + REFUSED_OPCODES
TARGETS = _words(
    "system exit abort memcpy __xla_cpu_runtime_EigenMatMulF32 hpu_host_kernel Eigh Qr Sharding TopK "
    "ProductOfElementaryHouseholderReflectors SliceToDynamic PadToStatic xla_python_cpu_callback __onednn$matmul "
    "hpu_dilation_maxima LayoutConstraint SPMDFullToShardShape AllocateBuffer"
)
_LINEAR_ALGEBRA = _words(
    "Cholesky MatrixTriangularSolve MatrixSolve MatrixInverse MatrixDeterminant LogMatrixDeterminant Qr SelfAdjointEig "
    "SelfAdjointEigV2 Svd Lu"
)
_ELEMENTS = _words(
    "PRED S4 S8 S16 S32 S64 U4 U8 U16 U32 U64 F16 F32 F64 BF16 C64 C128 F8E5M2 F8E4M3FN TOKEN OPAQUE_TYPE"
)
_COMMON_ELEMENTS = _words("F32 F32 F32 S32 PRED U8 F64 BF16 C64 S64")
_DIMENSIONS = (0, 1, 2, 3, 7, 16, 64, 1000, 65536, 1 << 20)
_HUGE_DIMENSIONS = (1 << 30, 1 << 31, (1 << 31) + 1, 1 << 40, 1 << 62, (1 << 63) - 1, -1, -(1 << 63))


def draw(chance: random.Random) -> bytes:
    """Draws a program of a random family."""
    return chance.choice(FAMILIES)(chance)


def single(chance: random.Random) -> bytes:
    """One operation with operands and a result of any shape."""
    opcode = chance.choice(OPCODES)
    operands = [_shape(chance) for _ in range(chance.randint(0, 3))]
    result = chance.choice(operands) if operands and chance.random() < 0.5 else _shape(chance)
    return whole_program(operands, opcode, result, **_fields(chance, len(result.dimensions)))


def elementwise(chance: random.Random) -> bytes:
    """An elementwise operation or a reverse, with random claims about its split among threads."""
    dims = [chance.choice((1, 2, 64, 1000)) for _ in range(chance.randint(1, 3))]
    opcode = chance.choice(("cosine", "power", "reverse", "tanh", "remainder", "atan2"))
    counts = [-number(chance) if chance.random() < 0.5 else number(chance) for _ in range(chance.randint(0, 4))]
    return programs.falsely_split(opcode, dims, *counts)


def cross_read(chance: random.Random) -> bytes:
    return programs.cross_read(chance.randint(1, 2000))


def endless(chance: random.Random) -> bytes:
    """An endless loop blocks its client for the launch time limit, so most draws choose another family."""
    return programs.endless_loop() if chance.random() < 0.3 else draw(chance)


def nested(chance: random.Random) -> bytes:
    return programs.nested(chance.choice((10, 100, 500, 2000)), chance.choice(UNARY_OPCODES))


def recursive(chance: random.Random) -> bytes:
    """Computations that call themselves or each other."""
    module = Module()
    kind = shape("F32", [4])
    first, second = module.computation("first"), module.computation("second")
    for computation, called in ((first, second), (second, chance.choice((first, second)))):
        operand = computation.parameter(kind)
        computation.finish(computation.add("call", kind, operand, called_computation_ids=[called.id]))
    entry = module.computation("main")
    target = chance.choice((first, second, entry))
    call = entry.add("call", kind, entry.parameter(kind), called_computation_ids=[target.id])
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(kind), call)))


def custom_call(chance: random.Random) -> bytes:
    operands = [_shape(chance) for _ in range(chance.randint(0, 3))]
    texts = (b"", b"kernel\0", b"{}", b"\xff" * 64, b"1;2;3", programs.partitions(-1, -1000))
    return whole_program(
        operands,
        "custom-call",
        _shape(chance),
        custom_call_target=chance.choice(TARGETS),
        backend_config=chance.choice(texts),
        custom_call_has_side_effect=chance.random() < 0.5,
        custom_call_api_version=chance.choice((0, 1, 2, 3, 99)),
    )


def marked_call(chance: random.Random) -> bytes:
    """A call marked as an op with an emulator kernel, with operands that do not match."""
    module = Module()
    operands = [shape("F32", _small_dims(chance)) for _ in range(chance.randint(1, 5))]
    if chance.random() < 0.4:
        operands[-1] = shape(chance.choice(("S32", "S64", "F64", "PRED")), _small_dims(chance))
    result: Any = shape("F32", _small_dims(chance))
    if chance.random() < 0.4:
        result = tuple_shape(*(shape("F32", _small_dims(chance)) for _ in range(chance.randint(1, 3))))
    work = module.computation("work")
    for operand in operands:
        work.parameter(operand)
    work.finish(_zeros(work, result))
    entry = module.computation("main")
    call = entry.add("call", result, *map(entry.parameter, operands), called_computation_ids=[work.id])
    name, value = _mark(chance)
    call.frontend_attributes.map[name] = value
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(result), call)))


def huge(chance: random.Random) -> bytes:
    """An array of any size, often larger than memory, from an iota or a scalar."""
    module = Module()
    entry = module.computation("main")
    dims = [chance.choice(_DIMENSIONS + _HUGE_DIMENSIONS) for _ in range(chance.randint(1, 4))]
    element = chance.choice(_COMMON_ELEMENTS)
    large = shape(element, dims)
    if chance.random() < 0.5:
        made = entry.add("iota", large, dimensions=[chance.randrange(len(dims))])
    else:
        made = entry.add("broadcast", large, entry.parameter(shape(element)))
    if chance.random() < 0.5:
        small = shape(element, [1] * len(dims))
        made = entry.add("slice", small, made, slice_dimensions=slice_dimensions(*([(0, 1, 1)] * len(dims))))
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(made.shape), made)))


def window(chance: random.Random) -> bytes:
    """A convolution with any window size, stride, padding and dilation."""
    operand = shape("F32", [2, 8, 8, 3])
    dimensions = [
        xla.WindowDimension(
            size=_extent(chance),
            stride=_extent(chance),
            padding_low=_extent(chance) - 1,
            padding_high=_extent(chance) - 1,
            window_dilation=_extent(chance),
            base_dilation=_extent(chance),
            window_reversal=chance.random() < 0.3,
        )
        for _ in range(chance.choice((2, 2, 4, 1)))
    ]
    numbers = xla.ConvolutionDimensionNumbers(
        input_batch_dimension=0,
        input_feature_dimension=3,
        input_spatial_dimensions=[1, 2],
        kernel_input_feature_dimension=2,
        kernel_output_feature_dimension=3,
        kernel_spatial_dimensions=[0, 1],
        output_batch_dimension=0,
        output_feature_dimension=3,
        output_spatial_dimensions=[1, chance.choice((2, 2, 2, 1, 9, -1))],
    )
    fields: dict[str, Any] = {"window": xla.Window(dimensions=dimensions)}
    fields |= {"feature_group_count": _extent(chance), "batch_group_count": _extent(chance)}
    result = shape("F32", [2, chance.randint(0, 16), chance.randint(0, 16), 4])
    kernel = shape("F32", [3, 3, 3, 4])
    return whole_program([operand, kernel], "convolution", result, convolution_dimension_numbers=numbers, **fields)


def indexed(chance: random.Random) -> bytes:
    """A slice, update, gather or scatter at indices from an argument with random bytes."""
    opcode = chance.choice(("dynamic-slice", "dynamic-update-slice", "gather", "scatter"))
    index = shape(chance.choice(("S32", "S64", "U32", "U8")))
    operand, part = shape("F32", [64, 64]), shape("F32", [chance.choice((1, 64, 65, 100)), 8])
    if opcode == "dynamic-slice":
        sizes = list(part.dimensions)
        return whole_program([operand, index, index], opcode, part, dynamic_slice_sizes=sizes)
    if opcode == "dynamic-update-slice":
        return whole_program([operand, part, index, index], opcode, operand)
    indices = shape("S32", [16, chance.choice((1, 2, 2, 3))])
    if opcode == "gather":
        numbers = xla.GatherDimensionNumbers(
            offset_dims=[1],
            collapsed_slice_dims=[0],
            start_index_map=chance.choice(([0, 1], [0], [1, 0], [0, 7], [-1, 0])),
            index_vector_dim=chance.choice((1, 1, 2, 0, -1)),
        )
        sizes = [1, chance.choice((8, 64, 65, 0, -1))]
        result = shape("F32", [16, max(0, sizes[1])])
        return whole_program(
            [operand, indices], opcode, result, gather_dimension_numbers=numbers, gather_slice_sizes=sizes
        )
    return _scatter(chance, operand, indices)


def literal(chance: random.Random) -> bytes:
    """A constant with a literal of random size and shape."""
    module = Module()
    entry = module.computation("main")
    kind = _shape(chance)
    made = entry.constant(kind, f32s=[1.0] * chance.choice((0, 1, 3, 1000)), s32s=[1] * chance.randint(0, 4))
    made.literal.preds.extend([True] * chance.randint(0, 4))
    made.literal.shape.CopyFrom(_shape(chance) if chance.random() < 0.5 else kind)
    made.literal.sparse_indices.extend([number(chance) % (1 << 62)] * chance.randint(0, 4))
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(kind), made)))


def misnumbered(chance: random.Random) -> bytes:
    """Parameters, aliases, tuple indices, layouts or dynamic dimensions out of range."""
    module = Module()
    kind = shape("F32", [16, 16])
    entry = module.computation("main")
    parameters = [entry.parameter(kind) for _ in range(2)]
    added = entry.add("add", kind, *parameters)
    result = entry.add("tuple", tuple_shape(kind, kind), added, parameters[0])
    entry.finish(result)
    wrong = chance.choice((2, 3, 1 << 31, -1, (1 << 62) + 1))
    target = chance.choice((added, *parameters, result))
    where = chance.randrange(8)
    if where == 0:
        parameters[1].parameter_number = wrong
    elif where == 1:
        target.shape.layout.minor_to_major[:] = [wrong, 0, 1]
    elif where == 2:
        target.shape.is_dynamic_dimension[:] = [True] * chance.randint(1, 5)
    elif where == 3:
        alias = module.message.input_output_alias.entries.add(parameter_number=wrong % (1 << 40), kind=1)
        alias.output_shape_index.append(wrong)
    elif where == 4:
        target.operand_ids.append(wrong)
    elif where == 5:
        entry.message.root_id = wrong
    elif where == 6:
        target.shape.layout.tiles.add(dimensions=[wrong])
        target.shape.layout.element_size_in_bits = wrong % (1 << 31)
        target.shape.layout.memory_space = wrong % (1 << 31)
    else:
        target.shape.tuple_shapes.add().CopyFrom(kind)
    made = module.serialize(entry)
    if chance.random() < 0.3:
        module.message.host_program_shape.parameters.add().CopyFrom(_shape(chance))
        made = bytes(module.message.SerializeToString())
    return made


def sorted_oddly(chance: random.Random) -> bytes:
    """A sort whose comparison is not a strict weak order."""
    module = Module()
    count, flag = chance.choice((2, 17, 1000, 50_000)), shape("PRED")
    compare = module.computation("compare")
    first, second = compare.parameter(shape("F32")), compare.parameter(shape("F32"))
    direction = chance.choice(("GE", "LE", "NE", "EQ"))
    compare.finish(compare.add("compare", flag, first, second, comparison_direction=direction))
    entry = module.computation("main")
    kind = shape("F32", [count])
    operand = entry.parameter(kind)
    fields = {"dimensions": [chance.choice((0, 0, 0, 1, -1))], "is_stable": chance.random() < 0.5}
    made = entry.add("sort", kind, operand, called_computation_ids=[compare.id], **fields)
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(kind), made)))


def wide(chance: random.Random) -> bytes:
    """Nested tuples, or thousands of instructions."""
    module = Module()
    entry = module.computation("main")
    kind = shape("F32", [8])
    made = entry.parameter(kind)
    if chance.random() < 0.5:
        for _ in range(chance.choice((100, 1000, 3000))):
            made = entry.add(chance.choice(UNARY_OPCODES), kind, made)
        return module.serialize(entry.finish(entry.add("tuple", tuple_shape(kind), made)))
    for _ in range(chance.choice((2, 10, 60, 90))):
        made = entry.add("tuple", tuple_shape(made.shape), made)
    return module.serialize(entry.finish(made))


FAMILIES: tuple[Callable[[random.Random], bytes], ...] = (
    single,
    single,
    single,
    elementwise,
    cross_read,
    endless,
    nested,
    recursive,
    custom_call,
    marked_call,
    marked_call,
    huge,
    window,
    indexed,
    indexed,
    literal,
    misnumbered,
    sorted_oddly,
    wide,
)


def _shape(chance: random.Random) -> Any:
    """Draws any shape, mostly an array of a common element type."""
    drawn = chance.random()
    if drawn < 0.05:
        return tuple_shape(*(_shape(chance) for _ in range(chance.randint(0, 3))))
    element = chance.choice(_COMMON_ELEMENTS if drawn < 0.85 else _ELEMENTS)
    dims = [chance.choice(_DIMENSIONS) for _ in range(chance.randint(0, 3))]
    if dims and chance.random() < 0.1:
        dims[0] = chance.choice(_HUGE_DIMENSIONS)
    made = shape(element, dims)
    if dims and chance.random() < 0.1:
        made.is_dynamic_dimension[0] = True
    if dims and chance.random() < 0.1:
        order = list(made.layout.minor_to_major)
        chance.shuffle(order)
        made.layout.minor_to_major[:] = order
        made.layout.minor_to_major[0] = chance.choice((0, len(dims), -1, 1 << 40))
    return made


def _small_dims(chance: random.Random) -> list[int]:
    return [chance.choice((0, 1, 2, 3, 5, 8, 64)) for _ in range(chance.choice((1, 2, 3, 3, 4, 4)))]


def _extent(chance: random.Random) -> int:
    return chance.choice((1, 1, 1, 1, 2, 3, 8, 0, -1, 1000, 1 << 31, 1 << 62))


def _fields(chance: random.Random, rank: int) -> dict[str, Any]:
    """Draws fields that some operations require, valid or invalid."""
    fields: dict[str, Any] = {}
    if chance.random() < 0.7:
        fields["dimensions"] = [chance.choice((index, 0, rank, -1)) for index in range(rank)]
    if chance.random() < 0.3:
        fields["slice_dimensions"] = slice_dimensions(*([(0, number(chance) % (1 << 40), 1)] * rank))
    if chance.random() < 0.3:
        fields["comparison_direction"] = chance.choice(("LT", "NE", "XX"))
    if chance.random() < 0.2:
        fields["fft_length"] = [number(chance) % (1 << 62)] * chance.randint(1, 4)
    if chance.random() < 0.2:
        fields["called_computation_ids"] = [chance.choice((1, 2, 77, -1))]
    if chance.random() < 0.2:
        fields["backend_config"] = programs.partitions(-1, -number(chance))
    if chance.random() < 0.2:
        fields["tuple_index"] = number(chance) % (1 << 62)
    if chance.random() < 0.2:
        fields["custom_call_target"] = chance.choice(TARGETS)
    if chance.random() < 0.2:
        fields["exponent_bits"] = chance.choice((0, 1, 8, 99, -1))
        fields["mantissa_bits"] = chance.choice((0, 1, 7, 99, -1))
    return fields


def _mark(chance: random.Random) -> tuple[str, str]:
    attributes = chance.choice(("", " full_matrices", " adjoint", " lower", " compute_uv", " x"))
    operation = chance.choice(("linear_algebra", "linear_algebra", "linear_algebra", "other", ""))
    return "hpu_operation", f"{operation} {chance.choice(_LINEAR_ALGEBRA)}{attributes}"


def _zeros(computation: Computation, kind: Any) -> Any:
    if kind.element_type == xla.TUPLE:
        return computation.add("tuple", kind, *(_zeros(computation, element) for element in kind.tuple_shapes))
    zero = computation.constant(shape("F32"), f32s=[0.0])
    return computation.add("broadcast", kind, zero)


def _scatter(chance: random.Random, operand: Any, indices: Any) -> bytes:
    module = Module()
    scalar = shape("F32")
    combine = module.computation("combine")
    combine.finish(combine.add("add", scalar, combine.parameter(scalar), combine.parameter(scalar)))
    entry = module.computation("main")
    numbers = xla.ScatterDimensionNumbers(
        update_window_dims=[1],
        inserted_window_dims=[0],
        scatter_dims_to_operand_dims=chance.choice(([0, 1], [0], [1, 0], [0, 7], [-1, 0])),
        index_vector_dim=chance.choice((1, 1, 2, 0, -1)),
    )
    updates = shape("F32", [16, chance.choice((8, 64, 65))])
    operands = map(entry.parameter, (operand, indices, updates))
    fields: dict[str, Any] = {"scatter_dimension_numbers": numbers, "called_computation_ids": [combine.id]}
    fields |= {"indices_are_sorted": chance.random() < 0.5, "unique_indices": chance.random() < 0.5}
    made = entry.add("scatter", operand, *operands, **fields)
    return module.serialize(entry.finish(entry.add("tuple", tuple_shape(operand), made)))
