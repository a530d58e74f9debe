"""Loops, branches and calls with values of one dtype, compared with the CPU.

test_control_flow.py runs these cases in separate processes. Some processes have settings that keep the ops out of
clusters, and a kernel that reads device memory on the host crashes its process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

TYPES = [tf.int32, tf.int64, tf.float32, tf.bool, tf.int8, tf.uint8, tf.bfloat16, tf.complex64, tf.string]


def _values(dtype: tf.DType, shape: tuple[int, ...]) -> Any:
    numbers = np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
    if dtype == tf.string:
        return np.vectorize(str, otypes=[object])(numbers) if shape else "1"
    return (numbers % 2 if dtype == tf.bool else numbers).astype(dtype.as_numpy_dtype)


def _one(x: tf.Tensor) -> tf.Tensor:
    if x.dtype == tf.string:
        return x + "a"
    return tf.logical_not(x) if x.dtype == tf.bool else x + tf.ones_like(x)


def _other(x: tf.Tensor) -> tf.Tensor:
    return _one(_one(_one(x)))


def _count(x: tf.Tensor, body: Callable[[tf.Tensor], tf.Tensor], turns: int, **options: Any) -> Any:
    return tf.while_loop(lambda i, _: i < turns, lambda i, x: (i + 1, body(x)), (tf.constant(0), x), **options)


@tf.function
def _called(x: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    return tf.switch_case(index, [lambda: _one(x), lambda: _other(x)])


@tf.function(experimental_attributes={"_noinline": True})
def _called_as_it_is(x: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    return tf.switch_case(index, [lambda: _one(x), lambda: _other(x)])


def _raw_if(x: tf.Tensor, index: tf.Tensor) -> Any:
    """If without the attribute that makes TensorFlow lower it."""
    signature = [tf.TensorSpec(x.shape, x.dtype)]
    branches = [tf.function(body, input_signature=signature).get_concrete_function() for body in (_one, _other)]
    return tf.raw_ops.If(
        cond=tf.equal(index, 0), input=[x], Tout=[x.dtype], then_branch=branches[0], else_branch=branches[1]
    )


def _raw_if_of(predicate: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor, tf.Tensor], Any]:
    """Functional branches accept predicates of any type and shape: numbers other than 0, and arrays with elements."""

    def build(x: tf.Tensor, index: tf.Tensor) -> Any:
        signature = [tf.TensorSpec(x.shape, x.dtype)]
        branches = [tf.function(body, input_signature=signature).get_concrete_function() for body in (_one, _other)]
        return [
            operation(
                cond=predicate(index), input=[x], Tout=[x.dtype], then_branch=branches[0], else_branch=branches[1]
            )
            for operation in (tf.raw_ops.If, tf.raw_ops.StatelessIf)
        ]

    return build


def _raw_while_of(condition: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor, tf.Tensor], Any]:
    """Two turns. `condition` converts a number to a condition."""

    def build(x: tf.Tensor, _: tf.Tensor) -> Any:
        signature = [tf.TensorSpec([], tf.int32), tf.TensorSpec(x.shape, x.dtype)]
        cond = tf.function(lambda i, _: condition(i), input_signature=signature).get_concrete_function()
        body = tf.function(lambda i, x: (i - 1, _one(x)), input_signature=signature).get_concrete_function()
        return [
            operation(input=[tf.constant(2), x], cond=cond, body=body)
            for operation in (tf.raw_ops.While, tf.raw_ops.StatelessWhile)
        ]

    return build


def _loop_beside_a_call(x: tf.Tensor, _: tf.Tensor) -> Any:
    """After inlining, only the loop is connected to the graph's inputs and outputs."""
    y = tf.function(tf.identity)(x)
    return tf.cond(tf.constant(True), lambda: tf.identity(y), lambda: _count(y, _one, 0)[1])


CONSTRUCTS: dict[str, Callable[[tf.Tensor, tf.Tensor], Any]] = {
    "case": lambda x, i: tf.switch_case(i, [lambda: _one(x), lambda: _other(x)]),
    "case of more": lambda x, i: tf.switch_case(i + 7, [lambda: _one(x), lambda: x], default=lambda: _other(x)),
    "cond": lambda x, i: tf.cond(tf.equal(i, 0), lambda: _one(x), lambda: _other(x)),
    "cond that passes on": lambda x, i: tf.cond(tf.equal(i, 0), lambda: x, lambda: _other(x)),
    "conds": lambda x, i: tf.case([(tf.equal(i, 1), lambda: _one(x)), (i > 5, lambda: x)], default=lambda: _other(x)),
    "while": lambda x, _: _count(x, _one, 3),
    "while without turns": lambda x, _: _count(x, _one, 3, maximum_iterations=0),
    "bounded while": lambda x, i: _count(x, _one, 3, maximum_iterations=i + 1),
    "cond in while": lambda x, i: _count(x, lambda y: tf.cond(tf.equal(i, 0), lambda: _one(y), lambda: _other(y)), 2),
    "while in cond": lambda x, i: tf.cond(tf.equal(i, 0), lambda: _count(x, _one, 2)[1], lambda: x),
    "loop beside a call": _loop_beside_a_call,
    "raw if of a vector": _raw_if_of(lambda i: tf.reshape(tf.equal(i, 7), [1])),
    "raw if of vectors": _raw_if_of(lambda i: tf.fill([2, 2], tf.equal(i, 7))),
    "raw if of nothing": _raw_if_of(lambda i: tf.zeros([0], tf.bool) & tf.equal(i, 0)),
    "raw if of a number": _raw_if_of(lambda i: i),
    "raw if of numbers": _raw_if_of(lambda i: tf.cast(tf.fill([3], i), tf.float32)),
    "raw while of a number": _raw_while_of(lambda i: i),
    "raw while of numbers": _raw_while_of(lambda i: tf.ones([i])),
    "call": _called,
    "call in cond": lambda x, i: tf.cond(tf.equal(i, 0), lambda: _called(x, i), lambda: x),
    "call as it is": _called_as_it_is,
    "size": lambda x, i: tf.fill([tf.switch_case(i, [lambda: tf.size(x) + 1, lambda: tf.size(x)])], 1.0),
    "beside numbers": lambda x, i: (tf.cond(tf.equal(i, 0), lambda: _one(x), lambda: x), tf.ones([2]) * 3.0),
    "beside text": lambda x, i: (
        tf.cond(tf.equal(i, 0), lambda: (_one(x), "a"), lambda: (x, "b")),
        tf.as_string(tf.switch_case(i, [lambda: i + 1, lambda: i])),
    ),
}


def _number(value: Any) -> Any:
    array = value.numpy() if tf.is_tensor(value) else value
    return array.tolist() if hasattr(array, "tolist") else array


def _numbers(values: Any) -> list[Any]:
    return [_number(value) for value in tf.nest.flatten(values)]


def _call(build: Callable[..., Any], values: Any, index: int, device: str) -> list[Any]:
    with tf.device(device):
        return _numbers(tf.function(build)(tf.constant(values), tf.constant(index)))


def _call_constant(build: Callable[..., Any], values: Any, index: int, device: str) -> list[Any]:
    with tf.device(device):
        return _numbers(tf.function(lambda: build(tf.constant(values), tf.constant(index)))())


def _session(build: Callable[..., Any], values: Any, index: int, device: str, *, fed: bool) -> list[Any]:
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session, tf.device(device):
        x, i = tf.constant(values), tf.constant(index)
        if fed:
            x = tf.compat.v1.placeholder_with_default(x, x.shape)
            i = tf.compat.v1.placeholder_with_default(i, [])
        return _numbers(session.run(build(x, i)))


RUNS: dict[str, Callable[..., list[Any]]] = {
    "arguments": _call,
    "constants": _call_constant,
    "session": lambda *arguments: _session(*arguments, fed=False),
    "fed session": lambda *arguments: _session(*arguments, fed=True),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_whole_numbers(construct: str, run: str) -> None:
    values = _values(tf.int32, (2,))
    for index in (0, 1):
        expected, actual = (RUNS[run](CONSTRUCTS[construct], values, index, device) for device in (CPU, HPU))
        assert actual == expected


@pytest.mark.parametrize("construct", ["case", "cond that passes on", "while", "loop beside a call", "call as it is"])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: str(dtype.name))
def test_types(dtype: tf.DType, construct: str) -> None:
    for shape in ((), (0, 3), (2, 1)):
        values = _values(dtype, shape)
        if not shape and dtype == tf.string:
            values = np.asarray(values, object)
        expected, actual = (RUNS["arguments"](CONSTRUCTS[construct], values, 1, device) for device in (CPU, HPU))
        assert actual == expected


@pytest.mark.parametrize("index", [-1, 2, 2**31 - 1])
@pytest.mark.parametrize("run", RUNS)
def test_case_out_of_range(run: str, index: int) -> None:
    values = _values(tf.int32, (2,))
    expected, actual = (RUNS[run](CONSTRUCTS["case"], values, index, device) for device in (CPU, HPU))
    assert actual == expected


@pytest.mark.parametrize("dtype", [d for d in TYPES if d != tf.string], ids=lambda dtype: str(dtype.name))
def test_branches_that_are_not_lowered(dtype: tf.DType) -> None:
    values = _values(dtype, (2,))
    for index in (0, 1):
        for run in ("arguments", "constants"):
            expected, actual = (RUNS[run](_raw_if, values, index, device) for device in (CPU, HPU))
            assert actual == expected
        with tf.device(HPU):
            assert _numbers(_raw_if(tf.constant(values), tf.constant(index))) == expected


def test_handles_pass_through() -> None:
    with tf.device(HPU):
        variables = [tf.Variable([1, 2]), tf.Variable([3, 4])]
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int32, -1)
        table.insert(tf.constant(["a"]), tf.constant([5]))

        @tf.function
        def update(i: tf.Tensor, key: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            chosen = tf.switch_case(
                i, [lambda: variables[0].assign_add([1, 1]), lambda: variables[1].assign_add([1, i])]
            )
            found = tf.cond(tf.equal(i, 0), lambda: table.lookup(key), lambda: tf.constant([7]))
            items = tf.TensorArray(tf.int32, 3)
            items = tf.cond(tf.equal(i, 0), lambda: items.write(0, [i + 1]), lambda: items.write(0, [i + 2]))
            for index in range(1, 3):
                items = items.write(index, [index])
            return chosen, found, items.stack()

        first = update(tf.constant(0), tf.constant(["a"]))
        second = update(tf.constant(1), tf.constant(["b"]))
    assert _numbers(first) == [[2, 3], [5], [[1], [1], [2]]]
    assert _numbers(second) == [[4, 5], [7], [[3], [1], [2]]]


PAIR = [tf.TensorSpec([2], tf.float32), tf.TensorSpec([2], tf.int32)]


def _for(x: tf.Tensor, y: tf.Tensor) -> Any:
    signature = [tf.TensorSpec([], tf.int32), *PAIR]
    body = tf.function(lambda i, x, y: (x * 2.0, y + i), input_signature=signature).get_concrete_function()
    return tf.raw_ops.For(start=0, limit=3, delta=1, input=[x, y], body=body)


def _remote_call(device: str) -> Callable[..., Any]:
    def run(x: tf.Tensor, y: tf.Tensor) -> Any:
        body = tf.function(lambda x, y: (x * 2.0, y + 1), input_signature=PAIR).get_concrete_function()
        target = "/job:localhost/replica:0/task:0" + device
        return tf.raw_ops.RemoteCall(target=target, args=[x, y], Tout=[tf.float32, tf.int32], f=body)

    return run


def _batch(x: tf.Tensor, y: tf.Tensor) -> Any:
    return tf.nondifferentiable_batch_function(1, 4, 1000)(lambda x, y: (x * 2.0, y + 1))(x, y)


def _while(condition: Callable[[tf.Tensor], tf.Tensor]) -> Callable[..., Any]:
    def run(x: tf.Tensor, y: tf.Tensor) -> Any:
        head = tf.function(lambda x, y: condition(y[0]), input_signature=PAIR).get_concrete_function()
        body = tf.function(lambda x, y: (x * 2.0, y - 1), input_signature=PAIR).get_concrete_function()
        return tf.raw_ops.While(input=[x, y], cond=head, body=body)

    return run


def _if_of_strings(x: tf.Tensor, y: tf.Tensor) -> Any:
    branches = [
        tf.function(branch, input_signature=PAIR).get_concrete_function()
        for branch in (lambda x, y: tf.as_string(y), lambda x, y: tf.as_string(x))
    ]
    return tf.raw_ops.If(
        cond=y[0] > 0, input=[x, y], Tout=[tf.string], then_branch=branches[0], else_branch=branches[1]
    )


def _if(condition: Callable[[tf.Tensor], tf.Tensor]) -> Callable[..., Any]:
    def run(x: tf.Tensor, y: tf.Tensor) -> Any:
        branches = [
            tf.function(branch, input_signature=PAIR).get_concrete_function()
            for branch in (lambda x, y: x * 2.0, lambda x, y: x + 1.0)
        ]
        return tf.raw_ops.If(
            cond=condition(y[0]), input=[x, y], Tout=[tf.float32], then_branch=branches[0], else_branch=branches[1]
        )

    return run


FUNCTIONAL_OPS: dict[str, Callable[..., Any]] = {
    "for": _for,
    "remote call": _remote_call(HPU),
    "remote call to the CPU": _remote_call(CPU),
    "batch": _batch,
    "while of int64": _while(lambda n: tf.cast(n, tf.int64)),
    "while of int32": _while(lambda n: n),
    "while of float": _while(lambda n: tf.cast(n, tf.float32)),
    "while of text": _while(lambda n: tf.where(n > 0, "more", "")),
    "if of strings": _if_of_strings,
    "if of int32": _if(lambda n: n),
    "if of float": _if(lambda n: tf.cast(n, tf.float32) - 3.0),
    "if of text": _if(lambda n: tf.where(n > 0, "", "text")),
}


@pytest.mark.parametrize("wrap", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("op", FUNCTIONAL_OPS)
def test_ops_that_run_functions(op: str, wrap: bool) -> None:
    call = tf.function(FUNCTIONAL_OPS[op]) if wrap else FUNCTIONAL_OPS[op]
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            results.append(_numbers(call(tf.constant([1.0, 2.0]), tf.constant([3, 4]))))
    assert results[1] == results[0]


def test_ops_without_a_lowering() -> None:
    """Ops whose DEVICE_DEFAULT kernels do not make them compilable."""

    @tf.function
    def through(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        name = f"stage {x.dtype.name}"
        with tf.control_dependencies([tf.raw_ops.Stage(values=[x + x], shared_name=name)]):
            (staged,) = tf.raw_ops.Unstage(dtypes=[x.dtype], shared_name=name)
        queue = tf.raw_ops.FIFOQueueV2(component_types=[x.dtype], shared_name=name)
        with tf.control_dependencies([tf.raw_ops.QueueEnqueueV2(handle=queue, components=[x * x])]):
            (queued,) = tf.raw_ops.QueueDequeueV2(handle=queue, component_types=[x.dtype])
        return staged + x, queued + x

    with tf.device(HPU):
        for x in (tf.constant([1.0, 2.0]), tf.constant([1, 2])):
            assert _numbers(through(x)) == [[3, 6], [2, 6]]


def test_session_that_runs_in_parts() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        a, b = (tf.compat.v1.placeholder(tf.int32, []) for _ in range(2))
        first = tf.cond(a > 0, lambda: a + 1, lambda: a + 2)
        second = tf.switch_case(b, [lambda: first * b, lambda: first + b])
        third = tf.while_loop(lambda i: i < second, lambda i: i + 2, [0])
        parts = session.partial_run_setup([first, second, third], [a, b])
        value = session.partial_run(parts, first, {a: 1})
        assert value == 2
        assert session.partial_run(parts, [second, third], {b: value - 1}) == [3, [4]]


@pytest.mark.parametrize("device", [CPU, HPU])
@pytest.mark.parametrize("folded", ["constant", "rank", "sum of a rank"])
def test_side_effects_of_a_case_whose_index_folds(folded: str, device: str) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session, tf.device(device):
        x = tf.compat.v1.placeholder(tf.int32, [None])
        total = tf.Variable(0.5)

        def adding(amount: float) -> Callable[[], tf.Tensor]:
            def branch() -> tf.Tensor:
                with tf.control_dependencies([total.assign_add(amount, read_value=False)]):
                    return tf.identity(x)

            return branch

        rank = tf.raw_ops.Rank(input=x)
        index = {"constant": tf.constant(1), "rank": rank, "sum of a rank": tf.reduce_sum(rank)}[folded]
        y = tf.switch_case(index, [adding(1.0), adding(10.0)])
        session.run(total.initializer)
        for run in (1, 2):
            assert session.run(y, {x: [3, 4]}).tolist() == [3, 4]
            assert session.run(total.read_value()) == 0.5 + 10.0 * run
