"""TensorLists as values of branches, loops and calls; TensorArrays within a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tests.ops.chains.kinds import kind
from tests.ops.chains.program import Step
from tests.ops.chains.scope import Scope, Value, known
from tests.ops.chains.shapes import ranked, small

ops = tf.raw_ops


def _list(step: Step, scope: Scope) -> Value | None:
    return scope.pick(step, "list", lambda value: bool(value.element))


def _enter(step: Step, scope: Scope, text: str, tensor: Any, element: str) -> None:
    scope.note(f"t{step.number} = {text}  # list of {element}")
    scope.add(step, tensor, False, element)


# Elements have three numbers, so that each element fits in each list of its dtype.
SHAPE = (3,)


@kind(weight=3)
def list_made(step: Step, scope: Scope) -> None:
    element = step.choose("type", scope.program.types)
    form = step.choose("form", ("reserved", "empty", "of a tensor", "split"))
    shape = tf.constant(SHAPE, tf.int32)
    value = scope.pick(step, "x", lambda v: known(v) and v.shape.rank == 2 and list(v.shape)[1:] == list(SHAPE))
    if form == "of a tensor" and value is not None:
        made = ops.TensorListFromTensor(tensor=value.tensor, element_shape=shape)
        _enter(step, scope, f"list of the rows of {value.name}", made, value.dtype)
    elif form == "split" and value is not None and value.shape[0] > 1:
        made = ops.TensorListSplit(
            tensor=tf.reshape(value.tensor, [-1]),
            element_shape=shape,
            lengths=tf.constant([3] * value.shape[0], tf.int64),
        )
        _enter(step, scope, f"list split of {value.name}", made, value.dtype)
    elif form == "empty":
        made = ops.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=element)
        _enter(step, scope, "empty list", made, element)
    else:
        made = ops.TensorListReserve(element_shape=shape, num_elements=2, element_dtype=element)
        _enter(step, scope, "list of 2", made, element)


@kind(weight=4)
def list_changed(step: Step, scope: Scope) -> None:
    found = _list(step, scope)
    if found is None:
        return
    form = step.choose("form", ("push", "push", "set", "pop", "resize"))
    value = scope.need(step, "x", found.element, SHAPE)
    if form == "push":
        made = ops.TensorListPushBack(input_handle=found.tensor, tensor=value.tensor)
        _enter(step, scope, f"push({found.name}, {value.name})", made, found.element)
    elif form == "set":
        grown = ops.TensorListResize(input_handle=found.tensor, size=2)
        made = ops.TensorListSetItem(input_handle=grown, index=step.draw("index", 2), item=value.tensor)
        _enter(step, scope, f"set({found.name} of 2, {value.name})", made, found.element)
    elif form == "resize":
        made = ops.TensorListResize(input_handle=found.tensor, size=3)
        _enter(step, scope, f"resize({found.name}, 3)", made, found.element)
    else:
        pushed = ops.TensorListPushBack(input_handle=found.tensor, tensor=value.tensor)
        made, item = ops.TensorListPopBack(input_handle=pushed, element_shape=SHAPE, element_dtype=found.element)
        _enter(step, scope, f"push and pop({found.name}, {value.name})", made, found.element)
        scope.add(step, item, False)


@kind(weight=4)
def list_read(step: Step, scope: Scope) -> None:
    found = _list(step, scope)
    if found is None:
        return
    element = found.element
    form = step.choose("form", ("stack", "stack", "length", "get", "gather", "concat"))
    handle = found.tensor
    functions: dict[str, Callable[[Any], Any]] = {
        "stack": lambda x: ops.TensorListStack(input_handle=x, element_shape=SHAPE, element_dtype=element),
        "length": lambda x: ops.TensorListLength(input_handle=x),
        "get": lambda x: ops.TensorListGetItem(
            input_handle=ops.TensorListResize(input_handle=x, size=2),
            index=1,
            element_shape=SHAPE,
            element_dtype=element,
        ),
        "gather": lambda x: ops.TensorListGather(
            input_handle=ops.TensorListResize(input_handle=x, size=2),
            indices=[1, 0],
            element_shape=SHAPE,
            element_dtype=element,
        ),
        "concat": lambda x: ops.TensorListConcatV2(
            input_handle=x,
            element_shape=SHAPE,
            leading_dims=tf.constant([], tf.int64),
            element_dtype=element,
        )[0],
    }
    scope.note(f"t{step.number} = {form} of {found.name}")
    scope.add(step, functions[form](handle), False)


@kind(weight=4)
def tensor_array(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: small(v) and v.dtype != "string")
    if value is None:
        return
    other = scope.need(step, "y", value.dtype, list(value.shape))
    form = step.choose("form", ("stack", "unstack", "read", "gather", "grown", "size"))
    unstacked = form == "unstack" and ranked(1)(value)
    size = value.shape[0] if unstacked else 0 if form == "grown" else 2
    made = tf.TensorArray(value.tensor.dtype, size=size, dynamic_size=form == "grown", clear_after_read=False)
    if unstacked:
        made = made.unstack(value.tensor)
        tensor = made.stack()
    else:
        made = made.write(0, value.tensor).write(1, other.tensor)
        results: dict[str, Callable[[], Any]] = {
            "read": lambda: made.read(1),
            "gather": lambda: made.gather([1, 0, 1]),
            "size": made.size,
        }
        tensor = results.get(form, made.stack)()
    scope.note(f"t{step.number} = TensorArray {form}({value.name}, {other.name})")
    scope.add(step, tensor, False)
