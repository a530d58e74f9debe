"""Makes `hvd.init()` load the HPU and form the launcher's job (see horovod_start.py in the package).

hpu_tensorflow.pth installs the hook at every start of Python, for programs that import only Horovod. Start-up must stay
cheap: this module imports only _import_hook and is outside the package.
"""

from __future__ import annotations

from habana_frameworks import _import_hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_HOROVOD = "horovod.common.basics"


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
    """Patches Horovod, now if it is imported, else after its import. Repeated calls have no effect."""
    if not is_installed():
        _import_hook.call_after_import(_HOROVOD, _extend)


def is_installed() -> bool:
    """Whether the hook is waiting for Horovod to be imported."""
    return _import_hook.is_waiting_for(_HOROVOD)
