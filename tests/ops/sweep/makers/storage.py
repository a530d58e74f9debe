"""Makers for queues, stacks, staging areas and TensorArrays.

Each call creates a container, adds elements, and removes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import pick, raw, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.values import TYPES, draw_array, draw_shape, draw_style

Rng = np.random.Generator
_made = [0]


def _name() -> str:
    """Returns a unique resource name."""
    _made[0] += 1
    return f"sweep_{_made[0]}"


def _value(rng: Rng) -> Array:
    return draw_array(rng, pick(rng, *TYPES), draw_shape(rng), draw_style(rng))


def _after(*operations: Any) -> Any:
    return tf.control_dependencies([op for op in operations if op is not None] if not tf.executing_eagerly() else [])


@maker("FIFOQueueV2", "QueueEnqueueV2", "QueueDequeueV2", "QueueSizeV2", "QueueIsClosedV2", "QueueCloseV2")
def make_queue(rng: Rng) -> Program:
    def function(x: Any, y: Any) -> Any:
        queue = raw("FIFOQueueV2")(component_types=[x.dtype, y.dtype], shapes=[x.shape, y.shape], shared_name=_name())
        with _after(raw("QueueEnqueueV2")(handle=queue, components=[x, y])):
            size = raw("QueueSizeV2")(handle=queue)
        with _after(size):
            taken = raw("QueueDequeueV2")(handle=queue, component_types=[x.dtype, y.dtype])
        with _after(*taken):
            close = raw("QueueCloseV2")(handle=queue)
        with _after(close):
            return size, taken, raw("QueueIsClosedV2")(handle=queue)

    return run(function, x=_value(rng), y=_value(rng))


@maker("StackV2", "StackPushV2", "StackPopV2", "StackCloseV2")
def make_stack(rng: Rng) -> Program:
    def function(x: Any, size: Any) -> Any:
        stack = raw("StackV2")(max_size=size, elem_type=x.dtype, stack_name=_name())
        pushed = raw("StackPushV2")(handle=stack, elem=x)
        with _after(pushed):
            popped = raw("StackPopV2")(handle=stack, elem_type=x.dtype)
        with _after(popped):
            close = raw("StackCloseV2")(handle=stack)
        with _after(close):
            return tf.identity(popped), tf.identity(pushed)

    return run(function, x=_value(rng), size=whole(pick(rng, -1, 1, 5)))


@maker("Stage", "Unstage", "StagePeek", "StageSize", "StageClear")
def make_stage(rng: Rng) -> Program:
    def function(x: Any) -> Any:
        options = {"dtypes": [x.dtype], "shared_name": _name()}
        with _after(raw("Stage")(values=[x], shared_name=options["shared_name"])):
            size, peek = raw("StageSize")(**options), raw("StagePeek")(index=0, **options)
        with _after(size, *peek):
            taken = raw("Unstage")(**options)
        with _after(*taken):
            clear = raw("StageClear")(**options)
        with _after(clear):
            return size, peek, [tf.identity(t) for t in taken]

    return run(function, x=_value(rng))


def _make_map(prefix: str) -> None:
    names = [f"{prefix}{part}" for part in _MAP_PARTS]

    @maker(*names)
    def make(rng: Rng) -> Program:
        def function(x: Any, key: Any) -> Any:
            options = {"dtypes": [x.dtype], "shared_name": _name()}
            indices = tf.constant([0])
            staged = raw(f"{prefix}Stage")(key=key, indices=indices, values=[x], **options)
            with _after(staged):
                size, peek = raw(f"{prefix}Size")(**options), raw(f"{prefix}Peek")(key=key, indices=indices, **options)
                incomplete = raw(f"{prefix}IncompleteSize")(**options)
            with _after(size, incomplete, *peek):
                taken = raw(f"{prefix}Unstage")(key=key, indices=indices, **options)
            with _after(*taken):
                again = raw(f"{prefix}Stage")(key=key, indices=indices, values=[x], **options)
            with _after(again):
                other = raw(f"{prefix}UnstageNoKey")(indices=indices, **options)
            with _after(*other.values):
                clear = raw(f"{prefix}Clear")(**options)
            with _after(clear):
                return size, incomplete, peek, [tf.identity(t) for t in taken], other.key, other.values

        return run(function, x=_value(rng), key=whole(rng.integers(0, 9), tf.int64))


_MAP_PARTS = ("Stage", "Unstage", "UnstageNoKey", "Peek", "Size", "IncompleteSize", "Clear")
_make_map("Map")
_make_map("OrderedMap")


_ARRAY_PARTS = ("", "Write", "Read", "Size", "Close", "Gather", "Scatter", "Concat", "Split")


@maker(*[f"TensorArray{part}V3" for part in _ARRAY_PARTS])
def make_tensor_array(rng: Rng) -> Program:
    def function(x: Any, index: Any) -> Any:
        array = raw("TensorArrayV3")(size=4, dtype=x.dtype, tensor_array_name=_name(), clear_after_read=False)
        flow = raw("TensorArrayWriteV3")(handle=array.handle, index=index, value=x, flow_in=array.flow)
        pair = tf.stack([x, x])
        flow = raw("TensorArrayScatterV3")(handle=array.handle, indices=[2, 3], value=pair, flow_in=flow)
        read = raw("TensorArrayReadV3")(handle=array.handle, index=index, flow_in=flow, dtype=x.dtype)
        gathered = raw("TensorArrayGatherV3")(handle=array.handle, indices=[3, index], flow_in=flow, dtype=x.dtype)
        size = raw("TensorArraySizeV3")(handle=array.handle, flow_in=flow)
        return read, gathered, size, *_split(x, pair)

    return run(function, x=_value(rng), index=whole(pick(rng, 0, 1)))


@maker("TensorArrayGradV3")
def make_array_gradient(rng: Rng) -> Program:
    def function(x: Any, index: Any) -> Any:
        array = raw("TensorArrayV3")(size=2, dtype=x.dtype, tensor_array_name=_name(), clear_after_read=False)
        flow = raw("TensorArrayScatterV3")(
            handle=array.handle, indices=[0, 1], value=tf.stack([x, x]), flow_in=array.flow
        )
        gradient = raw("TensorArrayGradV3")(handle=array.handle, flow_in=flow, source="gradients")
        flow = raw("TensorArrayWriteV3")(handle=gradient.grad_handle, index=index, value=x, flow_in=gradient.flow_out)
        return raw("TensorArrayReadV3")(handle=gradient.grad_handle, index=index, flow_in=flow, dtype=x.dtype)

    return run(function, x=_value(rng), index=whole(pick(rng, 0, 1)))


def _split(x: Any, pair: Any) -> Sequence[Any]:
    array = raw("TensorArrayV3")(size=2, dtype=x.dtype, tensor_array_name=_name(), clear_after_read=False)
    lengths = tf.constant([1, 1], tf.int64)
    flow = raw("TensorArraySplitV3")(handle=array.handle, value=pair, lengths=lengths, flow_in=array.flow)
    joined = raw("TensorArrayConcatV3")(handle=array.handle, flow_in=flow, dtype=x.dtype)
    with _after(joined.value):
        close = raw("TensorArrayCloseV3")(handle=array.handle)
    with _after(close):
        return [tf.identity(joined.value), joined.lengths]


@maker("MutexV2", "MutexLock", "ConsumeMutexLock")
def make_mutex(rng: Rng) -> Program:
    def function(x: Any) -> Any:
        lock = raw("MutexLock")(mutex=raw("MutexV2")(shared_name=_name()))
        with tf.control_dependencies([lock] if not tf.executing_eagerly() else []):
            y = tf.identity(x)
        with _after(y):
            end = raw("ConsumeMutexLock")(mutex_lock=lock)
        with _after(end):
            return tf.identity(y)

    return run(function, x=_value(rng))
