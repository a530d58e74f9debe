"""Programs for test_workspace.py. Each prints its result as JSON."""

from __future__ import annotations

import concurrent.futures
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import habana_device, load_habana_module


# Each product has its own buffer, because TensorFlow's compiler does not fuse products.
@tf.function(jit_compile=True)
def chain(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.matmul(tf.matmul(x, x), x))


def square(mebibytes: float) -> np.ndarray:
    return np.eye(int((mebibytes * (1 << 20) / 4) ** 0.5), dtype=np.float32)


def launch(mebibytes: float) -> int:
    """Multiplies matrices of this size, and returns the workspace's size in MiB afterwards."""
    value = square(mebibytes)
    with tf.device("HPU:0"):
        assert float(chain(value)) == len(value)
    return habana_device.memory_info().workspace >> 20


def launches(sizes: Sequence[float]) -> None:
    load_habana_module()
    print(json.dumps([launch(size) for size in sizes]))


def one_tensor() -> None:
    load_habana_module()
    with tf.device("HPU:0"):
        tf.identity(tf.constant(np.zeros(1 << 18, np.float32)))
    print(json.dumps(habana_device.memory_info().workspace >> 20))


def tensors_beside_it() -> None:
    load_habana_module()
    result = [launch(1)]
    with tf.device("HPU:0"):
        kept = [tf.identity(tf.constant(np.full(5 << 20, i, np.float32))) for i in range(5)]
        result.append(habana_device.memory_info().workspace)
        for i, tensor in enumerate(kept):
            assert (tensor.numpy() == i).all()
    result.append(launch(1))
    print(json.dumps(result))


def peaks() -> None:
    load_habana_module()
    result = []
    for mebibytes in (16, 1):
        launch(mebibytes)
        tf.config.experimental.reset_memory_stats("HPU:0")
        result.append(habana_device.memory_info().workspace)
        before = tf.config.experimental.get_memory_info("HPU:0")["current"]
        launch(mebibytes)
        result.append((tf.config.experimental.get_memory_info("HPU:0")["peak"] - before) >> 20)
    print(json.dumps(result))


def threads() -> None:
    load_habana_module()
    values = [square(size) for size in (0.1, 0.25, 0.5, 1, 1.5, 2)]  # small: the double's products are slow

    def work(number: int) -> list[bool]:
        with tf.device("HPU:0"):
            return [float(chain(value)) == len(value) for value in values[number % 2 :: 1 + number % 3] * 3]

    result: list[bool] = []
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for outcome in pool.map(work, range(12)):
            result += outcome
    print(json.dumps(result))


def out_of_memory() -> None:
    load_habana_module()
    result: list[Any] = []
    try:
        launch(40)
    except tf.errors.ResourceExhaustedError as error:
        result = [str(error), square(40).nbytes]
    print(json.dumps(result))


def fragmented() -> None:
    """Leaves 16 of 64 MiB free, in pieces of less than the 12 MiB that a launch needs for temporaries.

    The pieces are the workspace of a smaller launch (4 MiB), a gap between tensors and the rest after the tensors. With
    an initial workspace of 12 MiB, the same tensors leave room for the launch.
    """
    load_habana_module()
    launch(2)
    message = ""
    with tf.device("HPU:0"):
        tensors = [tf.identity(tf.constant(np.full(1 << 19, i, np.float32))) for i in range(25)]  # 2 MiB each
        del tensors[10:14]  # the launch's argument takes most of this gap
        try:
            launch(6)
        except tf.errors.ResourceExhaustedError as error:
            message = str(error)
    print(json.dumps([message]))
    assert len(tensors) == 21


def wrong_setting() -> None:
    load_habana_module()
    result = ""
    try:
        launch(1)
    except tf.errors.InvalidArgumentError as error:
        result = str(error)
    print(json.dumps(result))
