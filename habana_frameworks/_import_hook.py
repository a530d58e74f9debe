"""Import hook: calls functions after the import of a module.

Imported at every start of Python (hpu_tensorflow.pth). Start-up must stay cheap: this module imports only sys.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

# Functions to call after the import of a module that is not yet imported, by the module's name.
_waiting: dict[str, list[Callable[[ModuleType], None]]] = {}


class _Finder:
    """Meta path finder for the modules in _waiting only."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _waiting:
            return None
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


class _Loader:
    """Runs the module's own loader, then the functions that wait for the module."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        for function in _waiting.pop(module.__name__, []):
            function(module)
        if not _waiting and _Finder in sys.meta_path:
            sys.meta_path.remove(_Finder)


def call_after_import(name: str, function: Callable[[ModuleType], None]) -> None:
    """Calls `function` with the module `name`: now if the module is imported, else after its first complete import."""
    if name in sys.modules:
        function(sys.modules[name])
        return
    _waiting.setdefault(name, []).append(function)
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


def is_waiting_for(name: str) -> bool:
    """Whether functions wait for the import of the module `name`."""
    return name in _waiting
