"""Collective operations: all ranks of a communicator take part."""

from __future__ import annotations

import tensorflow as tf
from habana_frameworks.tensorflow.hccl.agreement import Operation, agree, check_rank, count_of, request
from habana_frameworks.tensorflow.hccl.communicator import Communicator
from habana_frameworks.tensorflow.hccl.types import (
    ReduceOp,
    carrier_dtype,
    carrier_length,
    check_dtype,
    from_carrier,
    from_reducible,
    to_carrier,
    to_reducible,
)
from tensorflow.python.ops import collective_ops


def all_reduce(tensor: tf.Tensor, op: ReduceOp, communicator: Communicator) -> tf.Tensor:
    """Returns the reduction of all ranks' tensors on every rank, with the shape and dtype of `tensor`."""
    tensor = _tensor(tensor, "all_reduce")
    agree(communicator, request(Operation.ALL_REDUCE, count_of(tensor), tensor.dtype, op))
    return _reduced(tensor, op, communicator, "all_reduce")


def reduce(tensor: tf.Tensor, root: int, op: ReduceOp, communicator: Communicator) -> tf.Tensor | None:
    """Returns the reduction of all ranks' tensors on rank `root`, and None on the other ranks."""
    check_rank(communicator, "reduce: root", root)
    tensor = _tensor(tensor, "reduce")
    agree(communicator, request(Operation.REDUCE, count_of(tensor), tensor.dtype, op, root))
    reduced = _reduced(tensor, op, communicator, "reduce")
    return reduced if communicator.rank == root else None


def reduce_scatter(tensor: tf.Tensor, op: ReduceOp, communicator: Communicator) -> tf.Tensor:
    """Returns this rank's part of the reduction. The first dimension is split evenly among the ranks."""
    tensor = _tensor(tensor, "reduce_scatter")
    length = _part_length(tensor, communicator, "reduce_scatter")
    agree(communicator, request(Operation.REDUCE_SCATTER, count_of(tensor), tensor.dtype, op))
    reduced = _reduced(tensor, op, communicator, "reduce_scatter")
    return reduced[communicator.rank * length : (communicator.rank + 1) * length]


def all_gather(tensor: tf.Tensor, communicator: Communicator) -> tf.Tensor:
    """Concatenates all ranks' tensors along the first dimension. A scalar counts as a vector of length 1."""
    tensor = _tensor(tensor, "all_gather")
    agree(communicator, request(Operation.ALL_GATHER, count_of(tensor), tensor.dtype))
    shape = tensor.shape if tensor.shape.rank else tf.TensorShape([1])
    result_shape = [communicator.size * shape[0], *shape[1:]]
    count = count_of(tensor)
    if communicator.size == 1 or count == 0:
        return tf.reshape(tf.identity(tensor), result_shape)
    carried = to_carrier(tf.reshape(tensor, [-1]))
    gathered = communicator.exchange("all_gather", collective_ops.all_gather_v2, carried)
    parts = communicator.in_order_of_ranks(tf.split(gathered, communicator.size))
    return tf.reshape(tf.concat([from_carrier(part, tensor.dtype, count) for part in parts], 0), result_shape)


def broadcast(tensor: tf.Tensor, root: int, communicator: Communicator) -> tf.Tensor:
    """Returns rank `root`'s tensor. On the other ranks only the shape and dtype of `tensor` matter."""
    check_rank(communicator, "broadcast: root", root)
    tensor = _tensor(tensor, "broadcast")
    count = count_of(tensor)
    agree(communicator, request(Operation.BROADCAST, count, tensor.dtype, root=root))
    if communicator.size == 1 or count == 0:
        return tf.identity(tensor)
    if communicator.rank == root:
        carried = to_carrier(tf.reshape(tensor, [-1]))
        communicator.exchange("broadcast", collective_ops.broadcast_send_v2, carried)
        return tf.identity(tensor)
    carried = communicator.exchange(
        "broadcast",
        collective_ops.broadcast_recv_v2,
        [carrier_length(tensor.dtype, count)],
        carrier_dtype(tensor.dtype),
    )
    return tf.reshape(from_carrier(carried, tensor.dtype, count), tensor.shape)


def all_to_all(tensor: tf.Tensor, communicator: Communicator) -> tf.Tensor:
    """Sends part r of `tensor` to rank r. Returns the received parts, in rank order."""
    tensor = _tensor(tensor, "all_to_all")
    length = _part_length(tensor, communicator, "all_to_all")
    agree(communicator, request(Operation.ALL_TO_ALL, count_of(tensor), tensor.dtype))
    count = count_of(tensor) // communicator.size
    if communicator.size == 1 or count == 0:
        return tf.identity(tensor)
    parts = [to_carrier(tf.reshape(part, [-1])) for part in tf.split(tensor, [length] * communicator.size)]
    outgoing = tf.stack(communicator.in_order_of_places(parts))
    incoming = communicator.exchange("all_to_all", collective_ops.all_to_all_v2, outgoing)
    came = communicator.in_order_of_ranks(tf.unstack(incoming, communicator.size))
    return tf.reshape(tf.concat([from_carrier(part, tensor.dtype, count) for part in came], 0), tensor.shape)


def barrier(communicator: Communicator) -> None:
    """Blocks until all ranks have joined the barrier."""
    agree(communicator, request(Operation.BARRIER, 0, tf.int32))


def _tensor(value: tf.Tensor, what: str) -> tf.Tensor:
    tensor = tf.convert_to_tensor(value)
    check_dtype(tensor.dtype, what)
    return tensor


def _part_length(tensor: tf.Tensor, communicator: Communicator, what: str) -> int:
    if not tensor.shape.rank:
        raise ValueError(f"{what}: rank {communicator.rank} passed a scalar: pass a tensor with at least one dimension")
    if tensor.shape[0] % communicator.size != 0:
        raise ValueError(
            f"{what}: rank {communicator.rank} passed a tensor of shape {tensor.shape}, whose first dimension is not "
            f"divisible by the communicator's {communicator.size} ranks: pad the tensor"
        )
    return int(tensor.shape[0]) // communicator.size


def _reduced(tensor: tf.Tensor, op: ReduceOp, communicator: Communicator, what: str) -> tf.Tensor:
    if count_of(tensor) == 0:
        return tf.identity(tensor)
    reducible = to_reducible(tensor, op)
    if communicator.size > 1:
        flat = tf.reshape(reducible, [-1])  # ranks agree on the number of elements, not on the shape
        flat = communicator.exchange(what, collective_ops.all_reduce_v2, flat, merge_op=op.merge_op)
        reducible = tf.reshape(flat, tensor.shape)
    return from_reducible(reducible, tensor.dtype, op, communicator.size)
