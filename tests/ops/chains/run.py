"""Execution of a random program on one device, with records of results, errors and variables after each run."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.chains.program import Mode, Program, Spec, Step
from tests.ops.chains.scope import COMPLEX, FLOATS, Listing, Scope, Value, array, known, spec_array
from tests.support.compare import CPU, HPU

tf1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Observation:
    """A result, or the error in place of a result."""

    label: str
    value: np.ndarray | None = None
    exact: bool = True
    error: Exception | None = None


class _Record:
    """Observations of one run, and the listing of the executed program."""

    def __init__(self, program: Program, device: str, without: Collection[str]) -> None:
        self.program, self.device, self.without = program, device, without
        self.observations: list[Observation] = []
        self.listing = Listing()
        self.over = False  # the rest of the program is undefined

    def see(self, label: str, tensor: Any, exact: bool = False) -> None:
        value = np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
        if value.dtype.kind == "S":  # a scalar string
            value = value.astype(object)
        inexact = value.dtype.name in (*FLOATS, *COMPLEX) and not exact
        self._observe(Observation(label, value, not inexact))

    def fail(self, label: str, error: Exception) -> None:
        self._observe(Observation(label, error=error))

    def _observe(self, seen: Observation) -> None:
        if not self.over:
            self.observations.append(seen)

    def placed(self) -> Any:
        """Device scope for the program's ops. Without an explicit device, placement chooses the HPU."""
        if self.device == HPU and not self.program.named_device:
            return contextlib.nullcontext()
        return tf.device(self.device)

    def scope(self, **options: Any) -> Scope:
        return Scope(self.program, self.listing, without=self.without, **options)


def run(program: Program, device: str, without: Collection[str] = ()) -> tuple[list[Observation], list[str]]:
    """Returns the program's observations on a device, and its listing. without: excluded kinds of steps."""
    record = _Record(program, device, without)
    modes = {Mode.EAGER: _run_eager, Mode.FUNCTION: _run_function}
    try:
        modes.get(program.mode, _run_session)(record)
    except Exception as error:
        record.fail("before the first step", error)
    return record.observations, record.listing.lines


def _variable(program: Program, spec: Spec) -> Any:
    return tf.Variable(tf.constant(spec_array(program, spec, 0), spec.dtype), name=spec.name, shape=spec.shape)


def _arguments(program: Program, call: int) -> list[Any]:
    made = []
    for spec in program.arguments:
        with tf.device(CPU) if spec.dtype == "string" else contextlib.nullcontext():
            made.append(tf.constant(spec_array(program, spec, call), spec.dtype))
    return made


def _enter(scope: Scope, tensors: Sequence[Any]) -> None:
    for spec, tensor in zip(scope.program.arguments, tensors):
        value = Value(spec.name, 0, tensor, spec.dtype not in ("bfloat16", "float16", *COMPLEX))
        scope.values.append(value)
        scope.note(f"{spec.name}: {value.text}")
    for spec in scope.program.variables:
        scope.note(f"{spec.name}: variable {spec.dtype}{list(spec.shape)}")


def _run_eager(record: _Record) -> None:
    program = record.program
    with record.placed():
        variables = {spec.name: _variable(program, spec) for spec in program.variables}
        for repetition in range(program.runs):
            record.listing.lines.clear()

            def watch(step: Step, made: Value | Exception, repetition: int = repetition) -> None:
                label = f"run {repetition}, step {step.number} ({step.kind})"
                if isinstance(made, Exception):
                    record.fail(label, made)
                    # The side effects of a function before an error are undefined.
                    record.over = record.over or step.kind == "call"
                elif not made.element:
                    record.see(f"{label}, {made.name}", made.tensor, made.exact)

            scope = record.scope(watch=watch)
            scope.variables = variables
            _enter(scope, _arguments(program, repetition % 2))
            scope.build(program.steps)
            for name, variable in variables.items():
                record.see(f"run {repetition}, {name}", variable.read_value())


def _drawn(program: Program, what: str, percent: int) -> bool:
    return Step(program.seed, 0, "run").chance(what, percent)


def _run_function(record: _Record) -> None:
    program = record.program
    shown: list[Value] = []

    def trace(*tensors: Any) -> list[Any]:
        record.listing.lines.clear()
        scope = record.scope()
        scope.variables = variables
        _enter(scope, tensors)
        scope.build(program.steps)
        values = [value for value in scope.values if not value.element]
        # A subset, because unreturned values may be pruned.
        shown[:] = [value for value in values if _drawn(program, value.name, 60)] or values[-1:]
        return [value.tensor for value in shown]

    signature = None
    if not program.known_shapes:
        signature = [tf.TensorSpec([None] * len(spec.shape), spec.dtype) for spec in program.arguments]
    with record.placed():
        variables = {spec.name: _variable(program, spec) for spec in program.variables}
        function = tf.function(trace, input_signature=signature, autograph=False)
        for call in range(program.runs):
            try:
                results = function(*_arguments(program, call % 2))
                for value, result in zip(shown, results):
                    record.see(f"call {call}, {value.name}", result, value.exact)
                for name, variable in variables.items():
                    record.see(f"call {call}, {name}", variable.read_value())
            except Exception as error:
                # The side effects before the error are undefined.
                record.fail(f"call {call}", error)
                return


@contextlib.contextmanager
def _control_flow(mode: Mode) -> Iterator[None]:
    if mode is not Mode.SESSION_V1:
        yield
        return
    tf1.disable_control_flow_v2()
    try:
        yield
    finally:
        tf1.enable_control_flow_v2()


def _run_session(record: _Record) -> None:
    program = record.program
    with tf.Graph().as_default(), _control_flow(program.mode):
        with record.placed():
            placeholders = [
                tf1.placeholder(spec.dtype, spec.shape if program.known_shapes else [None] * len(spec.shape))
                for spec in program.arguments
            ]
            variables = {spec.name: _variable(program, spec) for spec in program.variables}
            reads = [variable.read_value() for variable in variables.values()]
            scope = record.scope()
            scope.variables = variables
            _enter(scope, placeholders)
            scope.build(program.steps)
        config = tf1.ConfigProto(allow_soft_placement=True)
        with tf1.Session(config=config) as session:
            session.run([variable.initializer for variable in variables.values()])
            for call in range(program.runs):
                try:
                    _run_once(record, session, scope, placeholders, call)
                    for name, value in zip(variables, session.run(reads)):
                        record.see(f"run {call}, {name}", value)
                except Exception as error:
                    record.fail(f"run {call}", error)
                    return


def _run_once(record: _Record, session: Any, scope: Scope, placeholders: Sequence[Any], call: int) -> None:
    """Fetches a subset of the values and effects. Feeds the placeholders, and without effects sometimes a value.

    A fed value may be what orders a read before an update: TensorFlow's CPU then returns the old value or the new.
    """
    program = record.program
    values = [value for value in scope.values if not value.element and value.number]
    fetched = [value for value in values if _drawn(program, f"{call} {value.name}", 50)] or values[-1:]
    effects = [op for name, op in scope.effects.items() if _drawn(program, f"{call} {name}", 60)]
    feeds = {tensor: spec_array(program, spec, call % 2) for tensor, spec in zip(placeholders, program.arguments)}
    for value in () if effects else values:
        if _drawn(program, f"fed {call} {value.name}", 6) and known(value) and value.dtype != "string":
            drawn = array(Step(program.seed, value.number, "fed"), call, value.dtype, list(value.shape))
            if session.graph.is_feedable(value.tensor):
                feeds[value.tensor] = drawn
    results, _ = session.run(([value.tensor for value in fetched], effects), feeds)
    for value, result in zip(fetched, results):
        record.see(f"run {call}, {value.name}", result, value.exact)
