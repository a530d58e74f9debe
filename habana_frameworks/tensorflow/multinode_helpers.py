"""Ranks as the launcher gives them (Open MPI's variables), and what each process sets up for itself from them."""

from __future__ import annotations

import os


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    try:
        return int(text) if text else default
    except ValueError:
        raise ValueError(f"{name}={text} is not a whole number; the MPI launcher sets it") from None


def comm_size() -> int:
    """Processes of the job; 1 without a launcher."""
    return _number("OMPI_COMM_WORLD_SIZE", 1)


def comm_rank() -> int:
    """This process among those of the job, from 0."""
    return _number("OMPI_COMM_WORLD_RANK", 0)


def comm_local_size() -> int:
    """Processes of the job on this machine; 1 without a launcher."""
    return _number("OMPI_COMM_WORLD_LOCAL_SIZE", 1)


def comm_local_rank() -> int:
    """This process among those of the job on this machine, from 0."""
    return _number("OMPI_COMM_WORLD_LOCAL_RANK", 0)


def is_hierarchical() -> bool:
    """Whether Horovod reduces within machines first; only jobs over several machines can."""
    names = ("HOROVOD_HIERARCHICAL_ALLREDUCE", "HOROVOD_HCL_HIERARCHICAL_ALLREDUCE")
    asked = any(os.environ.get(name, "0") not in ("", "0") for name in names)
    return asked and comm_size() > comm_local_size()


def get_hw_module_id(rank: int, hls_type: str = "HLS1") -> int:
    """Module of the process with local rank `rank`: its entry in HABANA_VISIBLE_MODULES, else the rank itself.

    `hls_type` is accepted for compatibility: every box numbers its modules from 0.
    """
    visible = [entry.strip() for entry in os.environ.get("HABANA_VISIBLE_MODULES", "").split(",") if entry.strip()]
    if not visible:
        return rank
    if rank >= len(visible):
        raise AssertionError(
            f"HABANA_VISIBLE_MODULES={','.join(visible)} names {len(visible)} modules, and this process has local rank "
            f"{rank}: name one module for each process on this machine"
        )
    return int(visible[rank])


def _with_rank(prefix: str, rank: int) -> str:
    """Appends rank_<n>_ once: spawned children inherit the environment and set up themselves too."""
    suffix = f"rank_{rank}_"
    return prefix if prefix.endswith(suffix) else prefix + suffix


def _setup_env_for_multinode(required: bool = False) -> None:
    """Gives each process of a job its module and its own prefix for dumps and logs.

    Does nothing for a single process, unless it is `required` to be one of several. Doing it again changes nothing.
    """
    if comm_size() <= 1:
        if required:
            raise RuntimeError(
                "several processes are required; start the program with mpirun (OMPI_COMM_WORLD_SIZE is not set)"
            )
        return
    rank = comm_rank()
    if not os.environ.get("HLS_MODULE_ID"):
        # Launch scripts of old releases set the older name.
        os.environ["HLS_MODULE_ID"] = os.environ.get("HLS1_MODULE_ID") or str(get_hw_module_id(comm_local_rank()))
    os.environ.setdefault("ID", str(comm_local_rank()))
    for name in ("TF_RANK_PREFIX", "HBN_TF_GRAPH_PREFIX"):
        os.environ[name] = _with_rank(os.environ.get(name, ""), rank)
    dumps = os.environ.get("TF_DUMP_GRAPH_PREFIX")
    if dumps:
        last = f"rank_{rank}_"
        os.environ["TF_DUMP_GRAPH_PREFIX"] = dumps if dumps.endswith(last) else os.path.join(dumps, last)  # noqa: PTH118


def __getattr__(name: str) -> object:
    """The name that releases up to 0.15 used."""
    if name == "setup_env_for_multinode":
        return _setup_env_for_multinode
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
