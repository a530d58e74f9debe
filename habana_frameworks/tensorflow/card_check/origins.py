"""Lines of the program that created the ops of its graphs."""

from __future__ import annotations

import collections
import dataclasses
import functools
import linecache
import pathlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from habana_frameworks.tensorflow._internal.program_files import PACKAGE, is_of_program

_WIDE = {"int64": "int32", "uint64": "int32", "uint32": "int32", "float64": "float32"}
# Larger constants are not searched for values that do not fit: their copies would take the program's memory.
_MAX_ELEMENTS = 1 << 20


@dataclasses.dataclass(frozen=True, order=True)
class Line:
    """A line of the program."""

    path: str
    number: int
    text: str = ""
    """Source text without its indentation; empty if the file cannot be read."""

    @classmethod
    def of(cls, path: str, number: int) -> Line:
        """Returns the line with its text."""
        return cls(path, number, linecache.getline(path, number).strip())

    def __str__(self) -> str:
        return f"{self.path}:{self.number}"


@dataclasses.dataclass(frozen=True)
class Origin:
    """An op at its creation."""

    type: str
    graph: str
    """Name of the graph: the Python function's name; empty for a graph of a Session."""
    line: Line | None
    """Innermost line of the program; None if libraries alone created the op."""
    shapes: tuple[str, ...]
    """Static shapes of the results, then of the inputs: "[]" for a scalar, "[None, 16]", "[...]" for unknown rank."""
    dtypes: tuple[str, ...]
    """Dtypes of the results, then of the inputs."""
    inputs: tuple[str, ...]
    """Names of the ops whose results the op reads."""
    is_of_package: bool = False
    """Whether a function of this package created the op, such as ops.pyramid_roi_align."""
    misfit: str = ""
    """Value of a 64-bit constant that its 32-bit type cannot represent; empty if there is none."""


class Origins:
    """Records the origin of each op that TensorFlow creates during a `with` block. Use one at a time.

    Replaces a method of tf.Graph during the block. Thread safe like tf.Graph, which creates ops under a lock of their
    graph.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, list[Origin]] = collections.defaultdict(list)
        self._create: Any = None

    def __enter__(self) -> Origins:
        from tensorflow.python.framework import ops

        create = self._create = ops.Graph._create_op_helper

        @functools.wraps(create)
        def record(graph: Any, op: Any, *arguments: Any, **options: Any) -> Any:
            result = create(graph, op, *arguments, **options)
            self._by_name[op.name].append(_origin(graph, op))
            return result

        ops.Graph._create_op_helper = record
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        from tensorflow.python.framework import ops

        ops.Graph._create_op_helper = self._create

    def find(self, name: str, op_type: str, graph: str) -> Origin | None:
        """Returns the origin of an op of a graph after the passes; None for an op that no line of Python created.

        Inlining prefixes an op's name with names of calls, and passes append words. So the longest part of `name` that
        is the name of a created op decides. Prefers an op of the same type and graph, then of the same type.
        """
        for part in _parts(name):
            found = self._by_name.get(part)
            if found:
                same = [origin for origin in found if origin.type == op_type] or found
                return next((origin for origin in reversed(same) if origin.graph == graph), same[-1])
        return None

    def misfits(self, origin: Origin) -> Iterator[tuple[str, Line | None]]:
        """Yields the value and line of each constant that the op reads and that does not fit in 32 bits."""
        for name in origin.inputs:
            for source in self._by_name.get(name, ()):
                if source.misfit and source.graph == origin.graph:
                    yield source.misfit, source.line
                    break

    def arguments(self, graph: str) -> dict[str, set[str]]:
        """Returns the static shapes of the arguments of all graphs of this name, by argument."""
        found: dict[str, set[str]] = collections.defaultdict(set)
        for name, origins in self._by_name.items():
            for origin in origins:
                if origin.type == "Placeholder" and origin.graph == graph:
                    found[name].update(origin.shapes)
        return found

    def line_of(self, graph: str) -> Line | None:
        """Returns the line that first called the graph's function; for a Session's graph the line of its first op."""
        created = [origin for origins in self._by_name.values() for origin in origins if origin.graph == graph]
        called = [origin for origin in created if origin.type == "Placeholder"]
        return next((origin.line for origin in (*called, *created) if origin.line), None)


def _parts(name: str) -> Iterator[str]:
    """Yields the contiguous parts of a path of names, longest first, and at equal length the last one first."""
    words = name.split("/")
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length, -1, -1):
            yield "/".join(words[start : start + length])


def _origin(graph: Any, op: Any) -> Origin:
    line, is_of_package = _creator(op.traceback)
    return Origin(
        type=op.type,
        graph=getattr(graph, "name", ""),
        line=line,
        shapes=tuple(_shape(value.shape) for value in (*op.outputs, *op.inputs)),
        dtypes=tuple(value.dtype.name for value in (*op.outputs, *op.inputs)),
        inputs=tuple(value.op.name for value in op.inputs),
        is_of_package=is_of_package,
        misfit=_misfit(op) if op.type == "Const" else "",
    )


def _creator(traceback: Any) -> tuple[Line | None, bool]:
    """Returns the innermost line of the program in a stack trace, and whether it called a function of this package."""
    is_of_package = False
    for frame in reversed(list(traceback or ())):
        if is_of_program(frame.filename):
            return Line.of(frame.filename, frame.lineno), is_of_package
        is_of_package = is_of_package or _is_of_package(frame.filename)
    return None, is_of_package


@functools.cache
def _is_of_package(filename: str) -> bool:
    """Whether a file belongs to this package's public functions; its patches wrap TensorFlow's own functions."""
    path = pathlib.Path(filename).resolve()
    return path.is_relative_to(PACKAGE) and not path.is_relative_to(PACKAGE / "_internal")


def _shape(shape: Any) -> str:
    return "[...]" if shape.rank is None else str(shape.as_list())


def _misfit(op: Any) -> str:
    import numpy as np

    import tensorflow as tf

    if op.outputs[0].dtype.name not in _WIDE or (op.outputs[0].shape.num_elements() or 0) > _MAX_ELEMENTS:
        return ""
    values = tf.make_ndarray(op.get_attr("value"))
    if not values.size:
        return ""
    limits: Any = np.finfo(np.float32) if values.dtype.kind == "f" else np.iinfo(np.int32)
    outside = values[(values > limits.max) | (values < limits.min)]
    finite = outside[np.isfinite(outside)] if outside.size else outside
    return str(finite.flat[0]) if finite.size else ""
