"""Consistency check of the ranks' requests before a collective, so that mismatched calls fail instead of hanging."""

from __future__ import annotations

import enum

import numpy as np

import tensorflow as tf
from habana_frameworks.tensorflow._internal.text import number
from habana_frameworks.tensorflow.hccl.communicator import Communicator
from habana_frameworks.tensorflow.hccl.errors import HcclError
from habana_frameworks.tensorflow.hccl.types import DTYPES, ReduceOp


class Operation(enum.Enum):
    """Operations that a rank can request."""

    ALL_REDUCE = "all_reduce"
    REDUCE = "reduce"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_GATHER = "all_gather"
    BROADCAST = "broadcast"
    ALL_TO_ALL = "all_to_all"
    BARRIER = "barrier"
    SEND = "send"
    RECEIVE = "receive"


_OPERATIONS = list(Operation)
_REDUCTIONS = list(ReduceOp)
_NONE = -1


def request(
    operation: Operation, count: int, dtype: tf.DType, op: ReduceOp | None = None, root: int = _NONE
) -> list[int]:
    """Encodes a rank's request as numbers. Raises TypeError if `op` is not a ReduceOp."""
    if op is not None and not isinstance(op, ReduceOp):
        names = ", ".join(f"ReduceOp.{known.name}" for known in ReduceOp)
        raise TypeError(f"{operation.value}: op must be one of {names}, not {op!r}")
    reduction = _NONE if op is None else _REDUCTIONS.index(op)
    return [_OPERATIONS.index(operation), DTYPES.index(dtype), reduction, root, count]


def describe(numbers: list[int]) -> str:
    """Formats the numbers from `request` as text."""
    operation, dtype, reduction, root, count = numbers
    text = f"{_OPERATIONS[operation].value} of {count} elements of {DTYPES[dtype].name}"
    if reduction != _NONE:
        text += f", {_REDUCTIONS[reduction].name}"
    if root != _NONE:
        text += f", root {root}"
    return text


def agree(communicator: Communicator, own: list[int]) -> None:
    """Raises HcclError on all ranks if their requests differ. The message lists each rank's request."""
    rows = communicator.gather_numbers(own, describe(own)).tolist()
    if all(row == rows[0] for row in rows):
        return
    told = "; ".join(f"rank {rank}: {describe(row)}" for rank, row in enumerate(rows))
    raise HcclError(
        f"the {communicator.size} ranks of a communicator called different operations: {told}; call the same "
        "operations in the same order on every rank"
    )


def check_rank(communicator: Communicator, what: str, rank: int) -> None:
    """Raises ValueError unless `rank` is a rank of the communicator. `what` names the function and its argument."""
    if not 0 <= rank < communicator.size:
        raise ValueError(
            f"{what} is {rank}, but the communicator has {number(communicator.size, 'rank')}, numbered from 0"
        )


def count_of(tensor: tf.Tensor) -> int:
    """Number of elements."""
    return int(np.prod(tensor.shape, dtype=np.int64))
