"""Errors of the device: of its acquisition, of asynchronous work, its loss."""

from __future__ import annotations

import subprocess
import textwrap
from collections.abc import Mapping

from tests.support.processes import WARM_PYTHON, run_with_tensorflow, start

START = """
import os
import numpy as np
import tensorflow as tf
from habana_frameworks.tensorflow import habana_device, load_habana_module
load_habana_module()
with tf.device("CPU:0"):
    ones = tf.constant(np.ones(SIZE, np.uint8))

def copy():
    return ones._copy(device_name="HPU:0")

def fails(function, *words):
    try:
        function()
    except Exception as error:
        for word in words:
            assert word in str(error), (word, error)
        return type(error)
    raise AssertionError("worked")
"""


def run(code: str, environment: Mapping[str, str], size: int = 1000) -> None:
    run_with_tensorflow(f"SIZE = {size}\n" + START + textwrap.dedent(code), environment)


def test_an_asynchronous_error_reaches_the_next_reader_and_is_over_then() -> None:
    # The second copy is the failing one; it is small, so that whoever asked for it goes on at once.
    run(
        """
        good = copy()
        bad = copy()
        fails(bad.numpy, "copy")
        assert good.numpy().sum() == SIZE
        assert copy().numpy().sum() == SIZE
        habana_device.synchronize()
        """,
        {"HPU_FAULTS": "copy@2"},
    )


def test_an_asynchronous_error_reaches_synchronize() -> None:
    run(
        """
        from habana_frameworks.tensorflow import errors
        bad = copy()
        assert fails(habana_device.synchronize, "copy") is errors.DeviceError
        habana_device.synchronize()
        assert copy().numpy().sum() == SIZE
        """,
        {"HPU_FAULTS": "copy@1"},
    )


def test_a_large_copy_reports_its_own_error() -> None:
    run(
        """
        fails(copy, "copy")
        assert copy().numpy().sum() == SIZE
        """,
        {"HPU_FAULTS": "copy@1"},
        size=4 << 20,
    )


def test_an_error_on_the_way_back_is_raised() -> None:
    for size in (1000, 4 << 20):
        run(
            """
            tensor = copy()
            fails(tensor.numpy, "copy")
            assert tensor.numpy().sum() == SIZE
            """,
            {"HPU_FAULTS": "copy@2"},
            size=size,
        )


def test_a_session_gets_the_error_of_its_step() -> None:
    run(
        """
        with tf.Graph().as_default(), tf.device("CPU:0"):
            fed = tf.compat.v1.placeholder(tf.uint8, [None])
            with tf.device("HPU:0"):
                there = tf.raw_ops.Identity(input=fed)
            with tf.compat.v1.Session() as session:
                assert session.run(there, {fed: np.ones(10)}).sum() == 10
                assert fails(lambda: session.run(there.op, {fed: np.ones(10)}), "copy") is tf.errors.InternalError
                assert session.run(there, {fed: np.ones(10)}).sum() == 10
        """,
        {"HPU_FAULTS": "copy@3"},
    )


def test_a_lost_device_says_so_every_time() -> None:
    run(
        """
        tensor = copy()
        for attempt in (tensor.numpy, lambda: copy().numpy(), habana_device.synchronize):
            fails(attempt, "lost")
        """,
        {"HPU_FAULTS": "lost@2"},
    )


def test_a_failed_acquisition_is_tried_again() -> None:
    run(
        """
        fails(copy, "allocate")
        assert not habana_device.info()["acquired"]
        del os.environ["HPU_FAULTS"]
        assert copy().numpy().sum() == SIZE
        """,
        {"HPU_FAULTS": "allocate@1"},
    )


def test_a_held_module_is_named_with_its_holder(tmp_path: object) -> None:
    environment = {"HPU_MODULES": "1", "HPU_MODULE_LOCK_DIR": str(tmp_path)}
    hold = """
        import os, sys
        from habana_frameworks.tensorflow import habana_device
        habana_device.acquire()
        print(os.getpid(), flush=True)
        sys.stdin.read()
    """
    command = [WARM_PYTHON, "-c", textwrap.dedent(hold)]
    holder = start(command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        pid = int(holder.stdout.readline())
        run(
            f"""
            # Every way to the device tells the same, and none takes it for exhausted memory.
            def graph():
                with tf.device("HPU:0"):
                    return tf.function(lambda: tf.identity(tf.constant(np.arange(100.0))))()
            for use in (copy, graph, habana_device.acquire):
                fails(use, "{pid}")
            """,
            environment,
        )
    finally:
        holder.communicate(timeout=30)
    run("assert copy().numpy().sum() == SIZE", environment)
