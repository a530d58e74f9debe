"""Send and receive between two ranks."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence

import tensorflow as tf
from habana_frameworks.tensorflow.hccl.agreement import Operation, check_rank, count_of, describe, request
from habana_frameworks.tensorflow.hccl.communicator import Communicator
from habana_frameworks.tensorflow.hccl.errors import HcclError
from habana_frameworks.tensorflow.hccl.types import carrier_dtype, carrier_length, check_dtype, from_carrier, to_carrier
from tensorflow.python.ops import collective_ops

_groups = threading.local()
# Communicator, sender, receiver.
_Key = tuple[Communicator, int, int]


class Received:
    """Result of `receive`. Inside a group the tensor is available only after the group has ended."""

    def __init__(self) -> None:
        self._tensor: tf.Tensor | None = None

    def tensor(self) -> tf.Tensor:
        """Returns the tensor. Raises RuntimeError before the end of the group, or if the group failed."""
        if self._tensor is None:
            raise RuntimeError(
                "the received tensor is not available: its group has not ended, or has failed; read it after "
                "`with hccl.group()`"
            )
        return self._tensor


@contextlib.contextmanager
def group() -> Iterator[None]:
    """Collects the sends and receives of the `with` block, then runs them concurrently, each to its end.

    Ranks that send to each other need a group: a send outside a group blocks until the peer receives the tensor. A
    group allows one transfer per sender and receiver, because the order of two transfers would be undefined. A second
    transfer raises ValueError.
    """
    if getattr(_groups, "transfers", None) is not None:
        raise RuntimeError("hccl.group() cannot be nested: end the open group first")
    transfers: dict[_Key, Callable[[], None]] = {}
    _groups.transfers = transfers
    try:
        yield
    finally:
        _groups.transfers = None
    if not transfers:
        return
    # A transfer that waits for a thread could be one that its peer waits for.
    with concurrent.futures.ThreadPoolExecutor(len(transfers)) as pool:
        ended = [pool.submit(transfer) for transfer in transfers.values()]
    for future in ended:
        future.result()


def send(tensor: tf.Tensor, peer: int, communicator: Communicator) -> None:
    """Sends a tensor to rank `peer`, which must call `receive`. Outside a group, blocks until the transfer ends."""
    tensor = tf.convert_to_tensor(tensor)
    check_dtype(tensor.dtype, "send")
    _check_peer(communicator, "send", peer)

    def transfer() -> None:
        count = count_of(tensor)
        _agree(communicator, communicator.rank, peer, request(Operation.SEND, count, tensor.dtype))
        if count > 0:
            pair = communicator.pair(communicator.rank, peer)
            carried = to_carrier(tf.reshape(tensor, [-1]))
            communicator.exchange_in(pair, "send", collective_ops.broadcast_send_v2, carried)

    _run_or_keep((communicator, communicator.rank, peer), transfer)


def receive(shape: Sequence[int], dtype: tf.DType, peer: int, communicator: Communicator) -> Received:
    """Receives a tensor of this shape and dtype from rank `peer`, which must call `send`."""
    dtype = tf.as_dtype(dtype)
    check_dtype(dtype, "receive")
    _check_peer(communicator, "receive", peer)
    received = Received()

    def transfer() -> None:
        count = tf.TensorShape(shape).num_elements()
        _agree(communicator, peer, communicator.rank, request(Operation.RECEIVE, count, dtype))
        flat = tf.zeros([0], dtype)
        if count > 0:
            pair = communicator.pair(peer, communicator.rank)
            carrier = carrier_dtype(dtype)
            length = carrier_length(dtype, count)
            carried = communicator.exchange_in(pair, "receive", collective_ops.broadcast_recv_v2, [length], carrier)
            flat = from_carrier(carried, dtype, count)
        received._tensor = tf.reshape(flat, shape)

    _run_or_keep((communicator, peer, communicator.rank), transfer)
    return received


def _run_or_keep(key: _Key, transfer: Callable[[], None]) -> None:
    """Runs the transfer now, or stores it until the end of the current group."""
    transfers = getattr(_groups, "transfers", None)
    if transfers is None:
        return transfer()
    if key in transfers:
        raise ValueError(f"the group already has a transfer from rank {key[1]} to rank {key[2]}: use two groups")
    transfers[key] = transfer


def _check_peer(communicator: Communicator, what: str, peer: int) -> None:
    check_rank(communicator, f"{what}: peer", peer)
    if peer == communicator.rank:
        raise ValueError(f"{what}: rank {peer} cannot exchange data with itself: pass another rank")


def _agree(communicator: Communicator, source: int, destination: int, own: list[int]) -> None:
    """Raises HcclError on both ranks of a transfer if their element counts or dtypes differ."""
    what = f"{describe(own)} from rank {source} to rank {destination}"
    pair = communicator.pair(source, destination)
    one, other = communicator.gather_of_pair(pair, own, what).tolist()
    if one[1:] == other[1:]:
        return
    sent, taken = sorted((one, other))
    raise HcclError(
        f"transfer mismatch: rank {source}: {describe(sent)}; rank {destination}: {describe(taken)}; "
        "pass the same element count and dtype on both ranks"
    )
