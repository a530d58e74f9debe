"""Makers for control flow and calls. Bodies compute in the argument's dtype, including integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import pick, raw, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.values import draw_array, draw_shape, draw_style

Rng = np.random.Generator
_TYPES = (tf.float32, tf.int32, tf.int64, tf.float64, tf.bfloat16, tf.bool)


def _value(rng: Rng) -> Array:
    return draw_array(rng, pick(rng, *_TYPES), draw_shape(rng, int(rng.integers(0, 3))), draw_style(rng))


def _twice(x: Any) -> Any:
    return tf.logical_not(x) if x.dtype == tf.bool else x + x


def _plus_one(x: Any) -> Any:
    return tf.logical_or(x, True) if x.dtype == tf.bool else x + tf.ones([], x.dtype)


def _concrete(body: Callable[..., Any], *values: Any) -> Any:
    specs = [tf.TensorSpec(value.shape, value.dtype) for value in values]
    return tf.function(body, autograph=False).get_concrete_function(*specs)


def _make_case(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        def function(x: Any, index: Any) -> Any:
            branches = [_concrete(body, x) for body in (_twice, _plus_one, tf.identity)]
            return raw(op)(branch_index=index, input=[x], Tout=[x.dtype], branches=branches, output_shapes=[x.shape])

        return run(function, x=_value(rng), index=whole(rng.integers(-1, 5)))


def _make_if(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        def function(x: Any, condition: Any) -> Any:
            one, other = _concrete(_twice, x), _concrete(_plus_one, x)
            return raw(op)(
                cond=condition, input=[x], Tout=[x.dtype], then_branch=one, else_branch=other, output_shapes=[x.shape]
            )

        condition = pick(rng, np.array(True), np.array(False), np.int32(3), np.float32(0), np.zeros([0], np.float32))
        return run(function, x=_value(rng), condition=np.asarray(condition))


def _make_while(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        def function(x: Any, count: Any) -> Any:
            def goes_on(i: Any, x: Any) -> Any:
                return i < 3

            def body(i: Any, x: Any) -> Any:
                return i + 1, _plus_one(x)

            condition, step = _concrete(goes_on, count, x), _concrete(body, count, x)
            return raw(op)(input=[count, x], cond=condition, body=step, output_shapes=[count.shape, x.shape])

        return run(function, x=_value(rng), count=whole(rng.integers(0, 5)))


for _op in ("Case", "StatelessCase"):
    _make_case(_op)
for _op in ("If", "StatelessIf"):
    _make_if(_op)
for _op in ("While", "StatelessWhile"):
    _make_while(_op)


@maker("For")
def make_for(rng: Rng) -> Program:
    def function(start: Any, limit: Any, delta: Any, x: Any) -> Any:
        body = _concrete(lambda i, x: _plus_one(x), start, x)
        return raw("For")(start=start, limit=limit, delta=delta, input=[x], body=body)

    start, limit, delta = whole(rng.integers(2)), whole(pick(rng, 0, 3)), whole(rng.integers(1, 3))
    return run(function, start=start, limit=limit, delta=delta, x=_value(rng))


def _make_call(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        def function(x: Any, y: Any) -> Any:
            body = _concrete(lambda x, y: (_twice(x), tf.identity(y)), x, y)
            return raw(op)(args=[x, y], Tout=[x.dtype, y.dtype], f=body)

        return run(function, x=_value(rng), y=_value(rng))


for _op in ("PartitionedCall", "StatefulPartitionedCall"):
    _make_call(_op)


@maker("RemoteCall")
def make_remote_call(rng: Rng) -> Program:
    def function(x: Any) -> Any:
        target = "/job:localhost/replica:0/task:0/device:CPU:0"
        return raw("RemoteCall")(target=target, args=[x], Tout=[x.dtype], f=_concrete(_twice, x))

    return run(function, x=_value(rng))


@maker("SymbolicGradient")
def make_symbolic_gradient(rng: Rng) -> Program:
    def function(x: Any, gradient: Any) -> Any:
        return raw("SymbolicGradient")(input=[x, gradient], Tout=[x.dtype], f=_concrete(lambda x: x * x, x))

    shape = draw_shape(rng, 2)
    return run(function, x=draw_array(rng, tf.float32, shape), gradient=draw_array(rng, tf.float32, shape))


@maker("BatchFunction")
def make_batch(rng: Rng) -> Program:
    def function(x: Any) -> Any:
        spec = tf.TensorSpec([None, *x.shape[1:]], x.dtype)
        body = tf.function(_twice, autograph=False).get_concrete_function(spec)
        return raw("BatchFunction")(
            in_tensors=[x], captured_tensors=[], f=body, num_batch_threads=1, max_batch_size=8,
            batch_timeout_micros=100, Tout=[x.dtype],
        )  # fmt: skip

    dtype = pick(rng, tf.float32, tf.int32, tf.int64)
    return run(function, x=draw_array(rng, dtype, (int(rng.integers(1, 5)), *draw_shape(rng, 1))))


def _make_flow(op: str) -> None:
    """Maker for the ops of loop frames."""

    @maker(op)
    def make(rng: Rng) -> Program:
        def function(x: Any, count: Any) -> Any:
            if tf.executing_eagerly():
                return tf.function(function, autograph=False)(x, count)
            return tf.while_loop(
                lambda i, x: i < count, lambda i, x: (i + 1, _plus_one(x)), [tf.constant(0), x], parallel_iterations=1
            )

        return run(function, x=_value(rng), count=whole(rng.integers(-1, 4)))


for _op in ("Enter", "Exit", "NextIteration", "LoopCond"):
    _make_flow(_op)


@maker("Switch", "Merge")
def make_switch(rng: Rng) -> Program:
    def function(x: Any, condition: Any) -> Any:
        if tf.executing_eagerly():
            return tf.function(function, autograph=False)(x, condition)
        switch = raw("Switch")(data=x, pred=condition)
        return raw("Merge")(inputs=[_twice(switch.output_true), _plus_one(switch.output_false)])

    return run(function, x=_value(rng), condition=np.asarray(bool(rng.integers(2))))
