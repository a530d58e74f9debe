"""Forked children of a process that holds the device."""

from __future__ import annotations

import pathlib

from tests.support.processes import run_with_tensorflow

START = """
import os, sys
import tensorflow as tf
from habana_frameworks.tensorflow import load_habana_module
load_habana_module()

def in_child(function):
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
"""


def test_a_forked_child_finds_the_device_lost() -> None:
    done = run_with_tensorflow(
        START
        + """
with tf.device("HPU:0"):
    tensor = tf.identity(tf.constant([1.0, 2.0]))

def use():
    for attempt in (lambda: tensor.numpy(), lambda: tf.constant([1.0]), lambda: tf.identity(tensor).numpy()):
        try:
            with tf.device("HPU:0"):
                attempt()
            raise AssertionError("worked")
        except tf.errors.AbortedError as error:
            assert "spawn" in str(error), error

assert in_child(use) == 0
assert tensor.numpy().tolist() == [1.0, 2.0]
""",
        timeout=60,
    )
    assert "child:" not in done.stdout, done.stdout


def test_a_child_that_leaves_the_device_alone_is_harmless() -> None:
    run_with_tensorflow(
        START
        + """
import subprocess
import numpy as np
with tf.device("HPU:0"):
    tensors = [tf.identity(tf.constant(np.full(1000, float(i), np.float32))) for i in range(10)]

def leave():
    global tensors
    del tensors          # frees what the parent goes on using
    assert np.ones(10).sum() == 10

assert in_child(leave) == 0
assert subprocess.run(["true"]).returncode == 0
for i, tensor in enumerate(tensors):
    assert (tensor.numpy() == i).all()
""",
        timeout=60,
    )


def test_a_child_forked_before_the_first_use_has_a_device() -> None:
    run_with_tensorflow(
        START
        + """
from habana_frameworks.tensorflow import habana_device

def use():
    habana_device.acquire()
    assert habana_device.info()["acquired"]

assert in_child(use) == 0
with tf.device("HPU:0"):
    assert tf.identity(tf.constant([3.0])).numpy().tolist() == [3.0]
""",
        timeout=60,
    )


def test_the_ninth_process_is_told_which_ones_hold_the_modules(tmp_path: pathlib.Path) -> None:
    run_with_tensorflow(
        """
        import os, signal
        from habana_frameworks.tensorflow import errors, habana_device, load_habana_module
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
        """,
        {"HPU_BACKEND": "emulator", "HPU_MODULE_LOCK_DIR": str(tmp_path), "HPU_MODULES": None},
    )
