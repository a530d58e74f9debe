"""Source lines of graph ops: the line of the program that created each op of a tf.function."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from habana_frameworks.tensorflow._internal.program_files import is_of_program


class SourceLines:
    """Keeps the stack traces of the ops of all functions that TensorFlow traces from start() to stop().

    The source is TensorFlow's GraphDebugInfo, which TensorFlow drops together with the function. Graphs of Sessions
    have no stack traces. Not thread safe, except that functions may be traced on any thread.
    """

    def __init__(self, on_traced: Callable[[Any, Any], None] | None = None) -> None:
        """on_traced: called with the FunctionDef and the FuncGraph of each traced function."""
        self._on_traced = on_traced
        self._functions: dict[str, dict[str, str]] = {}
        self._original: Any = None

    def start(self) -> None:
        """Starts keeping stack traces, by a wrapper of TensorFlow's constructor of functions."""
        from tensorflow.python.eager.polymorphic_function import atomic_function

        self._original = atomic_function.from_func_graph

        @functools.wraps(self._original)
        def from_func_graph(*args: Any, **kwargs: Any) -> Any:
            function = self._original(*args, **kwargs)
            definition = function.cached_definition
            self._functions[definition.signature.name] = dict(_lines(function.graph_debug_info))
            if self._on_traced is not None:
                self._on_traced(definition, function.graph)
            return function

        atomic_function.from_func_graph = from_func_graph

    def stop(self) -> None:
        """Stops keeping stack traces; find() stays valid."""
        from tensorflow.python.eager.polymorphic_function import atomic_function

        atomic_function.from_func_graph = self._original

    def find(self, function: str, op: str) -> str | None:
        """Returns "file:line" of an op; None if unknown.

        Inlining prefixes an op's name with the name of the call, so the lookup also tries the name without prefixes. If
        the op's own function is unknown, returns the line of the call.
        """
        own = self._functions.get(function, {})
        if op in own:
            return own[op]
        parts = op.split("/")
        inner = ("/".join(parts[start:]) for start in range(1, len(parts)))
        calls = ("/".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
        return next(filter(None, map(self._only_line, inner)), None) or next(filter(None, map(own.get, calls)), None)

    def find_in_any(self, op: str) -> str | None:
        """Returns "file:line" of an op of an unknown function; None if unknown or if several functions have the op."""
        parts = op.split("/")
        inner = ("/".join(parts[start:]) for start in range(len(parts)))
        calls = ("/".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
        return next(filter(None, map(self._only_line, (*inner, *calls))), None)

    def _only_line(self, op: str) -> str | None:
        lines = {lines[op] for lines in list(self._functions.values()) if op in lines}
        return lines.pop() if len(lines) == 1 else None


def _lines(debug_info: Any) -> Iterator[tuple[str, str]]:
    """Yields the name and the source line of each op in a GraphDebugInfo."""
    files = list(debug_info.files)
    of_trace: dict[int, str | None] = {}
    for name, trace in debug_info.name_to_trace_id.items():
        if trace not in of_trace:
            frames = [debug_info.frames_by_id[frame] for frame in debug_info.traces_by_id[trace].frame_id]
            of_trace[trace] = _innermost([(files[frame.file_index], frame.line) for frame in frames])
        line = of_trace[trace]
        if line is not None:
            yield name, line


def _innermost(frames: list[tuple[str, int]]) -> str | None:
    """Returns the innermost frame of the program itself; `frames` begin with the outermost."""
    return next((f"{file}:{line}" for file, line in reversed(frames) if is_of_program(file)), None)
