"""Gradients of while loops that compile for batches of any size, such as the last batch of a dataset."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

# Not TensorListLength and TensorListElementShape, for which the gradient would keep a list per iteration.
_OF_SHAPE = frozenset({"Rank", "Shape", "Size"})


def install() -> None:
    """Makes the gradient of a loop keep tensors of the forward loop instead of their shapes. Idempotent.

    The gradient of a broadcast sums over axes that follow from shapes. TensorFlow takes shapes of unknown size in the
    forward loop and keeps them in a list (tensorflow/python/ops/while_v2.py). What is read from a list is no constant,
    and axes must be constants for the compiler. With jit_compile=True, TensorFlow also keeps the tensors. They take
    memory until the gradient has run. Loops that the program places on a CPU are as before.
    """
    from tensorflow.python.ops import while_v2

    gradient: Any = while_v2._WhileBodyGradFuncGraph
    move = gradient._move_op_to_forward_graph
    if hasattr(move, "_replaced"):
        return

    @functools.wraps(move)
    def keep_tensor(self: Any, op_type: str, inputs: Sequence[Any], *arguments: Any, **named: Any) -> Any:
        if op_type not in _OF_SHAPE or any("CPU" in tensor.device for tensor in inputs):
            return move(self, op_type, inputs, *arguments, **named)
        return super(gradient, self)._create_op_internal(op_type, inputs, *arguments, **named)

    keep_tensor._replaced = move  # type: ignore[attr-defined]
    gradient._move_op_to_forward_graph = keep_tensor
