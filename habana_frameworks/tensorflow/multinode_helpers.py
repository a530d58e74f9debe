"""Ranks from the launcher's environment, and the per-process set-up derived from them."""

from __future__ import annotations

import os

from habana_frameworks.tensorflow._internal.launch import launchers
from habana_frameworks.tensorflow._internal.launch.module_choice import get_hw_module_id, visible_modules

__all__ = [
    "comm_local_rank",
    "comm_local_size",
    "comm_rank",
    "comm_size",
    "get_hw_module_id",
    "is_hierarchical",
]


def comm_size() -> int:
    """Number of processes in the job; 1 without a launcher."""
    return launchers.ranks().size


def comm_rank() -> int:
    """Rank of this process in the job, from 0."""
    return launchers.ranks().rank


def comm_local_size() -> int:
    """Number of the job's processes on this machine; 1 without a launcher."""
    return launchers.ranks().local_size


def comm_local_rank() -> int:
    """Rank of this process among the job's processes on this machine, from 0."""
    return launchers.ranks().local_rank


def is_hierarchical() -> bool:
    """Whether Horovod reduces within each machine first. Always False for a job on one machine."""
    names = ("HOROVOD_HIERARCHICAL_ALLREDUCE", "HOROVOD_HCL_HIERARCHICAL_ALLREDUCE")
    asked = any(os.environ.get(name, "0") not in ("", "0") for name in names)
    return asked and comm_size() > comm_local_size()


def _with_rank(prefix: str, rank: int) -> str:
    """Appends rank_<n>_ unless present: spawned children inherit the environment and run the set-up again."""
    suffix = f"rank_{rank}_"
    return prefix if prefix.endswith(suffix) else prefix + suffix


def _setup_env_for_multinode(required: bool = False) -> None:
    """Sets the variables for the module and for the dumps' rank prefix in this process of a job. Idempotent.

    Does nothing for a single process. Raises RuntimeError instead if `required`.
    """
    ranks = launchers.ranks()
    if ranks.size <= 1:
        if required:
            raise RuntimeError(
                "this program requires several processes, but neither a launcher's variables nor TF_CONFIG name more "
                "than one: start it with mpirun or `hpu run`"
            )
        return
    _choose_module(ranks)
    os.environ.setdefault("ID", str(ranks.local_rank))
    for name in ("TF_RANK_PREFIX", "HBN_TF_GRAPH_PREFIX"):
        os.environ[name] = _with_rank(os.environ.get(name, ""), ranks.rank)
    dumps = os.environ.get("TF_DUMP_GRAPH_PREFIX")
    if dumps:
        last = f"rank_{ranks.rank}_"
        os.environ["TF_DUMP_GRAPH_PREFIX"] = dumps if dumps.endswith(last) else os.path.join(dumps, last)  # noqa: PTH118


def _choose_module(ranks: launchers.Ranks) -> None:
    """Sets HLS_MODULE_ID if it is unset, unless the ranks come from TF_CONFIG and no modules are selected.

    TF_CONFIG does not describe other jobs on the machine, so the process then acquires any free module.
    """
    if os.environ.get("HLS_MODULE_ID"):
        return
    older = os.environ.get("HLS1_MODULE_ID")  # set by launch scripts for old releases
    if older:
        os.environ["HLS_MODULE_ID"] = older
    elif visible_modules() or ranks.launcher is not launchers.Launcher.TF_CONFIG:
        os.environ["HLS_MODULE_ID"] = str(get_hw_module_id(ranks.local_rank))


def __getattr__(name: str) -> object:
    """Provides `setup_env_for_multinode`, the name in releases up to 0.15."""
    if name == "setup_env_for_multinode":
        return _setup_env_for_multinode
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
