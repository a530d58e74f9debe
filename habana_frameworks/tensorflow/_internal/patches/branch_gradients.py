"""Gradients of branches (tf.cond, tf.case, tf.switch_case) that compile together with the branches."""

from __future__ import annotations

import functools
import threading
from typing import Any


def install() -> None:
    """Makes a branch return the tensors that its gradient needs, instead of optionals of them. Idempotent.

    The other branches return placeholders, FakeParam ops. With jit_compile=True, TensorFlow does the same
    (tensorflow/python/ops/cond_v2.py), because the compiler has no optionals.
    """
    from tensorflow.python.framework import dtypes
    from tensorflow.python.ops import cond_v2, gen_functional_ops

    if isinstance(cond_v2.control_flow_util, _KeepsTensors):
        return
    keeps = cond_v2.control_flow_util = _KeepsTensors()
    gradient: Any = cond_v2._CondGradFuncGraph
    capture = gradient._capture_helper

    @functools.wraps(capture)
    def capture_handle(self: Any, tensor: Any, name: Any) -> Any:
        """Captures the branch's argument for a handle that the branch passes on."""
        keeps.tensors = tensor.dtype != dtypes.resource
        try:
            return capture(self, tensor, name)
        finally:
            keeps.tensors = True

    def placeholders(function: Any, like: list[Any]) -> list[Any]:
        """Unlike TensorFlow's own, these have the shapes that are known, instead of 0 for an unknown size."""
        with function.as_default():
            return [gen_functional_ops.fake_param(dtype=tensor.dtype, shape=tensor.shape) for tensor in like]

    gradient._capture_helper = capture_handle
    cond_v2._create_fakeparams = placeholders


class _KeepsTensors(threading.local):
    """The part of control_flow_util that cond_v2 uses."""

    tensors = True

    def GraphOrParentsInXlaContext(self, graph: Any) -> bool:  # noqa: N802 (TensorFlow's name)
        return self.tensors and not _is_of_a_call(graph)


def _is_of_a_call(graph: Any) -> bool:
    """Whether `graph` is, or is in, the gradient of a call of a tf.function, with a tape outside the function.

    With placeholders of unknown shape, second gradients of such calls have failed in ops of branches that do not run.
    """
    while graph is not None:
        if str(getattr(graph, "name", "")).startswith("__backward_"):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False
