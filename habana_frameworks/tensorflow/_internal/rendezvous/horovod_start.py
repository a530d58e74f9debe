"""Extension of `hvd.init()` that loads the HPU module and forms the job that the launcher started.

_hpu_import_hook calls start() in place of HorovodBasics.init.
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

    Loads the HPU module first, unless HPU_AUTOLOAD is off. If Horovod cannot find the launcher's other processes by
    itself, runs the Gloo rendezvous. Raises errors.HabanaModuleError if the module cannot be loaded. Raises
    errors.JobError if the rendezvous fails, or if Horovod's job still has the wrong size.
    """
    if basics is not _tensorflow_basics():  # Horovod for PyTorch
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
        gloo.join(ranks)
    init(basics, *args, **kwargs)
    chosen = args[0] if args else kwargs.get("comm")
    if not chosen:
        try:
            check_size(ranks, basics.size())
        except errors.JobError:
            basics.shutdown()
            raise
    if ranks.size == 1 and basics.size() > 1:  # launchers.py does not read this MPI's variables
        os.environ.setdefault("HLS_MODULE_ID", str(module_choice.get_hw_module_id(basics.local_rank())))


def _load() -> None:
    try:
        plugin_library.load()
    except errors.HabanaModuleError as error:
        raise type(error)(f"{error} (hvd.init() loads the HPU; set HPU_AUTOLOAD=0 to disable this)") from error


def register_kernel() -> None:
    """Registers the HPU kernel of Horovod's in-place broadcast. Does nothing before Horovod's library is loaded."""
    c_api.function(plugin_library.handle(), "hpu_horovod_loaded")()


def check_if_started() -> None:
    """Checks the size of a job that hvd.init() formed before the import hook was installed."""
    basics = _tensorflow_basics()
    if basics is not None and basics.is_initialized() and not _is_elastic():
        check_size(launchers.ranks(), basics.size())


def check_size(ranks: launchers.Ranks, size: int) -> None:
    """Raises errors.JobError if Horovod's job differs in size from a launcher's job of several processes."""
    if ranks.size == size or ranks.size == 1:
        return
    raise errors.JobError(
        f"{ranks.launcher.value} started {ranks.size} processes, but Horovod's job has {size}, so the processes would "
        "train separate models. If Horovod is built with MPI, its MPI differs from the launcher's (`ldd` of "
        "horovod/tensorflow/mpi_lib*.so names it); set HOROVOD_CONTROLLER=gloo to avoid MPI. If only some processes "
        "should train together, pass their ranks: hvd.init(comm=[...])."
    )


def _is_elastic() -> bool:
    """Whether this is an elastic Horovod job, which has its own rendezvous and changes its size."""
    return os.environ.get("HOROVOD_ELASTIC", "0") not in ("", "0")


def _tensorflow_basics() -> Any:
    """Returns Horovod's HorovodBasics for TensorFlow, or None if it is not imported."""
    return getattr(sys.modules.get("horovod.tensorflow.mpi_ops"), "_basics", None)
