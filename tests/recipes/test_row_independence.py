"""Check for padding a program's arguments with rows: accepts row-wise programs and rejects all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.native import row_independence
from tests.support.compare import CPU

ROWS, PADDED_ROWS = 6, 8
FEATURES = 5

Function = Callable[..., Any]


def program(function: Function, *arguments: tf.Tensor) -> bytes:
    """Returns the function's serialised HLO, lowered for the CPU."""
    with tf.device(CPU):
        compiled = tf.function(function, jit_compile=True)
        ir: bytes = compiled.experimental_get_compiler_ir(*arguments)("hlo_serialized", device_name=CPU)
    return ir


def refusal(function: Function, *shapes: list[int | None], dtype: tf.DType = tf.float32) -> str | None:
    """Checks a function with arguments of these shapes. None stands for the number of rows."""
    programs = []
    for count in (ROWS, PADDED_ROWS):
        filled = [[count if size is None else size for size in shape] for shape in shapes]
        programs.append(program(function, *[tf.zeros(shape, dtype) for shape in filled]))
    return row_independence.refusal(programs[0], ROWS, programs[1], PADDED_ROWS)


weights = np.full([FEATURES, 4], 0.5, np.float32)
table = np.full([100, 4], 0.5, np.float32)
kernel = np.ones([3, 3, 2, 4], np.float32)
positions = np.arange(8 * FEATURES, dtype=np.float32).reshape([8, FEATURES])


def attention(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    scores = tf.einsum("bqd,bkd->bqk", x, x) + (1.0 - mask[:, None, :]) * -1e9
    return tf.einsum("bqk,bkd->bqd", tf.nn.softmax(scores), x)


def layer_norm(x: tf.Tensor) -> tf.Tensor:
    """Keras's fused layer norm: batch normalisation with the rows as channels."""
    rows = tf.shape(x)[0]
    image = tf.reshape(x, [1, rows, FEATURES, 1])
    normal, _, _ = tf.compat.v1.nn.fused_batch_norm(
        image, tf.ones([rows]), tf.zeros([rows]), data_format="NCHW", is_training=True
    )
    return tf.reshape(normal, tf.shape(x))


def loop(x: tf.Tensor) -> tf.Tensor:
    square = weights @ weights.T
    return tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, tf.tanh(v @ square)), (0, x))[1]


KEEP_ROWS_APART: dict[str, tuple[Function, list[list[int | None]]]] = {
    "elementwise": (lambda x: tf.nn.gelu(x * 2.0 + 1.0), [[None, FEATURES]]),
    "two arguments": (lambda x, y: tf.where(x > y, x, y), [[None, FEATURES], [None, FEATURES]]),
    "bias": (lambda x: x + tf.range(5.0), [[None, FEATURES]]),
    "dense": (lambda x: tf.nn.relu(x @ weights), [[None, FEATURES]]),
    "dense over time": (lambda x: tf.tensordot(x, weights, 1), [[None, 7, FEATURES]]),
    "softmax over features": (lambda x: tf.nn.softmax(x), [[None, FEATURES]]),
    "argmax over features": (lambda x: tf.argmax(x, -1), [[None, FEATURES]]),
    "cumulative sum over features": (lambda x: tf.cumsum(x, 1), [[None, FEATURES]]),
    "sort and reverse over features": (lambda x: tf.reverse(tf.sort(x), [1]), [[None, FEATURES]]),
    "loss of each row": (lambda x: tf.reduce_mean(x * x, 1), [[None, FEATURES]]),
    "concatenation of features": (lambda x: tf.concat([x, x, tf.ones_like(x)], 1), [[None, FEATURES]]),
    "slice of features": (lambda x: tf.pad(x[:, 1:3], [[0, 0], [1, 2]]), [[None, FEATURES]]),
    "flatten": (lambda x: tf.reshape(x, [tf.shape(x)[0], -1]), [[None, 3, 4]]),
    "time into the rows and back": (
        lambda x: tf.reshape(tf.reshape(x, [-1, FEATURES]) @ weights, [-1, 7, 4]),
        [[None, 7, FEATURES]],
    ),
    "convolution": (
        lambda x: tf.nn.max_pool2d(tf.nn.conv2d(x, kernel, 1, "SAME"), 2, 2, "VALID"),
        [[None, 8, 8, 2]],
    ),
    "mean of images": (lambda x: tf.reduce_mean(x, [1, 2]), [[None, 8, 8, 2]]),
    "gradient of max pooling": (
        lambda x: tf.gradients(tf.nn.max_pool2d(x, 2, 2, "VALID"), x)[0],
        [[None, 8, 8, 2]],
    ),
    "batch norm in inference": (
        lambda x: tf.compat.v1.nn.fused_batch_norm(
            x, tf.ones([2]), tf.zeros([2]), tf.zeros([2]), tf.ones([2]), is_training=False
        )[0],
        [[None, 8, 8, 2]],
    ),
    "attention with a mask": (attention, [[None, 7, FEATURES], [None, 7]]),
    "layer norm": (layer_norm, [[None, FEATURES]]),
    "loop": (loop, [[None, FEATURES]]),
    "state of a branch": (
        lambda x, flag: tf.cond(tf.reduce_sum(flag) > 0.0, lambda: x * 2.0, lambda: x + 1.0),
        [[None, FEATURES], [3]],
    ),
    "as many features as rows": (lambda x: tf.nn.softmax(x) @ tf.ones([ROWS, PADDED_ROWS]), [[None, ROWS]]),
    "what has no rows": (lambda x, y: (x * 2.0, tf.reduce_mean(y)), [[None, FEATURES], [ROWS, 3]]),
}


@pytest.mark.parametrize("name", KEEP_ROWS_APART)
def test_keeps_rows_apart(hpu: str, name: str) -> None:
    function, shapes = KEEP_ROWS_APART[name]
    assert refusal(function, *shapes) is None


def test_lookup_by_rows(hpu: str) -> None:
    assert refusal(lambda ids: tf.gather(table, ids), [None, 7], dtype=tf.int32) is None


def batch_norm(x: tf.Tensor) -> Any:
    return tf.compat.v1.nn.fused_batch_norm(x, tf.ones([2]), tf.zeros([2]), is_training=True)[0]


def dropout(x: tf.Tensor) -> tf.Tensor:
    return x * tf.random.stateless_uniform(tf.shape(x), [1, 2])


MIX_ROWS: dict[str, tuple[Function, list[list[int | None]], str]] = {
    "mean loss": (lambda x: tf.reduce_mean(x * x), [[None, FEATURES]], "in Mean"),
    "gradient of weights": (lambda x: tf.matmul(x, x, True), [[None, FEATURES]], "dot sums over the rows"),
    "batch norm in training": (batch_norm, [[None, 8, 8, 2]], "normalises over the rows"),
    "softmax over the batch": (lambda x: tf.nn.softmax(x, 0), [[None, FEATURES]], "reduce operates across the rows"),
    "cumulative sum over the batch": (lambda x: tf.cumsum(x, 0), [[None, FEATURES]], "rows"),
    "argmax over the batch": (lambda x: tf.argmax(x, 0), [[None, FEATURES]], "reduce operates across the rows"),
    "random numbers": (dropout, [[None, FEATURES]], "draws random numbers"),
    "stateful random numbers": (
        lambda x: x + tf.random.uniform([FEATURES]),
        [[None, FEATURES]],
        "rng draws random numbers",
    ),
    "sort over the batch": (lambda x: tf.sort(x, 0), [[None, FEATURES]], "rows"),
    "reverse of the batch": (lambda x: tf.reverse(x, [0]), [[None, FEATURES]], "reverse operates across the rows"),
    "shift of rows": (lambda x: tf.roll(x, 1, 0), [[None, FEATURES]], "rows"),
    "first rows": (lambda x: x[:4], [[None, FEATURES]], "slice selects only some of the rows"),
    "every second row": (lambda x: x[::2], [[None, FEATURES]], "proportional to the rows"),
    "padded batch": (lambda x: tf.pad(x, [[1, 1], [0, 0]]), [[None, FEATURES]], "proportional to the rows"),
    "batch twice": (lambda x: tf.concat([x, x], 0), [[None, FEATURES]], "concatenate adds rows"),
    "difference of neighbours": (lambda x: x[1:] - x[:-1], [[None, FEATURES]], "proportional to the rows"),
    "pairs of rows": (lambda x: tf.matmul(x, x, transpose_b=True), [[None, FEATURES]], "proportional to the rows"),
    "rows into time": (
        lambda x: tf.reshape(tf.transpose(tf.reshape(x, [-1, 2, FEATURES]), [1, 0, 2]), [-1, FEATURES]),
        [[None, FEATURES]],
        "rows",
    ),
    "rows and features mixed": (
        lambda x: tf.reshape(tf.transpose(x), tf.shape(x)),
        [[None, FEATURES]],
        "reshape mixes rows",
    ),
    "number of rows": (lambda x: x / tf.cast(tf.shape(x)[0], tf.float32), [[None, FEATURES]], "number of rows"),
    "numbers of rows": (
        lambda x: x + tf.cast(tf.range(tf.shape(x)[0]), tf.float32)[:, None],
        [[None, FEATURES]],
        "rows",
    ),
    "branch by the number of rows": (
        lambda x: x[:, : tf.minimum(tf.shape(x)[0], 7) - 3],
        [[None, FEATURES]],
        "proportional to the rows",
    ),
    "positions": (lambda x: x + tf.constant(positions)[: tf.shape(x)[0]], [[None, FEATURES]], "rows"),
    "rows chosen by rows": (
        lambda x: tf.gather(x, tf.cast(x[:, 0], tf.int32)),
        [[None, FEATURES]],
        "gather selects among the rows",
    ),
    "fixed row": (lambda x: x - x[0], [[None, FEATURES]], "slice"),
    "segments": (
        lambda x: tf.math.unsorted_segment_sum(x, tf.cast(x[:, 0], tf.int32), 4),
        [[None, FEATURES]],
        "scatter is not known to keep rows apart",
    ),
    "convolution over the batch": (
        lambda x: tf.nn.conv1d(x[None], tf.ones([3, FEATURES, 2]), 1, "SAME"),
        [[None, FEATURES]],
        "convolution convolves over the rows",
    ),
    "filter gradient": (
        lambda x: tf.compat.v1.nn.conv2d_backprop_filter(x, [3, 3, 2, 2], x, [1] * 4, "SAME"),
        [[None, 8, 8, 2]],
        "convolution convolves over the rows",
    ),
    "loop over the rows": (
        lambda x: tf.while_loop(lambda i, _: i < tf.shape(x)[0], lambda i, v: (i + 1, v * 1.1), (0, x))[1],
        [[None, FEATURES]],
        "depends on the number of rows",
    ),
    "loop until the rows agree": (
        lambda x: tf.while_loop(lambda v: tf.reduce_max(v) > 1.0, lambda v: (v * 0.5,), (x,))[0],
        [[None, FEATURES]],
        "reduce operates across the rows",
    ),
    "rows not outermost": (lambda x: x + 1.0, [[7, None]], "not the outermost"),
    "results not outermost": (lambda x: tf.transpose(x), [[None, FEATURES]], "not the outermost"),
    "both dimensions": (lambda x: x + 1.0, [[None, None]], "proportional to the rows"),
}


@pytest.mark.parametrize("name", MIX_ROWS)
def test_refuses_dependent_rows(hpu: str, name: str) -> None:
    function, shapes, reason = MIX_ROWS[name]
    assert reason in (refusal(function, *shapes) or "")


def test_names_the_op(hpu: str) -> None:
    def loss(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(x, name="loss")

    assert "Mean 'loss'" in (refusal(loss, [None, FEATURES]) or "")


def test_update_of_a_variable(hpu: str) -> None:
    with tf.device(CPU):
        total = tf.Variable(tf.zeros([FEATURES]))
    assert "operates across the rows" in (
        refusal(lambda x: total.assign_add(tf.reduce_sum(x, 0)), [None, FEATURES]) or ""
    )


@pytest.mark.parametrize("rows", [0, PADDED_ROWS, PADDED_ROWS + 1])
def test_nothing_to_add(hpu: str, rows: int) -> None:
    one = program(lambda x: x * 2.0, tf.zeros([PADDED_ROWS]))
    with pytest.raises(errors.DeviceError, match="cannot be padded"):
        row_independence.refusal(one, rows, one, PADDED_ROWS)


def test_invalid_programs(hpu: str) -> None:
    one = program(lambda x: x * 2.0, tf.zeros([PADDED_ROWS]))
    with pytest.raises(errors.DeviceError, match="not a serialised HloModuleProto"):
        row_independence.refusal(b"\xff" + one, ROWS, one, PADDED_ROWS)
    with pytest.raises(errors.DeviceError, match="refers to a missing instruction"):
        row_independence.refusal(b"", ROWS, one, PADDED_ROWS)
