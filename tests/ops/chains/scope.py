"""Shared state of a program's steps during construction: values, variables, listing."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.chains import kinds
from tests.ops.chains.program import Mode, Program, Spec, Step
from tests.support.compare import CPU

FLOATS = ("float32", "float64", "bfloat16", "float16")
WIDE_FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int32", "int64", "uint8", "int8", "int16", "uint16", "uint32", "uint64")
NUMBERS = (*FLOATS, *COMPLEX, *INTEGERS)
MAX_ELEMENTS = 64
BOUND = 32.0


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor of the program.

    number: of the step that created the value. exact: free of rounding, so that control flow may depend on it.
    element: for TensorLists, the dtype of the elements.
    """

    name: str
    number: int
    tensor: Any
    exact: bool
    element: str = ""

    @property
    def dtype(self) -> str:
        return str(self.tensor.dtype.name)

    @property
    def shape(self) -> tf.TensorShape:
        return self.tensor.shape

    @property
    def text(self) -> str:
        if self.element:
            return f"list of {self.element}"
        dims = "?" if self.shape.rank is None else ",".join("?" if d is None else str(d) for d in self.shape)
        return f"{self.dtype}[{dims}]"

    def same_type(self, other: Value) -> bool:
        return self.dtype == other.dtype and self.element == other.element


Wanted = Callable[[Value], bool]


def anything(value: Value) -> bool:
    return not value.element


def of(*types: str) -> Wanted:
    return lambda value: value.dtype in types


def exact(*types: str) -> Wanted:
    return lambda value: value.dtype in types and value.exact


def known(value: Value) -> bool:
    """Whether the value's static shape is known."""
    return bool(value.shape.is_fully_defined())


def array(step: Step, slot: Any, dtype: str, shape: Sequence[int], small: bool = False) -> np.ndarray:
    """Returns random values; floats are multiples of 0.25. small: integers are from 0 to 2."""
    rng = np.random.default_rng(step.hash("array", slot))
    if dtype == "string":
        return rng.choice(np.array([b"", b"a", b"7", b"-12", b"word", b"two words"], object), size=shape)
    if dtype == "bool":
        return rng.integers(0, 2, size=shape).astype(bool)
    if dtype in INTEGERS:
        signed = not dtype.startswith("u") and not small
        drawn = rng.integers(-4 if signed else 0, 3 if small else 7, size=shape)
        if not small and step.chance(("extreme", slot), 15):
            limits = np.iinfo(dtype)
            return rng.choice(np.array([limits.min, limits.max, 1], dtype), size=shape)
        return np.asarray(drawn).astype(dtype)
    numbers = np.asarray(rng.integers(-12, 13, size=shape) / 4)
    if dtype in COMPLEX:
        numbers = numbers + 1j * np.asarray(rng.integers(-8, 9, size=shape) / 4)
    return np.asarray(numbers).astype(tf.as_dtype(dtype).as_numpy_dtype)


# Callback with the result of a step, or with its error.
Watch = Callable[[Step, "Value | Exception"], None]


class Listing:
    """Text listing of the program, filled during construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)


class Scope:
    """Values available to a list of steps: the scope's own values, and values of enclosing scopes."""

    def __init__(
        self,
        program: Program,
        listing: Listing,
        parent: Scope | None = None,
        watch: Watch | None = None,
        without: Collection[str] = (),
    ) -> None:
        self.program, self.listing, self.parent = program, listing, parent
        self.watch, self.without = watch, without
        self.depth: int = parent.depth + 1 if parent else 0
        self.values: list[Value] = []
        self.variables: dict[str, Any] = parent.variables if parent else {}
        # Latest op per variable in this scope, for modes in which TensorFlow does not order the ops.
        self.effects: dict[str, tf.Operation] = {}

    def child(self) -> Scope:
        return Scope(self.program, self.listing, self, self.watch, self.without)

    @property
    def ordered(self) -> bool:
        """Whether the builder must order the ops on a variable."""
        return self.program.mode in (Mode.SESSION, Mode.SESSION_V1) and not tf.executing_eagerly()

    def all_values(self) -> list[Value]:
        """Returns all values; this scope's values are last."""
        return [*(self.parent.all_values() if self.parent else []), *self.values]

    def pick(self, step: Step, slot: Any, wanted: Wanted = anything) -> Value | None:
        """Returns one of the wanted values, with a preference for young values."""
        fitting = [value for value in self.all_values() if wanted(value)]

        def score(value: Value) -> float:
            return step.hash("pick", slot, value.name) / 2**32 + 0.8 * value.number / max(1, step.number)

        return max(fitting, key=score, default=None)

    def latest(self, prototype: Value) -> Value:
        """Returns the youngest value that can replace `prototype`."""
        for value in reversed(self.all_values()):
            if value.same_type(prototype):
                return value
        return prototype

    def need(self, step: Step, slot: Any, dtype: str, shape: Sequence[int] | None = None, small: bool = False) -> Value:
        """Returns a value of this dtype and shape, or a constant: at random, if `small`, or if no value fits."""
        fits = of(dtype)
        if shape is not None:
            fits = lambda value: of(dtype)(value) and known(value) and list(value.shape) == list(shape)  # noqa: E731
        found = None if small or step.chance(("constant", slot), 20) else self.pick(step, slot, fits)
        if found is not None:
            return found
        dims = step.choose(("shape", slot), ((), (3,), (2, 3))) if shape is None else tuple(shape)
        drawn = array(step, slot, dtype, dims, small)
        with tf.device(CPU) if dtype == "string" else contextlib.nullcontext():
            tensor = tf.constant(drawn, dtype)
        text = np.array2string(drawn, separator=",", threshold=8).replace("\n", "")
        return Value(f"{dtype}({text})", step.number, tensor, exact=True)

    def add(self, step: Step, tensor: Any, exact: bool, element: str = "") -> Value:
        """Adds a result of the step."""
        count = sum(value.number == step.number for value in self.values)
        value = Value(f"t{step.number}" + (f".{count}" if count else ""), step.number, tensor, False, element)
        always = not element and value.dtype in (*INTEGERS, "bool", "string")
        value = dataclasses.replace(value, exact=always or (exact and value.dtype in WIDE_FLOATS))
        self.values.append(value)
        if self.watch is not None and self.parent is None:
            self.watch(step, value)
        return value

    def note(self, text: str) -> None:
        self.listing.add(self.depth, text)

    def apply(
        self, step: Step, text: str, function: Callable[..., Any], *values: Value, exact: bool | None = None
    ) -> Value:
        """Adds function(values). `text` describes the function and its attributes in the listing."""
        names = ", ".join(value.name for value in values)
        self.note(f"t{step.number} = {text}({names})" + (" on the CPU" if step.on_cpu else ""))
        tensor = function(*[value.tensor for value in values])
        keeps = all(value.exact for value in values) if exact is None else exact
        result = self.add(step, tensor, keeps)
        self.listing.lines[-1] += f"  # {result.text}"
        return result

    def build(self, steps: Sequence[Step]) -> None:
        """Builds steps. A step that cannot be built is recorded with its error and skipped."""
        for step in steps:
            if step.kind in self.without:
                continue
            try:
                with tf.device(CPU) if step.on_cpu else contextlib.nullcontext():
                    kinds.builder(step.kind)(step, self)
            except Exception as error:
                self.note(f"step {step.number}, {step.kind}: {type(error).__name__}")
                if self.watch is not None:
                    self.watch(step, error)

    @contextlib.contextmanager
    def effect(self, *names: str) -> Iterator[Callable[[Any], None]]:
        """Orders ops on these variables after earlier ops. Yields a function to call with the last op."""
        done: Callable[[Any], None] = lambda made: None  # noqa: E731
        if not self.ordered:
            yield done
            return
        before = [self.effects[name] for name in names if name in self.effects]

        def enter(made: Any) -> None:
            op = made if isinstance(made, tf.Operation) else made.op
            self.effects.update(dict.fromkeys(names, op))

        with tf.control_dependencies(before):
            yield enter


def bounded(tensor: tf.Tensor) -> tf.Tensor:
    """Limits floats to a small range, so that rounding errors stay small."""
    if tensor.dtype.is_floating:
        limit = tf.constant(BOUND, tensor.dtype)
        return tf.minimum(tf.maximum(tensor, -limit), limit)
    if tensor.dtype.is_complex:
        real, imaginary = bounded(tf.math.real(tensor)), bounded(tf.math.imag(tensor))
        return tf.complex(real, imaginary)
    return tensor


def spec_array(program: Program, spec: Spec, call: int) -> np.ndarray:
    """Returns the value of an argument or variable at a call."""
    return array(Step(program.seed, 0, "input"), (spec.name, call), spec.dtype, spec.shape)
