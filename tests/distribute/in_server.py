"""Worker (one of two) that checks in-server collectives, which must not copy data to the worker."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import collective_ops, gen_collective_ops

from habana_frameworks.tensorflow import hccl, load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy, in_server
from habana_frameworks.tensorflow.monitor import server
from tests.distribute.collectives import check_strategy

GROUP = 33
COUNT = 100_003  # not divisible by the number of ranks or threads
RANK, SIZE = multinode_helpers.comm_rank(), multinode_helpers.comm_size()
FLOATS = (tf.float32, tf.float16, tf.float64)
MERGE: dict[str, np.ufunc] = {"Add": np.add, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum}

Parts = list[np.ndarray[Any, Any]]
Op = Callable[[tf.Tensor, int], tf.Tensor]


def reduce(tensor: tf.Tensor, key: int, merge: str = "Add") -> tf.Tensor:
    return collective_ops.all_reduce_v2(tensor, SIZE, GROUP, key, merge_op=merge)


def reduce_v1(tensor: tf.Tensor, key: int) -> tf.Tensor:
    return collective_ops.all_reduce(tensor, SIZE, GROUP, key, "Add", "Div")


def gather(tensor: tf.Tensor, key: int) -> tf.Tensor:
    return collective_ops.all_gather_v2(tensor, SIZE, GROUP, key)


def gather_v1(tensor: tf.Tensor, key: int) -> tf.Tensor:
    return collective_ops.all_gather(tensor, SIZE, GROUP, key)


def scatter(tensor: tf.Tensor, key: int) -> tf.Tensor:
    return gen_collective_ops.collective_reduce_scatter_v2(tensor, SIZE, GROUP, key, [], "Add", "Id")


def exchange(tensor: tf.Tensor, key: int) -> tf.Tensor:
    return collective_ops.all_to_all_v2(tensor, SIZE, GROUP, key)


def broadcast(tensor: tf.Tensor, key: int) -> tf.Tensor:
    """Broadcasts from the last rank."""
    if RANK == SIZE - 1:
        return collective_ops.broadcast_send_v2(tensor, SIZE, GROUP, key)
    return collective_ops.broadcast_recv_v2(tensor.shape, tensor.dtype, SIZE, GROUP, key)


def broadcast_v1(tensor: tf.Tensor, key: int) -> tf.Tensor:
    """Broadcasts from rank 0 (version 1 of the op)."""
    if RANK == 0:
        return collective_ops.broadcast_send(tensor, tensor.shape, tensor.dtype, SIZE, GROUP, key)
    return collective_ops.broadcast_recv(tensor.shape, tensor.dtype, SIZE, GROUP, key)


class Checks:
    """Comparison of collective ops with NumPy, each with its own instance key."""

    def __init__(self) -> None:
        self._key = 0

    def key(self) -> int:
        self._key += 1
        return self._key

    def check(self, name: str, op: Op, parts: Parts, expected: Any, in_server: bool = True) -> None:
        """Runs the op eagerly (which must copy nothing to the worker), in a graph, and in a graph on one rank only."""
        own = tf.constant(parts[RANK])
        before = bytes_to_host()
        result = op(own, self.key())
        assert not in_server or bytes_to_host() == before, f"{name} copied data to the worker"
        graph_key, mixed_key = self.key(), self.key()

        @tf.function
        def in_graph(tensor: tf.Tensor, key: int) -> tf.Tensor:
            return op(tf.reshape(tensor, own.shape), key)

        mixed = in_graph if mixed_key % SIZE == RANK else op
        for value in (result, in_graph(own, graph_key), mixed(own, mixed_key)):
            np.testing.assert_array_equal(value.numpy(), expected, err_msg=f"{name} of {own.dtype.name}")

    def reductions(self) -> None:
        for dtype in (*FLOATS, tf.bfloat16, tf.int64):
            parts = parts_of(dtype, (COUNT,))
            for merge, function in MERGE.items():
                self.check(merge, functools.partial(reduce, merge=merge), parts, function.reduce(parts))
            parts = parts_of(dtype, (2 * SIZE, 101))
            self.check("scatter", scatter, parts, np.sum(parts, axis=0)[2 * RANK : 2 * RANK + 2])
        parts = parts_of(tf.float32, (COUNT,))
        self.check("reduce_v1", reduce_v1, parts, np.sum(parts, axis=0) / SIZE)

    def moves(self) -> None:
        for dtype in (*FLOATS, tf.int64):
            parts = parts_of(dtype, (COUNT, 3))
            self.check("gather", gather, parts, np.concatenate(parts))
        parts = parts_of(tf.float32, (SIZE, COUNT))
        self.check("exchange", exchange, parts, np.stack([part[RANK] for part in parts]))
        parts = parts_of(tf.float32, (7, 11))
        self.check("gather_v1", gather_v1, parts, np.concatenate(parts))
        self.check("gather nothing", gather, [part[:0] for part in parts], np.zeros((0, 11)))

    def broadcasts(self) -> None:
        for shape, dtype in (((), tf.int64), ((COUNT,), tf.float32), ((COUNT,), tf.bool)):
            parts = parts_of(dtype, shape)
            self.check("broadcast", broadcast, parts, parts[-1], in_server=False)
            self.check("broadcast_v1", broadcast_v1, parts, parts[0], in_server=False)


def parts_of(dtype: tf.DType, shape: tuple[int, ...]) -> Parts:
    """Returns small integers by rank, which every dtype represents and adds exactly."""
    return [np.array(np.random.default_rng(rank).integers(1, 9, shape), dtype.as_numpy_dtype) for rank in range(SIZE)]


def bytes_to_host() -> int:
    """Bytes that the server has copied to this process."""
    modules = server.describe(os.environ["HPU_BACKEND"]).modules
    return sum(module.counters.bytes_to_host for module in modules if module.holder.pid == os.getpid())


def check_broadcast_of_hccl() -> None:
    """All ranks broadcast eagerly, so only the comparison of requests leaves the server."""
    communicator = hccl.init()
    own = tf.fill([COUNT], RANK + 1.0)
    for _ in range(3):  # the surrounding eager ops run on the CPU at first
        before = bytes_to_host()
        result = hccl.broadcast(own, 1, communicator)
    assert bytes_to_host() < before + COUNT
    assert set(result.numpy().tolist()) == {2.0}


def check_many_in_one_graph(first_key: int) -> None:
    """Many ops in one graph, without edges between them. The order of their names differs from their creation order."""

    @tf.function
    def step(tensor: tf.Tensor) -> list[tf.Tensor]:
        results = []
        for index in range(6):
            with tf.name_scope(f"scope_{5 - index}"):
                op = reduce if index % 2 else gather
                results.append(op(tf.fill([4], tensor * (index + 1)), first_key + index))
        return results

    for index, result in enumerate(step(tf.constant(RANK + 1.0))):
        values = [(rank + 1.0) * (index + 1) for rank in range(SIZE)]
        expected = [sum(values)] * 4 if index % 2 else np.repeat(values, 4)
        np.testing.assert_array_equal(result.numpy(), expected)


def check_errors() -> None:
    """Runs collectives with wrong arguments. The last error ends the group."""
    for op, wrong in ((exchange, tf.zeros([SIZE + 1, 2])), (scatter, tf.zeros([SIZE + 1])), (gather, tf.zeros([]))):
        try:
            op(wrong, 2000)
            raise AssertionError(f"{op} accepted shape {wrong.shape}")
        except tf.errors.InvalidArgumentError as error:
            assert f"for {SIZE} ranks" in str(error), error
    shape = [2 + RANK, 3 - RANK]  # different shapes with equal element counts on both ranks
    for op, told in ((reduce, "AllReduce(sum)"), (gather, "AllGather"), (reduce, "AllReduce(sum)")):
        try:
            op(tf.zeros(shape), 2001)
            raise AssertionError(f"{op} accepted different shapes")
        except tf.errors.InvalidArgumentError as error:
            for rank, own in enumerate(("[2,3]", "[3,2]")):
                assert f"rank {rank}: {told} of 6 elements of float32, shape {own}" in str(error), error
    try:
        exchange(tf.zeros([2, 2, 3] if RANK else [2, 6]), 2001)
        raise AssertionError("tensors of different shapes were exchanged")
    except tf.errors.InvalidArgumentError as error:
        assert "6 elements of float32, shape [2,6]" in str(error), error
    sys.stdout.write("rank 1 is named\n")
    if RANK > 0:
        try:
            collective_ops.all_gather_v2(tf.zeros([4]), SIZE, GROUP, 2002, timeout=2.0)
        except tf.errors.DeadlineExceededError as error:
            assert "timed out after 2 s waiting for other ranks" in str(error), error
            sys.stdout.write("a late rank is an error\n")
    # An int32 gather uses TensorFlow's transport: blocks until the other ranks have failed.
    collective_ops.all_gather_v2(tf.constant([RANK]), SIZE, GROUP, 2003)
    try:
        gather(tf.zeros([4]), 2004)
        raise AssertionError("the group still works after an error")
    except tf.errors.UnavailableError as error:
        assert "rank 1 is /job:worker/replica:0/task:1" in str(error), error
    assert float(tf.reduce_sum(tf.ones([4]))) == 4.0, "the device is lost"


def check_off() -> None:
    """If one worker turns in-server collectives off, no worker uses them."""
    if RANK == SIZE - 1:
        os.environ["HPU_IN_SERVER_COLLECTIVES"] = "off"
    HPUStrategy()
    assert not in_server.join(GROUP, RANK, SIZE)
    with tf.device("/device:HPU:0"):
        own = tf.fill([1 << 20], RANK + 1.0)
        before = bytes_to_host()
        reduced = reduce(own, 1000).numpy()
        assert bytes_to_host() >= before + 2 * reduced.nbytes
        assert set(reduced.tolist()) == {SIZE * (SIZE + 1) / 2}
    sys.stdout.write("exchanged by TensorFlow\n")


def check_all() -> None:
    check_strategy(HPUStrategy())
    assert in_server.join(GROUP, RANK, SIZE)
    checks = Checks()
    with tf.device("/device:HPU:0"):
        checks.reductions()
        checks.moves()
        checks.broadcasts()
        check_broadcast_of_hccl()
        check_many_in_one_graph(1000)
        sys.stdout.write("exchanged in the server\n")
        check_errors()


def main() -> None:
    load_habana_module()
    if "--off" in sys.argv:
        check_off()
    else:
        check_all()


if __name__ == "__main__":
    main()
