"""Hand-written makers of calls, for ops whose arguments cannot be derived from OpDef and shape inference."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable

import numpy as np

from tests.ops.sweep.program import Program

Maker = Callable[[np.random.Generator], Program]

_MAKERS: dict[str, Maker] = {}


def maker(*ops: str) -> Callable[[Maker], Maker]:
    """Decorator that registers a maker for ops."""

    def register(function: Maker) -> Maker:
        _MAKERS.update(dict.fromkeys(ops, function))
        return function

    return register


@functools.cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)


def find(op: str) -> Maker | None:
    _load()
    return _MAKERS.get(op)
