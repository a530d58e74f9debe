"""A worker of the tests' jobs: reductions among modules of one device server, which copy nothing to the workers."""

from __future__ import annotations

import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import collective_ops

from habana_frameworks.tensorflow import load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy, fabric
from habana_frameworks.tensorflow.monitor import server

GROUP = 33
COUNT = 100_003
RANK, SIZE = multinode_helpers.comm_rank(), multinode_helpers.comm_size()
MERGE: dict[str, np.ufunc] = {"Add": np.add, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum}


def reduce(tensor: tf.Tensor, key: int, merge: str = "Add") -> tf.Tensor:
    return collective_ops.all_reduce_v2(tensor, SIZE, GROUP, key, merge_op=merge)


def check(key: int, dtype: tf.DType, merge: str) -> int:
    """The op by itself, and in a graph, where it is started ahead; the next key."""
    parts = [np.random.default_rng(rank).integers(1, 9, COUNT).astype(dtype.as_numpy_dtype) for rank in range(SIZE)]
    expected = MERGE[merge].reduce(parts)
    own = tf.constant(parts[RANK])
    np.testing.assert_array_equal(reduce(own, key, merge).numpy(), expected)
    step = tf.function(lambda tensor: reduce(tensor * 1, key + 1, merge) + 0)
    np.testing.assert_array_equal(step(own).numpy(), expected)
    return key + 2


def check_copies_in_flight(key: int) -> None:
    """What is reduced as soon as it is made has arrived."""
    for value in range(4):
        own = tf.constant(np.full(1 << 22, value + RANK, np.float32))
        reduced = reduce(own, key + value)
        assert set(reduced.numpy().tolist()) == {SIZE * value + SIZE * (SIZE - 1) / 2}


def bytes_to_host() -> int:
    """That the server has given to this process."""
    modules = server.describe(os.environ["HPU_BACKEND"]).modules
    return sum(module.counters.bytes_to_host for module in modules if module.holder.pid == os.getpid())


def main() -> None:
    load_habana_module()
    HPUStrategy()
    assert fabric.join(GROUP, RANK, SIZE)
    key = 1
    with tf.device("/device:HPU:0"):
        big = tf.fill([1 << 20], RANK + 1.0)
        before = bytes_to_host()
        reduced = reduce(big, 1000)
        assert bytes_to_host() == before, "the data went through the worker"
        assert set(reduced.numpy().tolist()) == {SIZE * (SIZE + 1) / 2}
        check_copies_in_flight(3000)
        for dtype in (tf.float32, tf.bfloat16, tf.float16, tf.float64, tf.int64):
            for merge in MERGE:
                key = check(key, dtype, merge)
        sys.stdout.write("reduced in the server\n")
        try:
            reduce(tf.zeros([4 + RANK]), 2000)
        except tf.errors.InvalidArgumentError as error:
            assert "rank 1: AllReduce of 5 elements of float32" in str(error), error
            sys.stdout.write("rank 1 is named\n")


if __name__ == "__main__":
    main()
