"""Special values that coincide, in elementwise ops: `python -m tests.ops.pairs_program`.

Each elementwise op with several operands gets all combinations of special values as its operands' elements, such as a
gradient of 0 at an infinite result. The sweep of ops draws operands independently, so that few of them coincide.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import yaml

from tests.ops.sweep import excluded, modes, registry
from tests.ops.sweep.generic import has_gradient
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array, Mode, Outcome

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int32", "int64", "int8", "int16", "uint8", "uint32")
TYPES = (*FLOATS, *INTEGERS, "complex64")
_FILE = pathlib.Path(__file__).with_name("pair_differences.yaml")
MODES = (Mode.EAGER, Mode.GRAPH, Mode.JIT, Mode.GRADIENT)
_MAX_ELEMENTS = 2000
# Accepted differences relative to the expected element.
_BOUNDS = {"float64": 1e-9, "float32": 2e-5, "float16": 4e-3, "bfloat16": 2e-2, "complex64": 2e-5}
_HYPERPARAMETERS = {"rho": 0.9, "lr": 0.1, "alpha": 0.1, "lr_power": -0.5, "global_step": 2, "sign_decay": 0.5}
_TUNED_TO_ZERO = re.compile("epsilon|l1|l2|momentum|l2_shrinkage")
_RANGES = ((-6.0, 6.0), (0.0, 6.0), (-1.0, 0.0))
_LIMIT = re.compile("(input_)?(min|max)")  # operands that are scalars
# Functions with jit_compile=True do not end on the CPU, because XLA's series does not converge for operands above 1e15.
_ENDLESS = {("Igamma", "float64")}
_ELEMENTWISE = """
    Add AddV2 ApproximateEqual Atan2 Betainc BitwiseAnd BitwiseOr BitwiseXor ClipByValue Complex Div DivNoNan EluGrad
    Equal FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient FloorDiv FloorMod
    Greater GreaterEqual Igamma IgammaGradA Igammac InvGrad LeakyReluGrad LeftShift Less LessEqual LogicalAnd LogicalOr
    Maximum Minimum Mod Mul MulNoNan NextAfter NotEqual Polygamma Pow QuantizeAndDequantizeV2 QuantizeAndDequantizeV4
    QuantizeAndDequantizeV4Grad RandomGammaGrad RealDiv ReciprocalGrad Relu6Grad ReluGrad RightShift RsqrtGrad Select
    SelectV2 SeluGrad SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad SquaredDifference Sub TanhGrad TruncateDiv
    TruncateMod Xdivy Xlog1py Xlogy Zeta"""


@dataclasses.dataclass(frozen=True)
class Grid:
    """A program whose operands contain all combinations of special values."""

    name: str
    dtype: str
    program: Program
    elements: Mapping[str, Array]  # operands that have an element for each combination

    def at(self, place: int) -> str:
        return ", ".join(f"{name}={array.ravel()[place]}" for name, array in self.elements.items())


@dataclasses.dataclass(frozen=True)
class Difference:
    """Elements that differ from the CPU's in one mode."""

    grid: str
    mode: Mode
    call: int
    detail: str  # of the first element, or about the outcome as a whole
    places: Sequence[str] = ()

    def __str__(self) -> str:
        return f"{self.grid}, {self.mode.value}, call {self.call}: {self.detail}"


def specials(dtype: str, operands: int, non_negative: bool = False) -> list[Any]:
    """Returns the special values, fewer for more operands."""
    kind = tf.as_dtype(dtype)
    if dtype == "bool":
        return [False, True]
    if kind.is_integer:
        numbers = [0, 1, 2, 7, kind.max, kind.max - 1, *([-1, -7, kind.min, kind.min + 1] if kind.min < 0 else [])]
        return [number for number in numbers if not non_negative or number > 0]
    if kind.is_complex:
        return [0, 1, -1, 1j, -0.5 + 2j]
    small = [0.0, 1.0, np.inf, np.nan, -np.inf]
    more = [*small, -0.0, -1.0, 0.5]
    tiny = 2.0**-60 if dtype != "float16" else 2.0**-12  # without denormals as products
    every = [*more, 2.0, -2.5, 3.0, tiny, -tiny, float(kind.max), float(kind.min)]
    return next((some for some in (every, more, small) if len(some) ** operands <= _MAX_ELEMENTS), small[:3])


def _columns(kinds: Sequence[str], non_negative: bool = False) -> list[Array]:
    """Returns an array for each operand. Only the last operand is restricted by `non_negative`."""
    values = [specials(kind, len(kinds), non_negative and i == len(kinds) - 1) for i, kind in enumerate(kinds)]
    rows = list(itertools.product(*values))
    return [
        np.array(column, dtype=object).astype(tf.as_dtype(kind).as_numpy_dtype)
        for column, kind in zip(zip(*rows), kinds)
    ]


def _types(op: str) -> list[str]:
    """Returns the types of TYPES for which the CPU has a kernel."""
    (attribute,) = _shared_type(op)
    allowed = {
        dtype.name
        for kernel in registry.cpu_kernels(op)
        for dtype in kernel.types.get(attribute, map(tf.as_dtype, TYPES))
    }
    return [dtype for dtype in TYPES if dtype in allowed]


def _shared_type(op: str) -> set[str]:
    return {a.type_attr for a in registry.definition(op).input_arg if a.type_attr}


def _is_update(op: str) -> bool:
    return re.fullmatch(r"ResourceApply\w+", op) is not None


def _call(op: str, names: Sequence[str], arrays: Sequence[Array], scalars: Mapping[str, Array]) -> Program:
    call = registry.call_of(op)
    both = [*names, *scalars]

    def function(*tensors: Any) -> Any:
        return call(**dict(zip(both, tensors)))

    constants = frozenset(range(len(arrays), len(both)))
    return Program(op, function, (*arrays, *scalars.values()), (), constants, tuple(both))


def _grids_of_calls(op: str, dtype: str) -> Iterator[Grid]:
    kinds = {a.name: dtype if a.type_attr else tf.as_dtype(a.type).name for a in registry.definition(op).input_arg}
    limits = [name for name in kinds if _LIMIT.fullmatch(name)]
    vectors = [name for name in kinds if name not in limits]
    for limit in _RANGES if limits else [()]:
        scalars = {name: np.array(value, tf.as_dtype(kinds[name]).as_numpy_dtype) for name, value in zip(limits, limit)}
        for positive in (False, True) if tf.as_dtype(dtype).is_integer else (False,):
            columns = _columns([kinds[name] for name in vectors], positive)
            label = f"{op}-{dtype}{'-positive' if positive else ''}{''.join(f' {value:g}' for value in limit)}"
            yield Grid(label, dtype, _call(op, vectors, columns, scalars), dict(zip(vectors, columns)))


def _grids_of_updates(op: str, dtype: str) -> Iterator[Grid]:
    inputs = registry.definition(op).input_arg
    slots = [a.name for a in inputs if a.type == tf.resource.as_datatype_enum and a.name != "var"]
    slots = [name for name in slots if not name.endswith("_power")]
    columns = dict(zip([*slots, "grad"], _columns([dtype] * (len(slots) + 1))))
    kind = tf.as_dtype(dtype).as_numpy_dtype
    call = registry.call_of(op)
    for zero in (False, True):
        variables: dict[str, Array] = {}
        arguments: dict[str, Array] = {}
        for a in inputs:
            scalar = np.array(_HYPERPARAMETERS.get(a.name, 0.5), kind)
            if a.name == "global_step":
                scalar = np.array(2, np.int64)
            elif zero and _TUNED_TO_ZERO.search(a.name):
                scalar = np.zeros_like(scalar)
            resource = a.type == tf.resource.as_datatype_enum
            value = columns.get(a.name, np.ones_like(columns["grad"]) if a.name == "var" else scalar)
            (variables if resource else arguments)[a.name] = value
        names = [*variables, *arguments]

        def function(*tensors: Any, names: Sequence[str] = tuple(names)) -> Any:
            return call(**dict(zip(names, tensors)))

        program = Program(op, function, tuple(arguments.values()), tuple(variables.values()), names=tuple(arguments))
        yield Grid(f"{op}-{dtype}{' zeros' if zero else ''}", dtype, program, columns)


def grids(op: str, types: Sequence[str] = TYPES) -> Iterator[Grid]:
    """Yields the op's programs with combinations of special values."""
    make = _grids_of_updates if _is_update(op) else _grids_of_calls
    for dtype in _types(op) if _shared_type(op) else ["float32"]:
        if dtype in types and (dtype in FLOATS or not _is_update(op)):
            yield from make(op, dtype)


def ops() -> list[str]:
    """Returns the ops that have grids."""
    updates = [op for op in dir(tf.raw_ops) if _is_update(op)]
    return sorted({*_ELEMENTWISE.split(), *updates} - {*excluded.reasons()})


@dataclasses.dataclass(frozen=True)
class Known:
    """An entry of pair_differences.yaml."""

    ops: str
    types: Sequence[str]
    text: str
    reason: str = ""
    fault: str = ""

    def fits(self, grid: Grid, text: str) -> bool:
        return self.is_of(grid.program.op, grid.dtype) and re.search(self.text, text) is not None

    def is_of(self, op: str, dtype: str) -> bool:
        return re.fullmatch(self.ops, op) is not None and dtype in self.types


@functools.cache
def known() -> Sequence[Known]:
    """Returns the intended differences and the known faults."""
    entries = yaml.safe_load(_FILE.read_text())
    return [Known(**{**entry, "types": tuple(entry["types"])}) for entry in entries]


def differences(grid: Grid, wanted: Sequence[Mode] = MODES) -> Iterator[Difference]:
    """Yields differences between the HPU and both of the CPU's outcomes, eager and in a graph."""
    floats = tf.as_dtype(grid.dtype).is_floating or tf.as_dtype(grid.dtype).is_complex
    differentiable = floats and has_gradient(grid.program.op) and not grid.program.variables
    expected = [modes.run(grid.program, mode, "/device:CPU:0", calls=1)[0] for mode in (Mode.EAGER, Mode.GRAPH)]
    for mode in wanted:
        accepted = expected
        if mode is Mode.GRADIENT:
            if not differentiable:
                continue
            accepted = modes.run(grid.program, mode, "/device:CPU:0", calls=1)
            if not accepted[0].ok:
                continue
        if mode is Mode.JIT:
            if not any(one.ok for one in accepted):
                continue  # compiled functions raise no errors about values
            endless = (grid.program.op, grid.dtype) in _ENDLESS
            compiled = [] if endless else modes.run(grid.program, mode, "/device:CPU:0", calls=1)
            accepted = expected + [one for one in compiled if not one.ok]
        for call, outcome in enumerate(modes.run(grid.program, mode, "/device:HPU:0")):
            alike = [one for one in accepted if one.ok == outcome.ok] or accepted
            found = [_compare(grid, one, outcome) for one in alike]
            detail, places = min(found, key=lambda one: (bool(one[0]), len(one[1])))
            if detail:
                yield Difference(grid.name, mode, call, detail, places)


def _compare(grid: Grid, expected: Outcome, actual: Outcome) -> tuple[str, list[str]]:
    """Describes the first differing element and lists all of them; ("", []) if the outcomes agree."""
    if not expected.ok or not actual.ok:
        if not expected.ok and not actual.ok:
            return "", []
        return f"{actual.error or 'a value'} {actual.text[:200]} instead of {expected.error or 'a value'}", []
    if len(expected.arrays) != len(actual.arrays):
        return f"{len(actual.arrays)} results instead of {len(expected.arrays)}", []
    places = []
    for i, (one, other) in enumerate(zip(expected.arrays, actual.arrays)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"result {i} is {other.dtype}{other.shape} instead of {one.dtype}{one.shape}", []
        for place in np.flatnonzero(~_close(one, other)):
            operands = grid.at(place) if one.shape == next(iter(grid.elements.values())).shape else f"element {place}"
            places.append(f"result {i} is {other.ravel()[place]} instead of {one.ravel()[place]} for {operands}")
    return (f"{places[0]}; {len(places)} elements differ", places) if places else ("", [])


def _close(expected: Array, actual: Array) -> Array:
    bound = _BOUNDS.get(expected.dtype.name)
    if bound is None:
        return np.asarray(expected == actual)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = expected.astype(wide), actual.astype(wide)
    with np.errstate(all="ignore"):
        near = np.abs(one - other) <= bound * np.abs(one)
        return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)) | near)
