"""Registry of step kinds. Each module of builders adds its kinds."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.ops.chains.program import Kind, Mode, Step

if TYPE_CHECKING:
    from tests.ops.chains.scope import Scope

Builder = Callable[[Step, "Scope"], None]

MODULES = ("arithmetic", "shapes", "sizes", "indexing", "variables", "lists", "texts", "inplace", "branches", "calls")
GRAPHS = frozenset({Mode.SESSION, Mode.SESSION_V1})

_kinds: dict[str, Kind] = {}
_builders: dict[str, Builder] = {}


def kind(
    weight: int = 1, bodies: tuple[int, int] = (0, 0), modes: frozenset[Mode] = frozenset(Mode)
) -> Callable[[Builder], Builder]:
    """Decorator that registers a builder as the kind with the function's name."""

    def enter(builder: Builder) -> Builder:
        name = builder.__name__
        _kinds[name] = Kind(name, weight, bodies, modes)
        _builders[name] = builder
        return builder

    return enter


def kinds() -> list[Kind]:
    """Returns all kinds, in the order of their modules."""
    for module in MODULES:
        importlib.import_module(f"tests.ops.chains.{module}")
    return list(_kinds.values())


def builder(name: str) -> Builder:
    return _builders[name]
