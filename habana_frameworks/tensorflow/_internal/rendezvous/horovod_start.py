"""What happens around `hvd.init()`: it brings up the HPU, and forms the job that the launcher started.

_hpu_import_hook calls start() in its place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from habana_frameworks.tensorflow import errors, flags
from habana_frameworks.tensorflow._internal.launch import launchers, module_choice
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow._internal.rendezvous import gloo


def start(basics: Any, init: Callable[..., None], *args: Any, **kwargs: Any) -> None:
    """Calls `init(basics, ...)`: HorovodBasics.init with the arguments of hvd.init().

    Loads the HPU module first, unless HPU_AUTOLOAD is off. Where Horovod would not find the launcher's other processes
    by itself, tells it where they meet. Raises errors.JobError if they do not meet, or Horovod does not find them
    nevertheless.
    """
    if basics is not _tensorflow_basics():  # PyTorch's
        init(basics, *args, **kwargs)
        return
    if flags.autoload():
        _load()
    if plugin_library.is_loaded():
        register_kernel()
    if _is_elastic():
        init(basics, *args, **kwargs)
        return
    ranks = launchers.ranks()
    if gloo.is_needed(ranks, bool(basics.mpi_built())):
        gloo.meet(ranks)
    init(basics, *args, **kwargs)
    chosen = args[0] if args else kwargs.get("comm")
    if not chosen:
        try:
            check_size(ranks, basics.size())
        except errors.JobError:
            basics.shutdown()
            raise
    if ranks.size == 1 and basics.size() > 1:  # an MPI that we know no variables of
        os.environ.setdefault("HLS_MODULE_ID", str(module_choice.get_hw_module_id(basics.local_rank())))


def _load() -> None:
    try:
        plugin_library.load()
    except errors.HabanaModuleError as error:
        raise type(error)(f"{error} (hvd.init() loads the HPU's module; HPU_AUTOLOAD=0 goes without.)") from error


def register_kernel() -> None:
    """The HPU's, for an op that there is only once Horovod was imported. Does nothing before."""
    register = c_api.function(plugin_library.handle(), "hpu_horovod_loaded")
    register.restype = None
    register()


def check_if_started() -> None:
    """The check of start(), for a job that was formed before the hook was there."""
    basics = _tensorflow_basics()
    if basics is not None and basics.is_initialized() and not _is_elastic():
        check_size(launchers.ranks(), basics.size())


def check_size(ranks: launchers.Ranks, size: int) -> None:
    """Raises errors.JobError if Horovod's job has not the size of the launcher's."""
    if ranks.size == size or ranks.size == 1:
        return
    raise errors.JobError(
        f"{ranks.launcher.value} started {ranks.size} processes, and Horovod's job has {size}: each would train a "
        "model of its own. If Horovod is built with MPI, it is not the launcher's MPI (`ldd` of "
        "horovod/tensorflow/mpi_lib*.so names it): HOROVOD_CONTROLLER=gloo does without. If only some of the processes "
        "are meant to call hvd.init(), give it their ranks: hvd.init(comm=[...])."
    )


def _is_elastic() -> bool:
    """Elastic Horovod's jobs have a rendezvous of their own, and change their size."""
    return os.environ.get("HOROVOD_ELASTIC", "0") not in ("", "0")


def _tensorflow_basics() -> Any:
    """Horovod's interface for TensorFlow; None if it is not imported."""
    return getattr(sys.modules.get("horovod.tensorflow.mpi_ops"), "_basics", None)
