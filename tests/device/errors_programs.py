"""Programs for test_errors.py, run with injected faults."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import errors, habana_device, load_habana_module

Copy = Callable[[], Any]


def begin(size: int = 1000) -> Copy:
    """Loads the module. Returns a function that copies `size` ones to the HPU."""
    load_habana_module()
    with tf.device("CPU:0"):
        ones = tf.constant(np.ones(size, np.uint8))
    return lambda: ones._copy(device_name="HPU:0")


def fails(function: Callable[[], Any], *words: str) -> type[Exception]:
    try:
        function()
    except Exception as error:
        for word in words:
            assert word in str(error), (word, error)
        return type(error)
    raise AssertionError("worked")


def read_failed_copy() -> None:
    copy = begin()
    good = copy()
    bad = copy()
    fails(bad.numpy, "copy")
    assert good.numpy().sum() == 1000
    assert copy().numpy().sum() == 1000
    habana_device.synchronize()


def synchronize_after_failed_copy() -> None:
    copy = begin()
    bad = copy()
    assert fails(habana_device.synchronize, "copy") is errors.DeviceError
    habana_device.synchronize()
    assert copy().numpy().sum() == 1000
    del bad


def fail_large_copy() -> None:
    copy = begin(4 << 20)
    fails(copy, "copy")
    assert copy().numpy().sum() == 4 << 20


def fail_copy_to_host(size: int) -> None:
    copy = begin(size)
    tensor = copy()
    fails(tensor.numpy, "copy")
    assert tensor.numpy().sum() == size


def fail_in_session() -> None:
    load_habana_module()
    with tf.Graph().as_default(), tf.device("CPU:0"):
        fed = tf.compat.v1.placeholder(tf.uint8, [None])
        with tf.device("HPU:0"):
            there = tf.raw_ops.Identity(input=fed)
        with tf.compat.v1.Session() as session:
            assert session.run(there, {fed: np.ones(10)}).sum() == 10
            assert fails(lambda: session.run(there.op, {fed: np.ones(10)}), "copy") is tf.errors.InternalError
            assert session.run(there, {fed: np.ones(10)}).sum() == 10


def lose_device() -> None:
    copy = begin()
    tensor = copy()
    attempts: list[Callable[[], Any]] = [tensor.numpy, lambda: copy().numpy(), habana_device.synchronize]
    for attempt in attempts:
        fails(attempt, "lost")


def fail_first_acquisition() -> None:
    copy = begin()
    fails(copy, "allocate")
    assert not habana_device.info()["acquired"]
    del os.environ["HPU_FAULTS"]
    assert copy().numpy().sum() == 1000


def try_held_module(holder: int) -> None:
    """Checks that the error of each access to a held module names the holder."""
    copy = begin()

    def graph() -> tf.Tensor:
        with tf.device("HPU:0"):
            return tf.function(lambda: tf.identity(tf.constant(np.arange(100.0))))()

    uses: list[Callable[[], Any]] = [copy, graph, habana_device.acquire]
    for use in uses:
        fails(use, str(holder))


def copy_to_device() -> None:
    assert begin()().numpy().sum() == 1000
