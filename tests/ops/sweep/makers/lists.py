"""Makers for TensorList ops. Each call creates a list, runs the op, and returns the elements of the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import pick, raw, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.values import TYPES, draw_array, draw_shape, draw_style

Rng = np.random.Generator


def _elements(rng: Rng) -> Array:
    shape = (int(rng.integers(0, 5)), *draw_shape(rng, int(rng.integers(0, 3))))
    return draw_array(rng, pick(rng, *TYPES), shape, draw_style(rng))


def _list(tensor: Any) -> Any:
    return raw("TensorListFromTensor")(tensor=tensor, element_shape=_shape(tensor))


def _shape(tensor: Any) -> Any:
    return tf.constant(tensor.shape[1:].as_list() if tensor.shape.rank else [], tf.int32)


def _stack(handle: Any, tensor: Any) -> Any:
    return raw("TensorListStack")(input_handle=handle, element_shape=_shape(tensor), element_dtype=tensor.dtype)


@maker("TensorListFromTensor", "TensorListStack", "TensorListLength", "TensorListElementShape")
def make_stack(rng: Rng) -> Program:
    def function(tensor: Any) -> Any:
        handle = _list(tensor)
        shape = raw("TensorListElementShape")(input_handle=handle, shape_type=tf.int32)
        return _stack(handle, tensor), raw("TensorListLength")(input_handle=handle), shape

    return run(function, tensor=_elements(rng))


@maker("TensorListGetItem")
def make_get(rng: Rng) -> Program:
    def function(tensor: Any, index: Any) -> Any:
        return raw("TensorListGetItem")(
            input_handle=_list(tensor), index=index, element_shape=_shape(tensor), element_dtype=tensor.dtype
        )

    tensor = _elements(rng)
    return run(function, tensor=tensor, index=whole(rng.integers(0, max(1, len(tensor)))))


@maker("TensorListSetItem")
def make_set(rng: Rng) -> Program:
    def function(tensor: Any, index: Any, item: Any) -> Any:
        return _stack(raw("TensorListSetItem")(input_handle=_list(tensor), index=index, item=item), tensor)

    tensor = _elements(rng)
    item = draw_array(rng, tf.as_dtype(tensor.dtype), tensor.shape[1:])
    return run(function, tensor=tensor, index=whole(rng.integers(0, max(1, len(tensor)))), item=item)


@maker("TensorListPushBack", "TensorListPopBack")
def make_push(rng: Rng) -> Program:
    def function(tensor: Any, item: Any) -> Any:
        pushed = raw("TensorListPushBack")(input_handle=_list(tensor), tensor=item)
        pop = raw("TensorListPopBack")(input_handle=pushed, element_shape=_shape(tensor), element_dtype=tensor.dtype)
        return _stack(pushed, tensor), _stack(pop.output_handle, tensor), pop.tensor

    tensor = _elements(rng)
    return run(function, tensor=tensor, item=draw_array(rng, tf.as_dtype(tensor.dtype), tensor.shape[1:]))


@maker("EmptyTensorList")
def make_empty(rng: Rng) -> Program:
    def function(item: Any, size: Any) -> Any:
        shape = tf.constant(item.shape.as_list(), tf.int32)
        handle = raw("EmptyTensorList")(element_shape=shape, max_num_elements=size, element_dtype=item.dtype)
        pushed = raw("TensorListPushBack")(input_handle=handle, tensor=item)
        return raw("TensorListStack")(input_handle=pushed, element_shape=shape, element_dtype=item.dtype)

    return run(function, item=draw_array(rng, pick(rng, *TYPES), draw_shape(rng)), size=whole(rng.integers(-1, 3)))


@maker("TensorListReserve", "TensorListResize")
def make_reserve(rng: Rng) -> Program:
    def function(item: Any, count: Any, size: Any) -> Any:
        shape = tf.constant(item.shape.as_list(), tf.int32)
        handle = raw("TensorListReserve")(element_shape=shape, num_elements=count, element_dtype=item.dtype)
        handle = raw("TensorListSetItem")(input_handle=handle, index=0, item=item)
        handle = raw("TensorListResize")(input_handle=handle, size=size)
        return raw("TensorListStack")(input_handle=handle, element_shape=shape, element_dtype=item.dtype)

    item = draw_array(rng, pick(rng, *TYPES), draw_shape(rng))
    return run(function, item=item, count=whole(rng.integers(0, 4)), size=whole(rng.integers(0, 5)))


@maker("TensorListGather")
def make_gather(rng: Rng) -> Program:
    def function(tensor: Any, indices: Any) -> Any:
        return raw("TensorListGather")(
            input_handle=_list(tensor), indices=indices, element_shape=_shape(tensor), element_dtype=tensor.dtype
        )

    tensor = _elements(rng)
    return run(function, tensor=tensor, indices=whole(rng.integers(0, max(1, len(tensor)), int(rng.integers(0, 4)))))


@maker("TensorListScatter", "TensorListScatterV2")
def make_scatter(rng: Rng) -> Program:
    def function(tensor: Any, indices: Any, count: Any) -> Any:
        handle = raw("TensorListScatterV2")(
            tensor=tensor, indices=indices, element_shape=_shape(tensor), num_elements=count
        )
        old = raw("TensorListScatter")(tensor=tensor, indices=indices, element_shape=_shape(tensor))
        return _stack(handle, tensor), _stack(old, tensor)

    tensor = _elements(rng)
    return run(function, tensor=tensor, indices=whole(rng.permutation(len(tensor))), count=whole(pick(rng, -1, 6)))


@maker("TensorListScatterIntoExistingList")
def make_scatter_into(rng: Rng) -> Program:
    def function(tensor: Any, new: Any, indices: Any) -> Any:
        handle = raw("TensorListScatterIntoExistingList")(input_handle=_list(tensor), tensor=new, indices=indices)
        return _stack(handle, tensor)

    tensor = _elements(rng)
    some = int(rng.integers(0, len(tensor) + 1))
    new = draw_array(rng, tf.as_dtype(tensor.dtype), (some, *tensor.shape[1:]))
    return run(function, tensor=tensor, new=new, indices=whole(rng.permutation(len(tensor))[:some]))


@maker("TensorListSplit", "TensorListConcat", "TensorListConcatV2")
def make_split(rng: Rng) -> Program:
    def function(tensor: Any, lengths: Any) -> Any:
        shape = tf.constant([-1, *tensor.shape.as_list()[1:]], tf.int32)
        handle = raw("TensorListSplit")(tensor=tensor, element_shape=shape, lengths=lengths)
        joined = raw("TensorListConcatV2")(
            input_handle=handle, element_shape=shape, leading_dims=lengths, element_dtype=tensor.dtype
        )
        other = raw("TensorListConcat")(input_handle=handle, element_dtype=tensor.dtype)
        return joined.tensor, joined.lengths, other.tensor, other.lengths

    tensor = _elements(rng)
    cut = int(rng.integers(0, len(tensor) + 1))
    return run(function, tensor=tensor, lengths=whole([cut, len(tensor) - cut], tf.int64))


@maker("TensorListConcatLists", "TensorListPushBackBatch")
def make_lists(rng: Rng) -> Program:
    def function(one: Any, other: Any) -> Any:
        joined = raw("TensorListConcatLists")(input_a=_list(one), input_b=_list(other), element_dtype=one.dtype)
        handles = tf.stack([_list(one), _list(other)])
        items = tf.stack([tf.zeros(one.shape[1:], one.dtype), tf.ones(one.shape[1:], one.dtype)])
        pushed = raw("TensorListPushBackBatch")(input_handles=handles, tensor=items)
        return _stack(joined, one), _stack(tf.unstack(pushed)[0], one)

    one = _elements(rng)
    other = draw_array(rng, tf.as_dtype(one.dtype), (int(rng.integers(0, 3)), *one.shape[1:]))
    return run(function, one=one, other=other)
