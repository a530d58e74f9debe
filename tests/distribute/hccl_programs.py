"""Worker that compares hccl's functions with NumPy, and checks the errors of mismatched ranks."""

from __future__ import annotations

import functools
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import hccl, multinode_helpers

PROGRAMS = 100
OPERATIONS = 3
# The numbers are exact in every dtype, so only averages are rounded.
TOLERANCE = {tf.float16: 1e-3, tf.bfloat16: 1e-2}

Array = np.ndarray[Any, Any]
MERGE: dict[hccl.ReduceOp, Callable[[list[Array]], Array]] = {
    hccl.ReduceOp.SUM: lambda parts: functools.reduce(np.add, parts),
    hccl.ReduceOp.PRODUCT: lambda parts: functools.reduce(np.multiply, parts),
    hccl.ReduceOp.MIN: lambda parts: functools.reduce(np.minimum, parts),
    hccl.ReduceOp.MAX: lambda parts: functools.reduce(np.maximum, parts),
    hccl.ReduceOp.AVERAGE: lambda parts: np.mean([part.astype(np.float64) for part in parts], axis=0),
}


class Program:
    """Random choices from a seed, equal on all ranks, and the data of every rank."""

    def __init__(self, seed: int, communicator: hccl.Communicator) -> None:
        self.random = np.random.default_rng(seed)
        self.communicator = communicator
        self.size, self.rank = communicator.size, communicator.rank

    def data(self, dtype: tf.DType, parts: int = 1) -> list[Array]:
        """Returns one tensor per rank; signed dtypes include negative numbers."""
        shape = (parts * int(self.random.integers(0, 4)), *self.random.integers(1, 5, self.random.integers(0, 3)))
        least = 0 if dtype.is_unsigned else -4
        return [self.random.integers(least, 5, shape).astype(dtype.as_numpy_dtype) for _ in range(self.size)]

    def run(self) -> None:
        for _ in range(OPERATIONS):
            dtype = hccl.DTYPES[self.random.integers(len(hccl.DTYPES))]
            step = STEPS[self.random.integers(len(STEPS))]
            step(self, dtype)

    def check(self, result: tf.Tensor, expected: Array, dtype: tf.DType) -> None:
        assert result.dtype == dtype and result.shape == expected.shape, (result, expected)
        if not dtype.is_floating:
            expected = np.trunc(expected) if expected.dtype.kind == "f" else expected
        value = np.asarray(result).astype(np.float64)
        np.testing.assert_allclose(value, expected.astype(np.float64), rtol=TOLERANCE.get(dtype, 1e-6))

    def reduction(self) -> hccl.ReduceOp:
        return list(hccl.ReduceOp)[self.random.integers(len(hccl.ReduceOp))]

    def all_reduce(self, dtype: tf.DType) -> None:
        data, op = self.data(dtype), self.reduction()
        self.check(hccl.all_reduce(data[self.rank], op, self.communicator), MERGE[op](data), dtype)

    def reduce(self, dtype: tf.DType) -> None:
        data, op, root = self.data(dtype), self.reduction(), int(self.random.integers(self.size))
        result = hccl.reduce(data[self.rank], root, op, self.communicator)
        if self.rank == root:
            assert result is not None
            self.check(result, MERGE[op](data), dtype)
        else:
            assert result is None

    def reduce_scatter(self, dtype: tf.DType) -> None:
        data, op = self.data(dtype, self.size), self.reduction()
        expected = np.split(MERGE[op](data), self.size)[self.rank]
        self.check(hccl.reduce_scatter(data[self.rank], op, self.communicator), expected, dtype)

    def all_gather(self, dtype: tf.DType) -> None:
        data = self.data(dtype)
        self.check(hccl.all_gather(data[self.rank], self.communicator), np.concatenate(data), dtype)

    def broadcast(self, dtype: tf.DType) -> None:
        data, root = self.data(dtype), int(self.random.integers(self.size))
        self.check(hccl.broadcast(data[self.rank], root, self.communicator), data[root], dtype)

    def all_to_all(self, dtype: tf.DType) -> None:
        data = self.data(dtype, self.size)
        expected = np.concatenate([np.split(part, self.size)[self.rank] for part in data])
        self.check(hccl.all_to_all(data[self.rank], self.communicator), expected, dtype)

    def ring(self, dtype: tf.DType) -> None:
        """Each rank sends to one rank and receives from another rank."""
        data, distance = self.data(dtype), 1 + int(self.random.integers(self.size - 1))
        source, destination = (self.rank - distance) % self.size, (self.rank + distance) % self.size
        with hccl.group():
            hccl.send(data[self.rank], destination, self.communicator)
            received = hccl.receive(data[source].shape, dtype, source, self.communicator)
        self.check(received.tensor(), data[source], dtype)

    def transfer(self, dtype: tf.DType) -> None:
        data, (source, destination) = self.data(dtype), self.random.permutation(self.size)[:2]
        if self.rank == source:
            hccl.send(data[source], int(destination), self.communicator)
        if self.rank == destination:
            received = hccl.receive(data[source].shape, dtype, int(source), self.communicator)
            self.check(received.tensor(), data[source], dtype)


STEPS = (
    Program.all_reduce,
    Program.reduce,
    Program.reduce_scatter,
    Program.all_gather,
    Program.broadcast,
    Program.all_to_all,
    Program.ring,
    Program.transfer,
)


def refused(call: Callable[[], object]) -> str:
    try:
        call()
    except hccl.HcclError as error:
        return str(error)
    raise AssertionError("no call raised an error")


def check_disagreements(communicator: hccl.Communicator) -> None:
    rank = communicator.rank
    told = refused(lambda: hccl.all_reduce(tf.zeros([4 + rank]), hccl.ReduceOp.SUM, communicator))
    for other in range(communicator.size):
        assert f"rank {other}: all_reduce of {4 + other} elements of float32" in told, told
    same_count = [2, 3 * communicator.size] if rank else [3 * communicator.size, 2]
    ones = hccl.all_reduce(tf.ones(same_count), hccl.ReduceOp.SUM, communicator)
    assert ones.shape == same_count and set(ones.numpy().flat) == {float(communicator.size)}
    told = refused(lambda: hccl.broadcast(tf.zeros([2], tf.int32 if rank else tf.int8), 1, communicator))
    assert "rank 0: broadcast of 2 elements of int8, root 1; rank 1: broadcast of 2 elements of int32" in told, told
    told = refused(
        lambda: hccl.barrier(communicator) if rank else hccl.all_gather(tf.zeros([1]), communicator),
    )
    assert "rank 0: all_gather" in told and "rank 2: barrier" in told, told
    if rank == 0:
        told = refused(lambda: hccl.send(tf.zeros([3]), 1, communicator))
    elif rank == 1:
        told = refused(lambda: hccl.receive([4], tf.float32, 0, communicator))
    if rank < 2:
        sides = "rank 0: send of 3 elements of float32; rank 1: receive of 4 elements of float32"
        assert told == f"transfer mismatch: {sides}; pass the same element count and dtype on both ranks"
    hccl.barrier(communicator)


def check_part_of_the_job(communicator: hccl.Communicator) -> None:
    """A communicator of ranks 0 and 1 in reverse order, without the other ranks."""
    ids = hccl.broadcast(tf.constant(list(hccl.get_unique_id()), tf.uint8), 0, communicator)
    if communicator.rank >= 2:
        return
    pair = hccl.init_rank(2, bytes(ids.numpy().tolist()), 1 - communicator.rank)
    gathered = hccl.all_gather(tf.constant([communicator.rank]), pair)
    assert gathered.numpy().tolist() == [1, 0]


def check_another_of_all_ranks() -> None:
    """Operations of a second communicator must not match the first communicator's, which have other shapes."""
    communicator = hccl.init()
    assert hccl.all_reduce(tf.ones([77], tf.int64), hccl.ReduceOp.SUM, communicator).shape == [77]


def check_missing_rank(communicator: hccl.Communicator, directory: pathlib.Path) -> None:
    """Rank 2 keeps running until both other ranks have timed out."""
    if communicator.rank == 2:
        while len(list(directory.iterdir())) < 2:
            time.sleep(0.05)
        return
    communicator.timeout = 3.0
    told = refused(lambda: hccl.barrier(communicator))
    (directory / str(communicator.rank)).touch()
    assert "waited 3 s for the other ranks" in told or "lost contact with another rank" in told, told
    sys.stdout.write("the missing rank is an error\n")
    sys.stdout.flush()


def check_absent_rank(directory: pathlib.Path) -> None:
    """Rank 1 never joins the job, and keeps running until both other ranks have timed out."""
    rank = multinode_helpers.comm_rank()
    if rank == 1:
        while len(list(directory.glob("refused-*"))) < 2:
            time.sleep(0.05)
        return
    (directory / f"started-{rank}").touch()
    while len(list(directory.glob("started-*"))) < 2:  # makes both ranks wait at the same time
        time.sleep(0.01)
    told = refused(lambda: hccl.init(timeout=2.0))
    (directory / f"refused-{rank}").touch()
    expected = (
        ("rank 0 of the job waited 2 s", "for rank 1 to join at 127.0.0.1:")
        if rank == 0
        else (f"timed out after 2 s on rank {rank}", "for rank 0 to report that all ranks have joined")
    )
    assert all(text in told for text in expected), told
    sys.stdout.write("the absent rank is an error\n")
    sys.stdout.flush()


def main() -> None:
    if sys.argv[1:2] == ["--absent-rank"]:
        check_absent_rank(pathlib.Path(sys.argv[2]))
        return
    communicator = hccl.init()
    if sys.argv[1:2] == ["--missing-rank"]:
        check_missing_rank(communicator, pathlib.Path(sys.argv[2]))
        return
    for seed in range(PROGRAMS):
        Program(seed, communicator).run()
    sys.stdout.write(f"{PROGRAMS} programs agree\n")
    check_disagreements(communicator)
    check_part_of_the_job(communicator)
    check_another_of_all_ranks()
    sys.stdout.write("errors agree\n")


if __name__ == "__main__":
    main()
