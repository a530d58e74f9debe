"""TensorLists with fewer elements than their capacity, and indices out of range: values and errors equal the CPU's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import habana_frameworks.tensorflow as htf
from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")
raw = tf.raw_ops
X = np.arange(6, dtype=np.float32).reshape(3, 2)
TYPE = tf.float32


def empty(room: int) -> Any:
    return raw.EmptyTensorList(element_shape=[2], max_num_elements=room, element_dtype=TYPE)


def push(handle: Any, row: Any) -> Any:
    return raw.TensorListPushBack(input_handle=handle, tensor=row)


def pop(handle: Any) -> Any:
    return raw.TensorListPopBack(input_handle=handle, element_shape=[2], element_dtype=TYPE)


def rows_of(x: Any) -> Any:
    return raw.TensorListFromTensor(tensor=x * 2, element_shape=[2])


def stack(handle: Any, length: int = -1) -> Any:
    return raw.TensorListStack(input_handle=handle, element_shape=[2], element_dtype=TYPE, num_elements=length)


def get(handle: Any, index: Any) -> Any:
    return raw.TensorListGetItem(input_handle=handle, index=index, element_shape=[2], element_dtype=TYPE)


def gather(handle: Any, indices: Any) -> Any:
    return raw.TensorListGather(input_handle=handle, indices=indices, element_shape=[2], element_dtype=TYPE)


def set_item(handle: Any, index: Any, row: Any, grows: bool = False) -> Any:
    return raw.TensorListSetItem(input_handle=handle, index=index, item=row, resize_if_index_out_of_bounds=grows)


def pushed_until(x: Any, limit: float) -> Any:
    return tf.while_loop(
        lambda i, handle: tf.logical_and(i < 3, tf.reduce_sum(x) * tf.cast(i, TYPE) < limit),
        lambda i, handle: (i + 1, push(handle, x[0] + tf.cast(i, TYPE))),
        (tf.constant(0), empty(-1)),
    )[1]


def longer_in_the_body(x: Any, after: bool) -> Any:
    """Each iteration creates a list longer than the loop's list by one or two, and keeps its last two elements."""

    def body(i: Any, handle: Any, last: Any) -> Any:
        pushed = push(handle, x[0] + tf.cast(i, TYPE))
        longer = push(pushed, x[1]) if after else push(push(handle, x[2]), x[1])
        end = raw.TensorListLength(input_handle=longer)
        return i + 1, pushed, tf.stack([get(longer, end - 2), get(longer, end - 1)])

    return tf.while_loop(lambda i, *_: i < 3, body, (tf.constant(0), empty(-1), x[:2]))[2]


def pushed_and_popped(x: Any) -> Any:
    handle = push(empty(3), x[0])
    rest, last = pop(handle)
    return last, raw.TensorListLength(input_handle=handle), raw.TensorListLength(input_handle=rest)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "room is left": lambda x: stack(push(empty(2), x[0])),
    "no room is left": lambda x: stack(push(push(empty(2), x[0]), x[1])),
    "pushed onto rows": lambda x: stack(push(rows_of(x), x[0])),
    "pushed beyond the room": lambda x: pop(push(push(empty(1), x[0]), x[1]))[1],
    "popped when empty": lambda x: pop(pop(push(empty(2), x[0]))[0])[1],
    "pushed and popped": pushed_and_popped,
    "a loop whose body pushes onto its list twice": lambda x: longer_in_the_body(x, False),
    "a loop whose body pushes onto its new list": lambda x: longer_in_the_body(x, True),
    "a loop that ends early, stacked": lambda x: stack(pushed_until(x, 20.0)),
    "a loop that ends early, joined": lambda x: raw.TensorListConcatV2(
        input_handle=pushed_until(x, 20.0),
        element_shape=[2],
        leading_dims=tf.constant([], tf.int64),
        element_dtype=TYPE,
    ),
    "a loop that does not end early": lambda x: stack(pushed_until(x, 200.0)),
    "read beyond what was pushed": lambda x: get(push(empty(3), x[0]), 1),
    "stacked as too few": lambda x: stack(rows_of(x), 2),
    "stacked as too many": lambda x: stack(rows_of(x), 5),
    "made longer": lambda x: stack(
        set_item(raw.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=TYPE), 3, x[0], grows=True)
    ),
}

INDEXED: dict[str, Callable[[Any, Any], Any]] = {
    "get": lambda x, i: get(rows_of(x), i),
    "set": lambda x, i: stack(set_item(rows_of(x), i, x[0])),
    "gather": lambda x, i: gather(rows_of(x), tf.stack([2, i])),
}


def outcome(device: str, function: Callable[..., Any], *arguments: Any) -> Any:
    with tf.device(device):
        try:
            return tf.function(function)(*[tf.constant(argument) for argument in arguments])
        except tf.errors.OpError as error:
            return error


def assert_same(function: Callable[..., Any], *arguments: Any) -> None:
    expected, found = (outcome(device, function, *arguments) for device in (CPU, HPU))
    if isinstance(expected, Exception):
        assert type(found) is type(expected), found
    else:
        assert_close(found, expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_lengths(name: str) -> None:
    assert_same(PROGRAMS[name], X)


@pytest.mark.parametrize("index", [0, 2, 3, -1])
@pytest.mark.parametrize("name", INDEXED)
def test_indices(name: str, index: int) -> None:
    assert_same(INDEXED[name], X, np.int32(index))
    assert_same(lambda x: INDEXED[name](x, tf.constant(index)), X)


def reading(turns: int) -> Callable[[Any], Any]:
    def loop(x: Any) -> Any:
        rows = tf.TensorArray(TYPE, 3, clear_after_read=False).unstack(x)
        total = tf.zeros([2])
        for i in tf.range(turns):
            total += rows.read(i)
        return total

    return loop


def writing(turns: int) -> Callable[[Any], Any]:
    def loop(x: Any) -> Any:
        rows = tf.TensorArray(TYPE, 3, element_shape=[2])
        for i in tf.range(turns):
            rows = rows.write(i, x[0] + tf.cast(i, TYPE))
        return rows.stack()

    return loop


@pytest.mark.parametrize("turns", [2, 3, 4])
@pytest.mark.parametrize("loop", [reading, writing])
def test_loops_over_arrays(loop: Callable[[int], Callable[[Any], Any]], turns: int) -> None:
    assert_same(loop(turns), X)


@pytest.mark.parametrize("loop", [reading, writing])
def test_loops_within_their_arrays_stay_whole(loop: Callable[[int], Callable[[Any], Any]]) -> None:
    with tf.device(HPU):
        graph = htf.explain(tf.function(loop(3)), tf.constant(X))
    (whole,) = (op for report in graph.graphs for op in report.ops if "While" in op.type)
    assert whole.cluster is not None
