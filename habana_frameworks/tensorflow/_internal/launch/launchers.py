"""Ranks from the environment variables of launchers: Open MPI, Horovod, Slurm, TF_CONFIG."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import re
from collections.abc import Callable


class Launcher(enum.Enum):
    """Source of the ranks."""

    NONE = "no launcher"
    OPEN_MPI = "Open MPI"
    HOROVOD = "horovodrun"
    SLURM = "srun"
    TF_CONFIG = "TF_CONFIG"


@dataclasses.dataclass(frozen=True)
class Ranks:
    """Size of the job and rank of this process, in the whole job and on this machine. Ranks count from 0."""

    launcher: Launcher = Launcher.NONE
    size: int = 1
    rank: int = 0
    local_size: int = 1
    local_rank: int = 0


def ranks() -> Ranks:
    """Returns the ranks of the first launcher with several processes, or else of the first launcher that sets any rank.

    Raises ValueError if a launcher's variable is malformed.
    """
    found = [ranks for read in _READERS if (ranks := read()) is not None]
    several = [ranks for ranks in found if ranks.size > 1]
    return (several or found or [Ranks()])[0]


def _number(name: str, launcher: Launcher, default: int) -> int:
    text = os.environ.get(name, "")
    try:
        return int(text) if text else default
    except ValueError:
        raise ValueError(f"{name}={text}, set by {launcher.value}, is not a whole number: unset {name}") from None


_RANK_VARIABLES = {"SIZE": 1, "RANK": 0, "LOCAL_SIZE": 1, "LOCAL_RANK": 0}


def _by_variables(launcher: Launcher, prefix: str) -> Callable[[], Ranks | None]:
    """Returns a function that reads <prefix>SIZE, …RANK, …LOCAL_SIZE and …LOCAL_RANK; None if all are unset."""

    def read() -> Ranks | None:
        if not any(os.environ.get(prefix + name) for name in _RANK_VARIABLES):
            return None
        return Ranks(launcher, *(_number(prefix + name, launcher, value) for name, value in _RANK_VARIABLES.items()))

    return read


def _by_slurm() -> Ranks | None:
    """Ranks in the current Slurm step. Ignores the allocation's SLURM_NTASKS, which is also set without srun."""
    if not os.environ.get("SLURM_STEP_NUM_TASKS"):
        return None
    slurm = Launcher.SLURM
    counts = _tasks_per_node(os.environ.get("SLURM_STEP_TASKS_PER_NODE", "1"))
    node = _number("SLURM_NODEID", slurm, 0)
    return Ranks(
        slurm,
        _number("SLURM_STEP_NUM_TASKS", slurm, 1),
        _number("SLURM_PROCID", slurm, 0),
        counts[node] if node < len(counts) else 1,
        _number("SLURM_LOCALID", slurm, 0),
    )


def _tasks_per_node(text: str) -> list[int]:
    """Expands Slurm's list format: "4(x3),2" is 4,4,4,2."""
    counts = []
    for entry in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", entry.strip())
        if match is None:
            raise ValueError(f"SLURM_STEP_TASKS_PER_NODE={text} is not in srun's list format, such as 4(x3),2")
        counts += [int(match[1])] * int(match[2] or 1)
    return counts


# Variables in which Open MPI, Horovod and Slurm pass the ranks.
VARIABLES = (
    *(f"{prefix}{name}" for prefix in ("OMPI_COMM_WORLD_", "HOROVOD_") for name in _RANK_VARIABLES),
    *("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_STEP_TASKS_PER_NODE"),
)

# Variable of `hpu run` with the number of restarts so far, like torchrun's TORCHELASTIC_RESTART_COUNT.
RESTART_COUNT = "HPU_RESTART_COUNT"
# Job types whose tasks train. Evaluators and parameter servers have no rank.
_TRAINING_JOBS = ("chief", "master", "worker")


def by_tf_config() -> Ranks | None:
    """Ranks among the training tasks of TF_CONFIG; None if TF_CONFIG is unset or this task does not train."""
    text = os.environ.get("TF_CONFIG", "")
    if not text:
        return None
    try:
        config = json.loads(text)
        cluster = config.get("cluster", {})
        task = config.get("task", {})
        tasks = [(job, i) for job in _TRAINING_JOBS for i in range(len(cluster.get(job, ())))]
        hosts = [str(cluster[job][i]).rpartition(":")[0] for job, i in tasks]
        own = (task.get("type"), int(task.get("index", 0)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"TF_CONFIG={text} is invalid ({error}); expected TensorFlow's documented format, such as "
            '{"cluster": {"worker": ["host:port", …]}, "task": {"type": "worker", "index": 0}}'
        ) from None
    if own not in tasks:
        return None
    rank = tasks.index(own)
    return Ranks(Launcher.TF_CONFIG, len(tasks), rank, hosts.count(hosts[rank]), hosts[:rank].count(hosts[rank]))


def first_task() -> str:
    """Address of rank 0 in TF_CONFIG. Call only if by_tf_config() returns ranks."""
    cluster = json.loads(os.environ["TF_CONFIG"])["cluster"]
    return str(next(cluster[job][0] for job in _TRAINING_JOBS if cluster.get(job)))


_READERS: tuple[Callable[[], Ranks | None], ...] = (
    _by_variables(Launcher.OPEN_MPI, "OMPI_COMM_WORLD_"),
    _by_variables(Launcher.HOROVOD, "HOROVOD_"),
    _by_slurm,
    by_tf_config,
)
