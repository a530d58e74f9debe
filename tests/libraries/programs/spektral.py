"""Spektral: graph convolutions with a dense and with a sparse adjacency matrix."""

import numpy as np
import spektral
import tensorflow as tf

from tests.libraries.training import Training, compiled, fitted, labels, random

ADJACENCY = (random(24, 24) > 1).astype(np.float32)
ADJACENCY = spektral.utils.gcn_filter(np.maximum(ADJACENCY, ADJACENCY.T)).astype(np.float32)


def dense() -> Training:
    x, a = tf.keras.Input([24, 8]), tf.keras.Input([24, 24])
    hidden = spektral.layers.GCNConv(16, activation="relu")([x, a])
    outputs = tf.keras.layers.Dense(3)(spektral.layers.GlobalAvgPool()(hidden))
    model = tf.keras.Model([x, a], outputs)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return compiled(model, [random(4, 24, 8), np.stack([ADJACENCY] * 4)], labels(4, 3))


def sparse() -> Training:
    x, y = tf.constant(random(24, 8)), labels(24, 3)
    adjacency = spektral.utils.sparse.sp_matrix_to_sp_tensor(ADJACENCY)
    inputs = tf.keras.Input([8]), tf.keras.Input([24], sparse=True)
    hidden = spektral.layers.GATConv(8, attn_heads=2, dropout_rate=0.0, activation="elu")(inputs)
    model = tf.keras.Model(inputs, spektral.layers.GCNConv(3)([hidden, inputs[1]]))

    def loss() -> tf.Tensor:
        logits = model([x, adjacency])
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))

    return fitted(model, loss, tf.keras.optimizers.Adam(0.01))


PROGRAMS = {"GCN, dense": dense, "GAT, sparse": sparse}
