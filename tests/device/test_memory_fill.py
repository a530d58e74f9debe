"""HPU_FILL_MEMORY fills device memory before its use, and changes no result."""

from __future__ import annotations

import pytest

from tests.support.processes import run_with_tensorflow

PROGRAM = """
import tensorflow as tf
from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
step = tf.function(lambda x: tf.reduce_sum(tf.matmul(tf.matmul(x, x), x)), jit_compile=True)
with tf.device("HPU:0"):
    print([float(step(tf.eye(64))) for _ in range(3)])
"""


@pytest.mark.parametrize("byte", ["-1", "251"])
def test_results_stay(byte: str) -> None:
    done = run_with_tensorflow(PROGRAM, {"HPU_FILL_MEMORY": byte})
    assert done.stdout.strip() == "[64.0, 64.0, 64.0]"


@pytest.mark.parametrize(("byte", "fills"), [("-1", False), ("251", True)])
def test_memory_is_filled(byte: str, fills: bool) -> None:
    """The first fill fails, where there is one."""
    environment = {"HPU_FILL_MEMORY": byte, "HPU_FAULTS": "fill@1"}
    done = run_with_tensorflow(PROGRAM, environment, check=False)
    assert (done.returncode != 0) == fills, done.stderr
