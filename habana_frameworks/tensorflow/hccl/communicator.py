"""Communicators: joining ranks, and the exchange that all collective operations use."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import secrets
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import tensorflow as tf
from habana_frameworks.tensorflow import library_loader, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy, in_server
from habana_frameworks.tensorflow.hccl import rendezvous
from habana_frameworks.tensorflow.hccl.errors import HcclError
from tensorflow.python.eager import context as eager_context
from tensorflow.python.ops import collective_ops

UNIQUE_ID_BYTES = 16
_TIMEOUT_SECONDS = 60.0
_DEVICE = "/device:HPU:0"
# TensorFlow's strategies use group keys from 1 upwards.
_FIRST_GROUP_KEY = 1 << 30

# Counts the calls of init(), which all processes make in the same order.
_worlds = itertools.count()

_cluster_lock = threading.Lock()
_strategy: HPUStrategy | None = None  # made this process a worker; kept alive to monitor the other workers


def get_unique_id() -> bytes:
    """Returns a new communicator id.

    One rank creates the id and sends it to the other ranks out of band, for example over a socket.
    """
    return secrets.token_bytes(UNIQUE_ID_BYTES)


def init_rank(size: int, unique_id: bytes, rank: int, *, timeout: float = _TIMEOUT_SECONDS) -> Communicator:
    """Joins the communicator `unique_id` as rank `rank` of `size`, and waits for the other ranks.

    The processes belong to one job (TF_CONFIG, `hpu run`). A subset of them may form a communicator.

    timeout: seconds that this call and each operation wait for other ranks.

    Raises ValueError if rank, size or id is invalid, HcclError if ranks are missing or duplicated.
    """
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} is out of range for size {size}: expected 0 to {size - 1}")
    if len(unique_id) != UNIQUE_ID_BYTES:
        raise ValueError(f"unique_id has {len(unique_id)} bytes, not {UNIQUE_ID_BYTES}: use get_unique_id()")
    if size > multinode_helpers.comm_size():
        raise ValueError(
            f"size {size} exceeds the job's number of processes, {multinode_helpers.comm_size()}: start more processes "
            "(hpu run, mpirun or TF_CONFIG)"
        )
    _join_cluster(timeout)
    return Communicator(size, unique_id, rank, timeout)


def init(*, timeout: float = _TIMEOUT_SECONDS) -> Communicator:
    """Returns a communicator of all processes of the job, with the ranks of multinode_helpers. Waits for the others.

    Raises HcclError if ranks are missing, or if TF_CONFIG does not name the processes that the launcher started.
    """
    unique_id = b"all ranks" + next(_worlds).to_bytes(UNIQUE_ID_BYTES - 9, "big")
    return init_rank(multinode_helpers.comm_size(), unique_id, multinode_helpers.comm_rank(), timeout=timeout)


def _join_cluster(timeout: float) -> None:
    """Makes this process a TensorFlow worker. Does nothing for a worker, or in a job of one process."""
    global _strategy
    library_loader.load_habana_module()
    with _cluster_lock:
        alone = multinode_helpers.comm_size() == 1
        if alone or eager_context.context()._collective_leader or _strategy is not None:
            return
        rendezvous.join(timeout)
        strategy = HPUStrategy()
        if strategy.num_replicas_in_sync == 1:
            raise HcclError(
                f"the launcher started {multinode_helpers.comm_size()} processes, but TF_CONFIG does not name them: "
                "set TF_CONFIG in each process, or start the program with `hpu run` (docs/distributed/jobs.md)"
            )
        _strategy = strategy


@dataclasses.dataclass
class Group:
    """A TensorFlow collective group: processes that exchange data."""

    key: int
    size: int
    instances: itertools.count[int] = dataclasses.field(default_factory=lambda: itertools.count(1))


def _key_of(*parts: object) -> int:
    """Hashes the parts to a group key. All ranks compute the same key without communication."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return _FIRST_GROUP_KEY | int.from_bytes(digest[:4], "big") >> 2


class Communicator:
    """Ranks that call the same operations in the same order, one thread at a time. Created by init and init_rank.

    A communicator is unusable after an HcclError about missing or lost ranks.
    """

    def __init__(self, size: int, unique_id: bytes, rank: int, timeout: float) -> None:
        self.size = size
        self.rank = rank
        self.timeout = timeout
        self._unique_id = unique_id
        self._group = Group(_key_of(unique_id), size)
        self._pairs: dict[tuple[int, int], Group] = {}
        # Ranks in the order in which TensorFlow concatenates their parts.
        self._order = list(range(size))
        ranks = self._gather(self._group, np.array([rank], np.int64), f"init of rank {rank} of {size}")
        if sorted(ranks) != list(range(size)):
            raise HcclError(
                f"ranks {sorted(int(r) for r in ranks)} joined a communicator of {size} ranks: each rank must join once"
            )
        self._order = [int(r) for r in ranks]
        in_server.join(self._group.key, rank, size, in_calling_order=True)

    def pair(self, source: int, destination: int) -> Group:
        """Returns the group for transfers from rank `source` to rank `destination`."""
        key = (source, destination)
        return self._pairs.setdefault(key, Group(_key_of(self._unique_id, key), 2))

    def in_order_of_ranks(self, parts: list[tf.Tensor]) -> list[tf.Tensor]:
        """Sorts parts from TensorFlow's order into rank order."""
        return [part for _, part in sorted(zip(self._order, parts), key=lambda pair: pair[0])]

    def in_order_of_places(self, parts: list[tf.Tensor]) -> list[tf.Tensor]:
        """Sorts parts from rank order into TensorFlow's order."""
        return [parts[rank] for rank in self._order]

    def gather_numbers(self, numbers: list[int], what: str) -> np.ndarray[Any, Any]:
        """Gathers the numbers of all ranks; row r is from rank r."""
        rows = self._gather(self._group, np.array(numbers, np.int64), what).reshape(self.size, -1)
        return rows[np.argsort(self._order)]

    def gather_of_pair(self, group: Group, numbers: list[int], what: str) -> np.ndarray[Any, Any]:
        """Gathers the numbers of both ranks of a pair, in unspecified order."""
        return self._gather(group, np.array(numbers, np.int64), what).reshape(2, -1)

    def exchange(self, what: str, operation: Callable[..., tf.Tensor], *arguments: Any, **options: Any) -> tf.Tensor:
        """Runs a collective op with all ranks of the communicator, like exchange_in()."""
        return self.exchange_in(self._group, what, operation, *arguments, **options)

    def exchange_in(
        self, group: Group, what: str, operation: Callable[..., tf.Tensor], *arguments: Any, **options: Any
    ) -> tf.Tensor:
        """Runs a collective op in `group`. Raises HcclError if a rank is missing or lost, RuntimeError in graphs."""
        if not tf.executing_eagerly():
            raise RuntimeError(f"{what}: hccl's functions run only eagerly; inside tf.function, use tf.distribute")
        keys = {"group_size": group.size, "group_key": group.key, "instance_key": next(group.instances)}
        try:
            with tf.device(_DEVICE):
                return operation(*arguments, **keys, timeout=self.timeout, **options)
        except tf.errors.DeadlineExceededError as error:
            raise HcclError(
                f"{what}: rank {self.rank} of {self.size} waited {self.timeout:g} s for the other ranks: check that "
                "every rank makes this call and is still running, or pass a larger timeout to hccl.init()"
            ) from error
        except (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError) as error:
            raise HcclError(
                f"{what}: rank {self.rank} of {self.size} lost contact with another rank ({error.message}); restart "
                "the job"
            ) from error

    def _gather(self, group: Group, numbers: np.ndarray[Any, Any], what: str) -> np.ndarray[Any, Any]:
        if group.size == 1:
            return numbers
        gathered: np.ndarray[Any, Any] = self.exchange_in(
            group, what, collective_ops.all_gather_v2, tf.constant(numbers)
        ).numpy()
        return gathered
