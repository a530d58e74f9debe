"""XLA's ops on the HPU, also outside jit_compile: results equal XLA:CPU's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

from tests.ops.xla_op_cases import CASES
from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")


def outcome(call: Callable[[], Any]) -> Any:
    """Returns the results of a call, or the class of its error."""
    try:
        return call()
    except (tf.errors.OpError, TypeError) as error:
        return type(error)


@pytest.mark.parametrize("dtype", [tf.float32, tf.int32], ids=["float32", "int32"])
@pytest.mark.parametrize("op", CASES)
@pytest.mark.parametrize("mode", ["eager", "graph", "jit"])
def test_equals_the_cpu(op: str, dtype: tf.DType, mode: str) -> None:
    def call() -> Any:
        return CASES[op](dtype)

    with tf.device(CPU):
        expected = outcome(tf.function(call, jit_compile=True, autograph=False))
    with tf.device(HPU):
        run = call if mode == "eager" else tf.function(call, jit_compile=mode == "jit", autograph=False)
        actual = outcome(run)
    if isinstance(expected, type):
        # XlaIf lacks an attribute that its lowering requires; XlaEinsum does not support int32.
        assert isinstance(actual, type) and op in ("XlaIf", "XlaEinsum")
    else:
        assert_close(actual, expected, context=op)


def reduction(combine: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]) -> Any:
    """Returns a graph that reduces 2, 3 and 4 with a function named `combine`."""
    spec = tf.TensorSpec([], tf.int32)
    with tf.Graph().as_default() as graph, tf.device(HPU):
        function = tf.function(combine, input_signature=[spec, spec], autograph=False).get_concrete_function()
        xla.reduce(tf.constant([2, 3, 4]), tf.constant(1), [0], function)
        definition = graph.as_graph_def()
    (body,) = definition.library.function
    (node,) = [node for node in definition.node if node.op == "XlaReduce"]
    body.signature.name = node.attr["reducer"].func.name = "combine"
    node.name = "result"
    return definition


def test_functions_of_one_name_are_distinguished() -> None:
    results = []
    for combine in (tf.add, tf.multiply):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            (result,) = tf.import_graph_def(reduction(combine), return_elements=["result:0"])
            results.append(int(session.run(result)))
    assert results == [10, 24]
