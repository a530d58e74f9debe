"""Random placed graphs and random configurations for the bfloat16 conversion."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf
from hypothesis import strategies as st

from habana_frameworks.tensorflow.explanation.passes import CPU, HPU

SHAPE = [4, 4]
OPS = [
    "MatMul",
    "AddV2",
    "Mul",
    "Sub",
    "Tanh",
    "Neg",
    "Identity",
    "Reshape",
    "Greater",
    "Select",
    "Pack",
    "AddN",
    "Sum",
]
OPS += ["Softmax", "IdentityN", "FusedBatchNormV3", "Fill", "Shape", "Acos"]
OTHERS = ["Cast", "Mask", "Const", "Read", "Host", "RoundTrip"]


@dataclasses.dataclass(frozen=True)
class Step:
    """One op of a random graph. `inputs` count backwards from the newest tensor."""

    kind: str
    inputs: tuple[int, int, int]
    scope: str


def steps(size: int) -> st.SearchStrategy[list[Step]]:
    number = st.integers(0, 7)
    scopes = st.sampled_from(["", "", "", "KEEP_FP32_PRECISION", "FORCE_BF16_PRECISION", "block_1"])
    step = st.builds(Step, kind=st.sampled_from(OPS + OTHERS), inputs=st.tuples(number, number, number), scope=scopes)
    return st.lists(step, min_size=2, max_size=size)


def configs() -> st.SearchStrategy[dict[str, list[Any]]]:
    ops = st.lists(st.sampled_from(OPS), max_size=8)
    names = st.sampled_from([".*KEEP_FP32_PRECISION.*", ".*FORCE_BF16_PRECISION.*", "s[0-9]/.*", "block_1", ".*/Mul"])
    pairs = st.lists(st.tuples(names, st.sampled_from(["", "", *OPS])).map(list), max_size=2)
    return st.fixed_dictionaries(
        {
            "allowlist": ops,
            "conditional_list": ops,
            "strict_conditional_list": ops,
            "non_convertible_exceptions": pairs,
            "convertible_exceptions": pairs,
        }
    )


class Builder:
    """Builds the graph of a list of steps. Every tensor that later steps can use is float32 and of one shape."""

    def __init__(self) -> None:
        self.tensors: list[tf.Tensor] = []

    def build(self, plan: list[Step]) -> tf.compat.v1.GraphDef:
        with tf.Graph().as_default() as graph, tf.device(HPU):
            with tf.device(CPU):
                self.tensors.append(tf.compat.v1.placeholder(tf.float32, SHAPE, name="x"))
            self.handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=SHAPE, name="v")
            for number, step in enumerate(plan):
                with tf.name_scope(f"s{number}"), tf.name_scope(step.scope or "plain"):
                    self.tensors.append(self.make(step))
            with tf.device(CPU):
                for i, tensor in enumerate(self.tensors[-3:]):
                    tf.identity(tensor, name=f"out{i}")
        return graph.as_graph_def(add_shapes=False)

    def make(self, step: Step) -> tf.Tensor:
        x, y, z = (self.tensors[-1 - min(index, len(self.tensors) - 1)] for index in step.inputs)
        raw = tf.raw_ops
        made = {
            "MatMul": lambda: raw.MatMul(a=x, b=y),
            "AddV2": lambda: raw.AddV2(x=x, y=y),
            "Mul": lambda: raw.Mul(x=x, y=y),
            "Sub": lambda: raw.Sub(x=x, y=y),
            "Tanh": lambda: raw.Tanh(x=x),
            "Neg": lambda: raw.Neg(x=x),
            "Acos": lambda: raw.Acos(x=x),
            "Identity": lambda: raw.Identity(input=x),
            "Reshape": lambda: raw.Reshape(tensor=x, shape=SHAPE),
            "Greater": lambda: tf.cast(raw.Greater(x=x, y=y), tf.float32),
            "Select": lambda: raw.Select(condition=raw.Greater(x=x, y=y), x=y, y=z),
            "Pack": lambda: raw.Pack(values=[x[0], y[1], z[2], x[3]]),
            "AddN": lambda: raw.AddN(inputs=[x, y, y, z]),
            "Sum": lambda: raw.Sum(input=x, axis=[1], keep_dims=True) + y,
            "Softmax": lambda: raw.Softmax(logits=x),
            "IdentityN": lambda: raw.IdentityN(input=[x, tf.constant(1), y])[2],
            "FusedBatchNormV3": lambda: self.batch_norm(x, y),
            "Fill": lambda: raw.Fill(dims=SHAPE, value=x[0, 0]),
            "Shape": lambda: raw.Reshape(tensor=x, shape=raw.Shape(input=y)),
            "Cast": lambda: tf.cast(tf.cast(x, tf.int32), tf.float32),
            "Mask": lambda: tf.cast(x > 0.0, tf.float32),
            "Const": lambda: tf.constant(0.5, tf.float32, SHAPE),
            "Read": lambda: raw.ReadVariableOp(resource=self.handle, dtype=tf.float32),
            "Host": lambda: self.on_host(x),
            "RoundTrip": lambda: tf.cast(tf.tanh(tf.cast(tf.abs(x), tf.bfloat16)), tf.float32),
        }
        return made[step.kind]()

    @staticmethod
    def on_host(x: tf.Tensor) -> tf.Tensor:
        with tf.device(CPU):
            return tf.raw_ops.Tanh(x=x)

    @staticmethod
    def batch_norm(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        image, row = tf.reshape(x, [1, 4, 1, 4]), y[0]
        result = tf.raw_ops.FusedBatchNormV3(x=image, scale=row, offset=row, mean=row, variance=row, is_training=False)
        return tf.reshape(result.y, SHAPE) + result.batch_mean
