"""Worker that compares TensorFlow's collective ops on the HPU with NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import collective_ops

from habana_frameworks.tensorflow import load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy

GROUP = 77
RANK = multinode_helpers.comm_rank()
SIZE = multinode_helpers.comm_size()
DTYPES = (tf.float32, tf.bfloat16, tf.float16, tf.int32, tf.int64)


def values(rank: int, dtype: tf.DType, shape: tuple[int, ...] = (5, 3)) -> np.ndarray[Any, Any]:
    """Small integers, which every dtype represents and adds exactly."""
    return np.random.default_rng(rank).integers(0, 9, shape).astype(dtype.as_numpy_dtype)


class Keys:
    """Generator of instance keys. All workers issue the same operations, so their keys are equal."""

    def __init__(self) -> None:
        self._last = 1000

    def next(self) -> int:
        self._last += 1
        return self._last


KEYS = Keys()


def check(name: str, call: Callable[[tf.Tensor, int], tf.Tensor], dtype: tf.DType, expected: Any) -> None:
    """Runs the op eagerly and in a graph. Placement chooses the device of 64-bit types."""
    own = tf.constant(values(RANK, dtype))
    for function in (call, tf.function(call)):
        result = function(own, KEYS.next())
        assert result.dtype == dtype, (name, result.dtype)
        np.testing.assert_array_equal(result.numpy(), np.asarray(expected), err_msg=f"{name} of {dtype.name}")


def check_all(dtype: tf.DType) -> None:
    everyone = [values(rank, dtype) for rank in range(SIZE)]
    total = np.sum([value.astype(np.float64) for value in everyone], axis=0).astype(dtype.as_numpy_dtype)

    def broadcast(own: tf.Tensor, key: int) -> tf.Tensor:
        if RANK == 0:
            return collective_ops.broadcast_send(own, own.shape, own.dtype, SIZE, GROUP, key)
        return collective_ops.broadcast_recv(own.shape, own.dtype, SIZE, GROUP, key)

    def broadcast_v2(own: tf.Tensor, key: int) -> tf.Tensor:
        if RANK == SIZE - 1:
            return collective_ops.broadcast_send_v2(own, SIZE, GROUP, key)
        return collective_ops.broadcast_recv_v2(own.shape, own.dtype, SIZE, GROUP, key)

    if dtype != tf.bfloat16:  # these ops do not support bfloat16
        gathered = np.concatenate(everyone)
        check("broadcast", broadcast, dtype, everyone[0])
        check("broadcast_v2", broadcast_v2, dtype, everyone[-1])
        check("all_gather", lambda own, key: collective_ops.all_gather(own, SIZE, GROUP, key), dtype, gathered)
        check("all_gather_v2", lambda own, key: collective_ops.all_gather_v2(own, SIZE, GROUP, key), dtype, gathered)
    check("all_reduce", lambda own, key: collective_ops.all_reduce(own, SIZE, GROUP, key, "Add", "Id"), dtype, total)
    check("all_reduce_v2", lambda own, key: collective_ops.all_reduce_v2(own, SIZE, GROUP, key), dtype, total)
    for merge, reduce in (("Max", np.maximum.reduce), ("Min", np.minimum.reduce), ("Mul", np.multiply.reduce)):

        def all_reduce(own: tf.Tensor, key: int, merge: str = merge) -> tf.Tensor:
            return collective_ops.all_reduce_v2(own, SIZE, GROUP, key, merge_op=merge)

        check(f"all_reduce_v2 {merge}", all_reduce, dtype, reduce(everyone))


def check_strategy(strategy: tf.distribute.Strategy) -> None:
    own = tf.constant([RANK + 1.0, 2.0])
    total = SIZE * (SIZE + 1) / 2
    assert strategy.reduce("SUM", own, axis=None).numpy().tolist() == [total, 2.0 * SIZE]
    assert strategy.reduce("MEAN", own, axis=0).numpy() == (total + 2.0 * SIZE) / (2 * SIZE)

    @tf.function
    def gather() -> tf.Tensor:
        return strategy.run(lambda: tf.distribute.get_replica_context().all_gather(own, axis=0))

    assert gather().numpy().tolist() == [x for rank in range(SIZE) for x in (rank + 1.0, 2.0)]
    check_loop(strategy, own)


def check_loop(strategy: tf.distribute.Strategy, own: tf.Tensor) -> None:
    """Runs two operations per iteration of a loop whose trip count is known only at run time."""

    @tf.function
    def passes(count: tf.Tensor) -> tf.Tensor:
        value = tf.zeros([2])
        for _ in tf.range(count):

            def replica(value: tf.Tensor = value) -> tuple[tf.Tensor, tf.Tensor]:
                context = tf.distribute.get_replica_context()
                return context.all_reduce("sum", own + value), context.all_gather(own, axis=0)

            reduced, gathered = strategy.run(replica)
            value += reduced / tf.reduce_sum(gathered)
        return value

    everyone = np.array([[rank + 1.0, 2.0] for rank in range(SIZE)])
    expected = np.zeros(2)
    for _ in range(3):
        expected += (everyone + expected).sum(axis=0) / everyone.sum()
    np.testing.assert_allclose(passes(tf.constant(3)).numpy(), expected, rtol=1e-6)


def main() -> None:
    load_habana_module()
    strategy = HPUStrategy()
    # Without soft placement, an op without an HPU kernel fails.
    tf.config.set_soft_device_placement(False)
    check_strategy(strategy)
    with tf.device("/device:HPU:0"):
        for dtype in DTYPES:
            check_all(dtype)
        empty = collective_ops.all_reduce_v2(tf.zeros((0, 3)), SIZE, GROUP, KEYS.next())
        assert empty.shape == (0, 3)
        big = tf.random.stateless_normal((1 << 20,), (RANK, 0))
        summed = collective_ops.all_reduce_v2(big, SIZE, GROUP, KEYS.next())
        expected = tf.add_n([tf.random.stateless_normal((1 << 20,), (rank, 0)) for rank in range(SIZE)])
        np.testing.assert_allclose(summed.numpy(), expected.numpy(), rtol=1e-6, atol=1e-6)
        sys.stdout.write("collectives agree\n")
        if "--mismatch" in sys.argv:
            collective_ops.all_reduce_v2(tf.zeros((2 + RANK, 3 - RANK)), SIZE, GROUP, KEYS.next())


if __name__ == "__main__":
    main()
