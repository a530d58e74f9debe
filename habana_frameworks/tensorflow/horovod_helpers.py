"""Horovod as programs for Gaudi's releases up to 1.4 use it; without hvd_init() they run as a job of one rank.

Nothing here imports Horovod or TensorFlow before hvd_init().
"""

from __future__ import annotations

import enum
import importlib
import types
from typing import Any

from habana_frameworks.tensorflow import errors, library_loader, multinode_helpers


class Framework(enum.Enum):
    """Which of Horovod's interfaces `hvd` is."""

    TENSORFLOW = "horovod.tensorflow"
    KERAS = "horovod.tensorflow.keras"


class _LazyHorovod:
    """`hvd`: Horovod's module, there once hvd_init() was called."""

    def __init__(self) -> None:
        self._module: types.ModuleType | None = None

    def is_initialized(self) -> bool:
        return self._module is not None and bool(self._module.is_initialized())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        assert self._module is not None, f"looking for hvd.{name}, but hvd_init() has not been called"
        return getattr(self._module, name)

    def __dir__(self) -> list[str]:
        return ["is_initialized", *(dir(self._module) if self._module else ())]


hvd = _LazyHorovod()


def hvd_init(framework: Framework = Framework.TENSORFLOW) -> None:
    """Loads the HPU module and starts Horovod; `hvd` is its module from then on. Once is enough.

    Raises ImportError without Horovod, errors.HabanaModuleError if the HPU cannot be loaded, and errors.JobError if
    Horovod's ranks are not the launcher's.
    """
    library_loader.load_habana_module()
    try:
        module = importlib.import_module(framework.value)
    except ImportError as error:
        raise ImportError(
            f"{error}: install Horovod (in a source tree: make horovod; docs/distributed/horovod.md)"
        ) from error
    if not module.is_initialized():
        module.init()
    if multinode_helpers.comm_size() > 1 and multinode_helpers.comm_rank() != module.rank():
        raise errors.JobError(
            f"the launcher says that this is rank {multinode_helpers.comm_rank()}, Horovod that it is {module.rank()}"
        )
    hvd._module = module


def hvd_size() -> int:
    """Ranks of the job."""
    return int(hvd.size()) if hvd.is_initialized() else 1


def hvd_rank() -> int:
    """This rank, from 0."""
    return int(hvd.rank()) if hvd.is_initialized() else 0


def hvd_local_size() -> int:
    """Ranks of the job on this machine."""
    return int(hvd.local_size()) if hvd.is_initialized() else 1


def horovod_enabled() -> bool:
    """Whether there are other ranks to train with."""
    return hvd_size() > 1


def hvd_rank_prefix() -> str:
    """rank_<n>_ for names of files that each rank has of its own; empty for a job of one rank."""
    return f"rank_{hvd_rank()}_" if horovod_enabled() else ""
