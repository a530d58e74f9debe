"""Real graphs for the passes: TensorFlow's graphs of Keras train steps, placed as on an HPU."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from habana_frameworks.tensorflow.explanation.passes import CPU, HPU
from tests.support.keras_package import IS_KERAS_2

# Ops of train steps without an HPU kernel.
HOST_OPS = {"IteratorGetNext", "Assert", "StringFormat", "PrintV2", "PyFunc", "EagerPyFunc"}

# Not a multiple of the batch size, so that the graph's batch size is unknown.
ROWS = 3
BATCH = 2


@contextlib.contextmanager
def no_fusion() -> Iterator[None]:
    """Makes Grappler treat CPU nodes like HPU nodes: no fused kernels, no layout changes."""
    before = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"remapping": False, "layout_optimizer": False})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"remapping": True, "layout_optimizer": True, **before})


def optimized_graph(run: Callable[[], object], contains: str) -> tf.compat.v1.GraphDef:
    """Returns the largest function graph that TensorFlow optimizes during `run`, among graphs with an op `contains`."""
    with no_fusion():
        context.context().enable_run_metadata()
        try:
            run()
            metadata = context.context().export_run_metadata()
        finally:
            context.context().disable_run_metadata()
    graphs = [
        graphs.post_optimization_graph
        for graphs in metadata.function_graphs
        if any(node.op == contains for node in graphs.post_optimization_graph.node)
    ]
    return max(graphs, key=lambda graph: len(graph.node))


def place(graph: tf.compat.v1.GraphDef) -> tf.compat.v1.GraphDef:
    """Returns the graph with every node on the HPU, except HOST_OPS and nodes with strings."""
    placed = tf.compat.v1.GraphDef.FromString(graph.SerializeToString())
    for node in placed.node:
        strings = any(attr.type == tf.string.as_datatype_enum for attr in node.attr.values())
        node.device = CPU if node.op in HOST_OPS or strings else HPU
    return placed


def mlp() -> tuple[tf.keras.Model, tuple[np.ndarray, np.ndarray]]:
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(4)])
    return model, (np.zeros((ROWS, 12), np.float32), np.zeros(ROWS, np.int64))


def cnn() -> tuple[tf.keras.Model, tuple[np.ndarray, np.ndarray]]:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(4, 3, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Dropout(0.25),
            layers.Flatten(),
            layers.Dense(4),
        ]
    )
    return model, (np.zeros((ROWS, 10, 10, 1), np.float32), np.zeros(ROWS, np.int64))


def transformer(blocks: int = 4) -> tuple[tf.keras.Model, tuple[np.ndarray, np.ndarray]]:
    layers = tf.keras.layers
    tokens = tf.keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8)(tokens) + layers.Embedding(6, 8)(tf.range(6))
    for _ in range(blocks):
        attended = layers.Dropout(0.1)(layers.MultiHeadAttention(2, 4, dropout=0.1)(x, x))
        x = layers.LayerNormalization()(x + attended)
        fed = layers.Dropout(0.1)(layers.Dense(8)(layers.Dense(16, "gelu")(x)))
        x = layers.LayerNormalization()(x + fed)
    model = tf.keras.Model(tokens, layers.Dense(4)(layers.GlobalAveragePooling1D()(x)))
    return model, (np.zeros((ROWS, 6), np.int32), np.zeros(ROWS, np.int64))


def resnet() -> tuple[tf.keras.Model, tuple[np.ndarray, np.ndarray]]:
    model = tf.keras.applications.ResNet50(weights=None, input_shape=(96, 96, 3), classes=4)
    return model, (np.zeros((ROWS, 96, 96, 3), np.float32), np.zeros(ROWS, np.int64))


MODELS = {"mlp": mlp, "cnn": cnn, "transformer": transformer, "resnet": resnet}

# Keras 2 would compile the optimizer's update by itself.
_PLAIN: dict[str, Any] = {"jit_compile": False} if IS_KERAS_2 else {}
OPTIMIZERS: dict[str, Callable[[], object]] = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9, **_PLAIN),
    "adam": lambda: tf.keras.optimizers.Adam(**_PLAIN),
}
if IS_KERAS_2:
    OPTIMIZERS["legacy_sgd"] = lambda: tf.keras.optimizers.legacy.SGD(0.1, momentum=0.9)
    OPTIMIZERS["legacy_adam"] = lambda: tf.keras.optimizers.legacy.Adam()


def train_step(model_name: str, optimizer: str) -> tf.compat.v1.GraphDef:
    """Returns the placed train step of a Keras model, as in Model.fit, with sparse labels and an accuracy metric.

    The batch size in the graph is unknown.
    """
    tf.keras.backend.clear_session()
    with tf.device("/CPU:0"):
        model, (x, y) = MODELS[model_name]()
        model.compile(
            OPTIMIZERS[optimizer](),
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=model_name != "resnet"),
            metrics=["accuracy"],
        )
        graph = optimized_graph(lambda: model.fit(x, y, batch_size=BATCH, verbose=0), "IteratorGetNext")
    return place(graph)
