"""TensorList ops on the HPU, op by op, compared with the CPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")

DTYPES = [tf.float32, tf.bfloat16, tf.float16, tf.int32, tf.int8, tf.bool, tf.int64, tf.float64]
raw = tf.raw_ops


def make(dtype: tf.DType, *shape: int) -> tf.Tensor:
    """Returns a tensor on the current device, whose adjacent values differ."""
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    return tf.constant((numbers % 2 if dtype == tf.bool else numbers).astype(dtype.as_numpy_dtype))


@pytest.mark.parametrize("dtype", DTYPES)
class TestEachType:
    """All ops that move elements, for one element type."""

    def test_from_tensor_and_back(self, dtype: tf.DType) -> None:
        def run() -> list[tf.Tensor]:
            tensor = make(dtype, 4, 3)
            handle = raw.TensorListFromTensor(tensor=tensor, element_shape=[3])
            return [
                raw.TensorListStack(input_handle=handle, element_shape=[-1], element_dtype=dtype),
                raw.TensorListGather(input_handle=handle, indices=[3, 0, 3], element_shape=[3], element_dtype=dtype),
                raw.TensorListGetItem(input_handle=handle, index=2, element_shape=[3], element_dtype=dtype),
                raw.TensorListLength(input_handle=handle),
                raw.TensorListElementShape(input_handle=handle, shape_type=tf.int32),
            ]

        assert_same_on_hpu(run)

    def test_push_and_pop(self, dtype: tf.DType) -> None:
        def run() -> list[tf.Tensor]:
            empty = raw.EmptyTensorList(element_shape=[2], max_num_elements=3, element_dtype=dtype)
            one = raw.TensorListPushBack(input_handle=empty, tensor=make(dtype, 2))
            two = raw.TensorListPushBack(input_handle=one, tensor=make(dtype, 2, 2)[1])
            rest, last = raw.TensorListPopBack(input_handle=two, element_shape=[2], element_dtype=dtype)
            return [
                last,
                raw.TensorListStack(input_handle=two, element_shape=[2], element_dtype=dtype),
                raw.TensorListStack(input_handle=rest, element_shape=[2], element_dtype=dtype),
                raw.TensorListStack(input_handle=one, element_shape=[2], element_dtype=dtype),
            ]

        assert_same_on_hpu(run)

    def test_set_items_and_unset_ones(self, dtype: tf.DType) -> None:
        def run() -> list[tf.Tensor]:
            reserved = raw.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=dtype)
            handle = raw.TensorListSetItem(input_handle=reserved, index=1, item=make(dtype, 2))
            longer = raw.TensorListResize(input_handle=handle, size=4)
            shorter, last = raw.TensorListPopBack(input_handle=longer, element_shape=[2], element_dtype=dtype)
            return [
                last,
                raw.TensorListGetItem(input_handle=handle, index=0, element_shape=[2], element_dtype=dtype),
                raw.TensorListStack(input_handle=shorter, element_shape=[2], element_dtype=dtype),
                raw.TensorListGather(input_handle=longer, indices=[3, 1], element_shape=[2], element_dtype=dtype),
            ]

        assert_same_on_hpu(run)

    def test_concat_and_split(self, dtype: tf.DType) -> None:
        def run() -> list[tf.Tensor]:
            lengths = tf.constant([1, 0, 3], tf.int64)
            parts = raw.TensorListSplit(tensor=make(dtype, 4, 2), element_shape=[-1, 2], lengths=lengths)
            whole, found = raw.TensorListConcatV2(
                input_handle=parts, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64), element_dtype=dtype
            )
            reserved = raw.TensorListReserve(element_shape=[-1, 2], num_elements=2, element_dtype=dtype)
            with_unset = raw.TensorListSetItem(input_handle=reserved, index=1, item=make(dtype, 3, 2))
            padded, padded_lengths = raw.TensorListConcatV2(
                input_handle=with_unset,
                element_shape=[-1, 2],
                leading_dims=tf.constant([2, 3], tf.int64),
                element_dtype=dtype,
            )
            old, old_lengths = raw.TensorListConcat(input_handle=parts, element_dtype=dtype)
            return [whole, found, padded, padded_lengths, old, old_lengths]

        assert_same_on_hpu(run)

    def test_scatter(self, dtype: tf.DType) -> None:
        def run() -> list[tf.Tensor]:
            rows = make(dtype, 2, 3)
            old = raw.TensorListScatter(tensor=rows, indices=[2, 0], element_shape=[3])
            new = raw.TensorListScatterV2(tensor=rows, indices=[1, 3], element_shape=[3], num_elements=5)
            more = raw.TensorListScatterIntoExistingList(input_handle=new, tensor=rows, indices=[5, 1])
            joined = raw.TensorListConcatLists(input_a=old, input_b=more, element_dtype=dtype)
            return [
                raw.TensorListStack(input_handle=handle, element_shape=[3], element_dtype=dtype)
                for handle in (old, new, more, joined)
            ]

        assert_same_on_hpu(run)

    def test_push_back_batch(self, dtype: tf.DType) -> None:
        def run() -> list[tf.Tensor]:
            handles = tf.stack(
                [raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=dtype) for _ in range(2)]
            )
            for _ in range(2):
                handles = raw.TensorListPushBackBatch(input_handles=handles, tensor=make(dtype, 2, 2))
            return [
                raw.TensorListStack(input_handle=handle, element_shape=[2], element_dtype=dtype)
                for handle in tf.unstack(handles)
            ]

        assert_same_on_hpu(run)

    def test_copies_of_whole_lists(self, dtype: tf.DType) -> None:
        with tf.device(CPU):
            tensor = make(dtype, 3, 2)
            on_host = raw.TensorListFromTensor(tensor=tensor, element_shape=[2])
        with tf.device(HPU):
            on_device = tf.identity(on_host)
            there = raw.TensorListStack(input_handle=on_device, element_shape=[2], element_dtype=dtype)
            item = raw.TensorListGetItem(input_handle=on_device, index=1, element_shape=[2], element_dtype=dtype)
            own = raw.TensorListFromTensor(tensor=tensor, element_shape=[2])
        assert there.numpy().tolist() == tensor.numpy().tolist()
        assert item.numpy().tolist() == tensor.numpy()[1].tolist()
        with tf.device(CPU):
            for handle in (on_device, own):
                back = raw.TensorListStack(input_handle=tf.identity(handle), element_shape=[2], element_dtype=dtype)
                assert back.numpy().tolist() == tensor.numpy().tolist()


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.int32, tf.int8, tf.int64])
def test_arithmetic_on_lists(dtype: tf.DType) -> None:
    def run() -> list[tf.Tensor]:
        full = raw.TensorListFromTensor(tensor=make(dtype, 3, 2), element_shape=[2])
        reserved = raw.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=dtype)
        partial = raw.TensorListSetItem(input_handle=reserved, index=1, item=make(dtype, 2))
        results = [tf.zeros_like(full), tf.zeros_like(partial), tf.add_n([full, partial]), tf.add_n([full] * 3)]
        return [raw.TensorListStack(input_handle=r, element_shape=[2], element_dtype=dtype) for r in results]

    assert_same_on_hpu(run)


def test_lists_of_lists() -> None:
    def run() -> list[tf.Tensor]:
        inner = [raw.TensorListFromTensor(tensor=make(tf.float32, n, 2), element_shape=[2]) for n in (1, 2)]
        outer = raw.EmptyTensorList(
            element_shape=tf.constant([], tf.int32), max_num_elements=-1, element_dtype=tf.variant
        )
        for handle in inner:
            outer = raw.TensorListPushBack(input_handle=outer, tensor=handle)
        doubled = tf.add_n([outer, outer])
        zeros = tf.zeros_like(outer)
        rest, last = raw.TensorListPopBack(
            input_handle=outer, element_shape=tf.constant([], tf.int32), element_dtype=tf.variant
        )
        found = [
            last,
            raw.TensorListGetItem(
                input_handle=rest, index=0, element_shape=tf.constant([], tf.int32), element_dtype=tf.variant
            ),
        ]
        for handle in (doubled, zeros):
            stacked = raw.TensorListStack(
                input_handle=handle, element_shape=tf.constant([], tf.int32), element_dtype=tf.variant
            )
            found += tf.unstack(stacked)
        return [raw.TensorListStack(input_handle=f, element_shape=[2], element_dtype=tf.float32) for f in found]

    assert_same_on_hpu(run)


def test_lists_of_strings_stay_on_the_cpu() -> None:
    @tf.function
    def join(x: tf.Tensor) -> tf.Tensor:
        return tf.map_fn(
            lambda row: tf.strings.join([tf.strings.as_string(row), "!"]), x, fn_output_signature=tf.string
        )

    with tf.device(HPU):
        assert join(tf.constant([1, 2])).numpy().tolist() == [b"1!", b"2!"]


@pytest.mark.parametrize("nested", [False, True])
def test_eager_ops_leave_lists_of_strings_in_host_memory(nested: bool) -> None:
    def run() -> tf.Tensor:
        shape = tf.constant([], tf.int32)
        handle = raw.TensorListFromTensor(tensor=tf.constant(["a", "b"]), element_shape=shape)
        if nested:
            outer = raw.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=tf.variant)
            outer = tf.identity(raw.TensorListPushBack(input_handle=outer, tensor=handle))
            handle = raw.TensorListPopBack(input_handle=outer, element_shape=shape, element_dtype=tf.variant)[1]
        for _ in range(4):  # more calls than HPU_EAGER_COMPILE_AFTER, so that the op is compiled
            handle = tf.identity(handle)
        return raw.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=tf.string)

    with tf.device(HPU):
        assert run().numpy().tolist() == [b"a", b"b"]


def _list(rows: int = 2) -> tf.Tensor:
    return raw.TensorListFromTensor(tensor=make(tf.float32, rows, 2), element_shape=[2])


def _empty(shape: Any = -1, limit: int = -1) -> tf.Tensor:
    return raw.EmptyTensorList(element_shape=shape, max_num_elements=limit, element_dtype=tf.float32)


F = tf.float32
MISUSES: dict[str, Callable[[], Any]] = {
    "index": lambda: raw.TensorListGetItem(input_handle=_list(), index=2, element_shape=[2], element_dtype=F),
    "type": lambda: raw.TensorListGetItem(input_handle=_list(), index=0, element_shape=[2], element_dtype=tf.int64),
    "shape of unset": lambda: raw.TensorListGetItem(
        input_handle=raw.TensorListReserve(element_shape=-1, num_elements=1, element_dtype=F),
        index=0,
        element_shape=-1,
        element_dtype=F,
    ),
    "merge": lambda: raw.TensorListStack(input_handle=_list(), element_shape=[3], element_dtype=F),
    "stack of none": lambda: raw.TensorListStack(input_handle=_empty(), element_shape=-1, element_dtype=F),
    "stack of unset": lambda: raw.TensorListStack(
        input_handle=raw.TensorListReserve(element_shape=-1, num_elements=1, element_dtype=F),
        element_shape=-1,
        element_dtype=F,
    ),
    "count": lambda: raw.TensorListStack(input_handle=_list(), element_shape=[2], element_dtype=F, num_elements=5),
    "pop": lambda: raw.TensorListPopBack(input_handle=_empty(), element_shape=[2], element_dtype=F),
    "full": lambda: raw.TensorListPushBack(input_handle=_empty([2], 0), tensor=make(F, 2)),
    "push shape": lambda: raw.TensorListPushBack(input_handle=_list(), tensor=make(F, 3)),
    "set index": lambda: raw.TensorListSetItem(input_handle=_list(), index=7, item=make(F, 2)),
    "set shape": lambda: raw.TensorListSetItem(input_handle=_list(), index=0, item=make(F, 3)),
    "gather": lambda: raw.TensorListGather(input_handle=_list(), indices=[9], element_shape=[2], element_dtype=F),
    "gather none": lambda: raw.TensorListGather(input_handle=_empty(), indices=[], element_shape=-1, element_dtype=F),
    "scalar": lambda: raw.TensorListFromTensor(tensor=1.0, element_shape=tf.constant([], tf.int32)),
    "rows": lambda: raw.TensorListFromTensor(tensor=make(F, 2, 2), element_shape=[3]),
    "lengths": lambda: raw.TensorListSplit(
        tensor=make(F, 3, 2), element_shape=[-1, 2], lengths=tf.constant([1], tf.int64)
    ),
    "too long": lambda: raw.TensorListSplit(
        tensor=make(F, 3, 2), element_shape=[-1, 2], lengths=tf.constant([4], tf.int64)
    ),
    "negative index": lambda: raw.TensorListScatterV2(
        tensor=make(F, 1, 2), indices=[-1], element_shape=[2], num_elements=2
    ),
    "scatter size": lambda: raw.TensorListScatterV2(
        tensor=make(F, 1, 2), indices=[2], element_shape=[2], num_elements=2
    ),
    "concat of scalars": lambda: raw.TensorListConcatV2(
        input_handle=raw.TensorListFromTensor(tensor=make(F, 2), element_shape=tf.constant([], tf.int32)),
        element_shape=tf.constant([], tf.int32),
        leading_dims=tf.constant([], tf.int64),
        element_dtype=F,
    ),
    "different shapes": lambda: tf.add_n([_list(2), _list(3)]),
}


@pytest.mark.parametrize("name", MISUSES)
def test_errors_read_as_the_cpus(name: str) -> None:
    messages = []
    for device in (CPU, HPU):
        with tf.device(device), pytest.raises(tf.errors.OpError) as raised:
            MISUSES[name]()
        message = re.sub(r"\s*\[\[.*?\]\]", "", raised.value.message)  # the node's name, which only some executors add
        messages.append((type(raised.value), message.replace("CPU", "HPU")))
    assert messages[0] == messages[1]


def test_elements_stay_on_the_device() -> None:
    """Pushing and stacking copies nothing through the host: the list references the pushed tensors."""
    with tf.device(HPU):
        x = tf.random.normal([256, 1024])
        before = tf.config.experimental.get_memory_info("HPU:0")["current"]
        handle = _empty([256, 1024])
        for _ in range(8):
            handle = raw.TensorListPushBack(input_handle=handle, tensor=x)
        after = tf.config.experimental.get_memory_info("HPU:0")["current"]
        assert after - before < 1 << 20, "a list shares its elements' memory"
        stacked = raw.TensorListStack(input_handle=handle, element_shape=[256, 1024], element_dtype=tf.float32)
        np.testing.assert_array_equal(stacked[7].numpy(), x.numpy())
