"""Import hook that makes `hvd.init()` load the HPU and form the launcher's job (see horovod_start.py in the package).

hpu_tensorflow.pth installs the hook at every start of Python, for programs that import only Horovod. Start-up must stay
cheap: this module imports only sys and is outside the package.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_TARGET = "horovod.common.basics"


class _Finder:
    """Meta path finder for _TARGET only. Removes itself after the first match."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _TARGET:
            return None
        from importlib.machinery import PathFinder

        sys.meta_path.remove(cls)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


class _Loader:
    """Runs the module's own loader, then patches the module."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _extend(module)


def _extend(module: ModuleType) -> None:
    """Wraps HorovodBasics.init in horovod_start.start. Repeated calls have no effect."""
    import functools

    init = module.HorovodBasics.init
    if hasattr(init, "__wrapped__"):
        return

    @functools.wraps(init)
    def start(basics: Any, *args: Any, **kwargs: Any) -> None:
        from habana_frameworks.tensorflow._internal.rendezvous import horovod_start

        horovod_start.start(basics, init, *args, **kwargs)

    module.HorovodBasics.init = start  # type: ignore[attr-defined]


def install() -> None:
    """Installs the hook, or patches Horovod directly if it is already imported. Repeated calls have no effect."""
    if _TARGET in sys.modules:
        _extend(sys.modules[_TARGET])
    elif not is_installed():
        sys.meta_path.insert(0, _Finder)


def is_installed() -> bool:
    """Whether the hook is waiting for Horovod to be imported."""
    return _Finder in sys.meta_path
