"""SparseToDense: errors for indices out of range, unordered or repeated equal the CPU's, eager and in graphs."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")
CALLS = 4  # enough calls to compile the eager op

INDICES = {
    "in order": [[0, 1], [2, 0]],
    "negative": [[-1, -1], [2, 0]],
    "too large": [[0, 1], [3, 0]],
    "out of order": [[2, 0], [0, 1]],
    "twice": [[2, 0], [2, 0]],
}


def outcome(device: str, function: Any, indices: list[list[int]]) -> Any:
    with tf.device(device):
        arguments = [tf.constant(indices), tf.constant([3.0, 4.0])]
        try:
            return [function(*arguments) for _ in range(CALLS)][-1]
        except tf.errors.InvalidArgumentError as error:
            return error


@pytest.mark.parametrize("graph", [True, False])
@pytest.mark.parametrize("name", INDICES)
def test_as_on_the_cpu(name: str, graph: bool) -> None:
    def dense(indices: Any, values: Any) -> Any:
        return tf.raw_ops.SparseToDense(
            sparse_indices=indices, output_shape=[3, 2], sparse_values=values * 2, default_value=-1.0
        )

    found, expected = (outcome(device, tf.function(dense) if graph else dense, INDICES[name]) for device in (HPU, CPU))
    if not isinstance(expected, tf.errors.InvalidArgumentError):
        assert_close(found, expected)
        return
    text = next(line for line in expected.message.splitlines() if "indices[" in line).split("} ")[-1]
    assert isinstance(found, tf.errors.InvalidArgumentError) and text.strip() in found.message
