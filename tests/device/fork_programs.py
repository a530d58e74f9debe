"""Programs for test_fork.py: processes that hold the device, and fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import errors, habana_device, load_habana_module


def in_child(function: Callable[[], None]) -> int:
    """Calls the function in a forked child, and returns the child's exit code."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        except BaseException as error:
            print("child:", type(error).__name__, error, flush=True)
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def use_in_child() -> None:
    load_habana_module()
    with tf.device("HPU:0"):
        tensor = tf.identity(tf.constant([1.0, 2.0]))

    def use() -> None:
        attempts: list[Callable[[], Any]] = [
            lambda: tensor.numpy(),
            lambda: tf.constant([1.0]),
            lambda: tf.identity(tensor).numpy(),
        ]
        for attempt in attempts:
            try:
                with tf.device("HPU:0"):
                    attempt()
                raise AssertionError("worked")
            except tf.errors.AbortedError as error:
                assert "spawn" in str(error), error

    assert in_child(use) == 0
    assert tensor.numpy().tolist() == [1.0, 2.0]


def free_in_child() -> None:
    load_habana_module()
    with tf.device("HPU:0"):
        tensors = [tf.identity(tf.constant(np.full(1000, float(i), np.float32))) for i in range(10)]

    def leave() -> None:
        tensors.clear()  # frees tensors that the parent still uses
        assert np.ones(10).sum() == 10

    assert in_child(leave) == 0
    assert subprocess.run(["true"]).returncode == 0
    for i, tensor in enumerate(tensors):
        assert (tensor.numpy() == i).all()
    assert len(tensors) == 10


def acquire_in_child_first() -> None:
    load_habana_module()

    def use() -> None:
        habana_device.acquire()
        assert habana_device.info()["acquired"]

    assert in_child(use) == 0
    with tf.device("HPU:0"):
        assert tf.identity(tf.constant([3.0])).numpy().tolist() == [3.0]


def nine_processes() -> None:
    load_habana_module()
    children = []
    for _ in range(8):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            habana_device.acquire()
            os.write(write, b"acquired")
            signal.pause()
        os.close(write)
        assert os.read(read, 8) == b"acquired"
        children.append(child)
    try:
        habana_device.acquire()
        message = "acquired"
    except errors.DeviceError as error:
        message = str(error)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    for module, child in enumerate(children):
        assert f"module {module}: pid {child} (" in message, message
    assert "HPU_MODULES" in message, message
    habana_device.acquire()
    assert habana_device.info()["module_id"] == 0
