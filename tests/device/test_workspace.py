"""The memory for the temporaries of recipes: it grows, it stays, it gives way to tensors."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.processes import run_with_tensorflow

PROGRAM = """
import json
import numpy as np
import tensorflow as tf
from habana_frameworks.tensorflow import habana_device, load_habana_module

load_habana_module()


# Each product lies in a buffer of its own: TensorFlow's compiler does not fuse them.
@tf.function(jit_compile=True)
def chain(x):
    return tf.reduce_sum(tf.matmul(tf.matmul(x, x), x))


def square(mebibytes):
    return np.eye(int((mebibytes * (1 << 20) / 4) ** 0.5), dtype=np.float32)


def launch(mebibytes):
    value = square(mebibytes)
    with tf.device("HPU:0"):
        assert float(chain(value)) == len(value)
    return habana_device.memory_info().workspace >> 20


result = []
"""


def run(code: str, **settings: str) -> Any:
    done = run_with_tensorflow(PROGRAM + code + "\nprint(json.dumps(result))", settings)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_it_grows_in_steps_and_stays() -> None:
    sizes, _ = run("result = [launch(size) for size in (1, 4, 1, 9, 4)]", HPU_WORKSPACE_CHUNK_MB="8")
    assert sizes[0] == sizes[2] == 8
    assert sizes == sorted(sizes) and all(size % 8 == 0 for size in sizes)
    assert sizes[3] == sizes[4] > sizes[0]


def test_it_is_reserved_at_the_first_launch() -> None:
    sizes, _ = run("result = [launch(size) for size in (1, 9)]", HABANA_INITIAL_WORKSPACE_SIZE_MB="100")
    assert sizes == [112, 112]


def test_too_large_a_reservation_is_told_and_left() -> None:
    sizes, log = run(
        "result = [launch(1)]", HABANA_INITIAL_WORKSPACE_SIZE_MB="13271", HPU_MEMORY_MB="1024", TF_CPP_MIN_LOG_LEVEL="1"
    )
    assert sizes == [16]
    assert "HABANA_INITIAL_WORKSPACE_SIZE_MB=13271 is ignored: " in log
    assert "must be between 0 and the size of device memory, 1024 MiB" in log


def test_it_gives_way_to_tensors() -> None:
    """100 MiB of tensors beside a workspace of 64 in 128 MiB of memory."""
    sizes, _ = run(
        """
result.append(launch(1))
with tf.device("HPU:0"):
    kept = [tf.identity(tf.constant(np.full(5 << 20, i, np.float32))) for i in range(5)]
    result.append(habana_device.memory_info().workspace)
    for i, tensor in enumerate(kept):
        assert (tensor.numpy() == i).all()
result.append(launch(1))
""",
        HABANA_INITIAL_WORKSPACE_SIZE_MB="64",
        HPU_MEMORY_MB="128",
    )
    # Taken again in a smaller size: there is no room for the first one.
    assert sizes[:2] == [64, 0] and 0 < sizes[2] < 28


def test_the_peak_is_that_of_what_ran_since() -> None:
    """A small recipe after a large one, whose workspace is not counted again; its own is."""
    result, _ = run(
        """
for mebibytes in (16, 1):
    launch(mebibytes)
    tf.config.experimental.reset_memory_stats("HPU:0")
    result.append(habana_device.memory_info().workspace)
    before = tf.config.experimental.get_memory_info("HPU:0")["current"]
    launch(mebibytes)
    result.append((tf.config.experimental.get_memory_info("HPU:0")["peak"] - before) >> 20)
        """,
        HPU_WORKSPACE_CHUNK_MB="1",
    )
    assert result[0] == result[2] == 0
    # The argument, and at least one product.
    assert result[1] >= 32 and 2 <= result[3] < 16


def test_threads_share_it() -> None:
    result, _ = run(
        """
import concurrent.futures
values = [square(size) for size in (0.25, 0.5, 1, 2, 4, 6)]

def work(number):
    with tf.device("HPU:0"):
        return [float(chain(value)) == len(value) for value in values[number % 2 :: 1 + number % 3] * 5]

with concurrent.futures.ThreadPoolExecutor(6) as pool:
    for outcome in pool.map(work, range(12)):
        result += outcome
        """,
        HPU_WORKSPACE_CHUNK_MB="1",
    )
    assert result and all(result)


def test_out_of_memory_says_what_takes_how_much_and_what_helps() -> None:
    (message, argument), _ = run(
        """
try:
    launch(40)
except tf.errors.ResourceExhaustedError as error:
    result = [str(error), square(40).nbytes]
""",
        HPU_MEMORY_MB="64",
    )
    assert "bytes of HPU memory for temporaries; " in message
    told = re.search(r"(\d+) bytes of arguments, (\d+) of results and (\d+) of temporaries", message)
    assert told, message
    arguments, results, temporaries = map(int, told.groups())
    assert (arguments, results) == (argument, 4) and temporaries >= argument
    remedies = ("a smaller batch", "HPU_MAX_CLUSTER_SIZE", "fewer threads", "HPU_WORKSPACE_CHUNK_MB", "HPU_MEMORY_MB")
    assert all(remedy in message for remedy in remedies), message


@pytest.mark.parametrize("value", ["0", "-3"])
def test_a_step_of_nothing_is_an_error(value: str) -> None:
    result, _ = run(
        """
try:
    launch(1)
except tf.errors.InvalidArgumentError as error:
    result = str(error)
""",
        HPU_WORKSPACE_CHUNK_MB=value,
    )
    assert f"HPU_WORKSPACE_CHUNK_MB must be at least 1, got {value}" in result
