"""Horovod helpers of Gaudi's releases up to 1.4. Before hvd_init() the helpers report a job of one rank.

This module imports neither Horovod nor TensorFlow before hvd_init().
"""

from __future__ import annotations

import enum
import importlib
import types
from typing import Any

from habana_frameworks.tensorflow import errors, lib_utils, library_loader, multinode_helpers


class Framework(enum.Enum):
    """The Horovod module that `hvd` forwards to."""

    TENSORFLOW = "horovod.tensorflow"
    KERAS = "horovod.tensorflow.keras"


class _LazyHorovod:
    """Type of `hvd`: forwards attributes to Horovod's module once hvd_init() has been called."""

    def __init__(self) -> None:
        self._module: types.ModuleType | None = None

    def is_initialized(self) -> bool:
        return self._module is not None and bool(self._module.is_initialized())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        assert self._module is not None, f"looking for hvd.{name}, but hvd_init() has not been called: call it first"
        return getattr(self._module, name)

    def __dir__(self) -> list[str]:
        return ["is_initialized", *(dir(self._module) if self._module else ())]


hvd = _LazyHorovod()


def hvd_init(framework: Framework = Framework.TENSORFLOW) -> None:
    """Loads the HPU module and initialises Horovod. From then on `hvd` forwards to Horovod's module.

    Raises ImportError without Horovod, errors.HabanaModuleError if the HPU cannot be loaded, and errors.JobError if
    Horovod and the launcher disagree about the rank.
    """
    library_loader.load_habana_module()
    try:
        module = importlib.import_module(framework.value)
    except ImportError as error:
        raise ImportError(f"{error}: install Horovod ({lib_utils.horovod_command()})") from error
    if not module.is_initialized():
        module.init()
    if multinode_helpers.comm_size() > 1 and multinode_helpers.comm_rank() != module.rank():
        raise errors.JobError(
            f"this process is rank {multinode_helpers.comm_rank()} for the launcher, but rank {module.rank()} for "
            "Horovod: start all processes with one launcher"
        )
    hvd._module = module


def hvd_size() -> int:
    """Number of ranks in the job."""
    return int(hvd.size()) if hvd.is_initialized() else 1


def hvd_rank() -> int:
    """This rank, from 0."""
    return int(hvd.rank()) if hvd.is_initialized() else 0


def hvd_local_size() -> int:
    """Number of ranks on this machine."""
    return int(hvd.local_size()) if hvd.is_initialized() else 1


def horovod_enabled() -> bool:
    """Whether the job has more than one rank."""
    return hvd_size() > 1


def hvd_rank_prefix() -> str:
    """Prefix "rank_<n>_" for per-rank file names; empty in a job of one rank."""
    return f"rank_{hvd_rank()}_" if horovod_enabled() else ""
