"""Random placed graphs, and their execution on the CPU before and after clustering."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st

from habana_frameworks.tensorflow.explanation.passes import CPU, HPU

VARIABLES = 2


@dataclasses.dataclass(frozen=True)
class Step:
    """One op of a random graph. `inputs` and `after` count backwards from the newest tensor or op."""

    kind: str
    inputs: tuple[int, int]
    after: int | None
    host: bool
    variable: int


KINDS = ["add", "mul", "tanh", "neg", "read", "write", "update", "shape", "reshape", "branch", "const"]


def steps(size: int) -> st.SearchStrategy[list[Step]]:
    """Strategy for lists of at least two steps."""
    number = st.integers(0, 6)
    step = st.builds(
        Step,
        kind=st.sampled_from(KINDS),
        inputs=st.tuples(number, number),
        after=st.one_of(st.none(), number),
        host=st.booleans(),
        variable=st.integers(0, VARIABLES - 1),
    )
    return st.lists(step, min_size=2, max_size=size)


class Builder:
    """Builds the graph of a list of steps.

    Each op on a variable waits for the previous op on it, so that the graph's meaning is unique.
    """

    def __init__(self) -> None:
        self.graph = tf.Graph()
        self.tensors: list[tf.Tensor] = []
        self.ops: list[tf.Operation] = []
        self.last_use: dict[int, tf.Operation] = {}

    def build(self, plan: list[Step]) -> tf.compat.v1.GraphDef:
        with self.graph.as_default():
            with tf.device(HPU):
                self.tensors.append(tf.compat.v1.placeholder(tf.float32, [2, 3], name="x"))
                self.handles = [
                    tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2, 3], shared_name=f"v{i}", name=f"v{i}")
                    for i in range(VARIABLES)
                ]
            for number, step in enumerate(plan):
                self.add(number, step)
            # On the CPU, like fetched values: outside every cluster.
            with tf.device(CPU):
                finals = [tf.identity(tensor, name=f"out{i}") for i, tensor in enumerate(self.tensors[-3:])]
            for i, handle in enumerate(self.handles):
                with tf.device(HPU), tf.control_dependencies([*self.ops, *finals]):
                    read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
                with tf.device(CPU):
                    tf.identity(read, name=f"final{i}")
        return self.graph.as_graph_def()

    def add(self, number: int, step: Step) -> None:
        left, right = (self.tensors[-1 - min(index, len(self.tensors) - 1)] for index in step.inputs)
        waits = [] if step.after is None or not self.ops else [self.ops[-1 - min(step.after, len(self.ops) - 1)]]
        uses_variable = step.kind in ("read", "write", "update")
        if uses_variable and step.variable in self.last_use:
            waits.append(self.last_use[step.variable])
        # Variables and their ops are on the HPU.
        device = CPU if step.host and not uses_variable and number % 3 == 0 else HPU
        with tf.device(device), tf.control_dependencies(waits), tf.name_scope(f"s{number}"):
            result = self.make(step, left, right)
        if isinstance(result, tf.Tensor):
            self.tensors.append(result)
            self.ops.append(result.op)
        else:
            self.ops.append(result)
        if uses_variable:
            self.last_use[step.variable] = self.ops[-1]

    def make(self, step: Step, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor | tf.Operation:
        handle = self.handles[step.variable]
        if step.kind == "branch":
            dead, alive = tf.raw_ops.Switch(data=left, pred=tf.reduce_sum(right) > 0.0)
            return tf.raw_ops.Merge(inputs=[tf.negative(dead) - 1.0, tf.tanh(alive) * 2.0])[0]
        if step.kind == "shape":
            size = tf.reduce_prod(tf.raw_ops.Shape(input=left)) + 1
            return tf.multiply(right, tf.cast(size, tf.float32) * 0.1)
        if step.kind == "reshape":
            flat = tf.raw_ops.Reshape(tensor=left, shape=[-1])
            return tf.raw_ops.Reshape(tensor=flat, shape=tf.raw_ops.Shape(input=right))
        simple: dict[str, Callable[[], tf.Tensor | tf.Operation]] = {
            "add": lambda: tf.add(left, right),
            "mul": lambda: tf.multiply(left, right),
            "tanh": lambda: tf.tanh(left),
            "neg": lambda: tf.negative(left),
            "read": lambda: tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32),
            "write": lambda: tf.raw_ops.AssignVariableOp(resource=handle, value=tf.tanh(left)),
            "update": lambda: tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.tanh(left)),
            "const": lambda: tf.constant(np.full((2, 3), 0.5 + step.variable, np.float32)),
        }
        return simple[step.kind]()


def on_cpu(graph: tf.compat.v1.GraphDef) -> tf.compat.v1.GraphDef:
    """Returns the graph with all nodes on the CPU, and launches as function calls."""
    result = tf.compat.v1.GraphDef.FromString(graph.SerializeToString())
    for node in [*result.node, *(node for function in result.library.function for node in function.node_def)]:
        node.device = CPU
        # Edges in functions contain the output's name: `results` of HabanaLaunch, `output` of StatefulPartitionedCall.
        node.input[:] = [source.replace(":results:", ":output:") for source in node.input]
        if node.op == "HabanaLaunch":
            node.op = "StatefulPartitionedCall"
            node.attr["f"].func.CopyFrom(node.attr["function"].func)
            node.attr["Tin"].CopyFrom(node.attr["Targs"])
            node.attr["Tout"].CopyFrom(node.attr["Tresults"])
            for name in set(node.attr) - {"f", "Tin", "Tout"}:
                del node.attr[name]
    for function in result.library.function:
        # A launch ends with its whole cluster, but an inlined call waits only for its results.
        function.attr["_noinline"].b = True
        for name, source in function.ret.items():
            function.ret[name] = source.replace(":results:", ":output:")
    return result


def values(graph: tf.compat.v1.GraphDef) -> list[np.ndarray]:
    """Runs the graph, and returns its results and the final variables."""
    with tf.Graph().as_default() as own, tf.device(CPU):
        tf.import_graph_def(on_cpu(graph), name="")
        names = {op.name for op in own.get_operations()}
        fetched = [f"{name}:0" for name in ("out0", "out1", "out2", "final0", "final1") if name in names]
        setup = []
        for i in range(VARIABLES):
            handle = own.get_tensor_by_name(f"v{i}:0")
            initial = tf.constant(np.linspace(-1, 1 + i, 6, dtype=np.float32).reshape(2, 3))
            setup.append(tf.raw_ops.AssignVariableOp(resource=handle, value=initial))
        x = np.linspace(-0.7, 0.9, 6, dtype=np.float32).reshape(2, 3)
        with tf.compat.v1.Session() as session:
            session.run(setup)
            return session.run(fetched, {"x:0": x})
