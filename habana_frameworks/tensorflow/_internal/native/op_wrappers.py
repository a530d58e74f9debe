"""`habana_ops`: Python wrappers of the plugin's ops."""

from __future__ import annotations

import types
from typing import Any


class _LazyOps:
    """Type of `habana_ops`: forwards to the wrappers once the HPU module is loaded."""

    def __init__(self) -> None:
        self._module: types.ModuleType | None = None

    @property
    def ops(self) -> types.ModuleType:
        """The module with the wrappers."""
        return self._loaded("ops")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = self._loaded(name)
        try:
            return getattr(module, name)
        except AttributeError:
            raise AttributeError(f"habana_ops has no op {name}; dir(habana_ops) lists its ops") from None

    def _loaded(self, name: str) -> types.ModuleType:
        # The text before the colon is Gaudi's.
        assert self._module is not None, (
            f"looking for {name}, but habana module seems not to be loaded yet: call load_habana_module() first"
        )
        return self._module

    def __dir__(self) -> list[str]:
        return ["ops", *(dir(self._module) if self._module else ())]


habana_ops = _LazyOps()


def provide(module: types.ModuleType) -> None:
    """Sets the module whose wrappers `habana_ops` exposes. TensorFlow generates the module."""
    habana_ops._module = module
