"""One generated call: a function of arrays and variables that runs an op."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tests.ops.sweep.records import Array


@dataclasses.dataclass(frozen=True)
class Program:
    """A generated call of an op.

    `function` receives the handles of `variables` and `arrays` as tensors, and returns the op's results.
    """

    op: str
    function: Callable[..., Any]
    arrays: tuple[Array, ...]
    variables: tuple[Array, ...] = ()
    # Indices of the arrays that are constants in graphs.
    constants: frozenset[int] = frozenset()
    # Names of the arguments in reports.
    names: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def describe(self) -> str:
        """Describes the arguments for a report."""
        names = self.names or tuple(f"argument {i}" for i in range(len(self.arrays)))
        parts = [f"{name}={_brief(array)}" for name, array in zip(names, self.arrays)]
        parts += [f"variable {i}={_brief(array)}" for i, array in enumerate(self.variables)]
        parts += [f"{name}={value!r}" for name, value in self.attributes.items()]
        return ", ".join(parts)


def _brief(array: Array) -> str:
    shape = "x".join(map(str, array.shape)) or "scalar"
    values = f" {array.ravel().tolist()}" if array.size <= 12 else ""
    return f"{array.dtype}[{shape}]{values}"
