"""Programs over graphs of changing size: graph attention, and message passing in molecules."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.changing.program import Program, dataset, generator, in_fit

Fit = tuple[tf.keras.Model, Any, dict[str, Any]]


class GraphAttention(tf.keras.layers.Layer):
    """Attention of one head over the neighbours of each node, as in Keras's example."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(shape=(input_shape[0][-1], self.units), initializer="glorot_uniform")
        self.kernel_attention = self.add_weight(shape=(2 * self.units, 1), initializer="glorot_uniform")

    def call(self, inputs: Any) -> tf.Tensor:
        node_states, edges = inputs
        states = tf.matmul(node_states, self.kernel)
        ends = tf.reshape(tf.gather(states, edges), (tf.shape(edges)[0], -1))
        scores = tf.squeeze(tf.nn.leaky_relu(tf.matmul(ends, self.kernel_attention)), -1)
        scores = tf.math.exp(tf.clip_by_value(scores, -2, 2))
        sums = tf.math.unsorted_segment_sum(scores, edges[:, 0], tf.shape(states)[0])
        weights = scores / tf.gather(sums, edges[:, 0])
        neighbours = tf.gather(states, edges[:, 1])
        return tf.math.unsorted_segment_sum(neighbours * weights[:, tf.newaxis], edges[:, 0], tf.shape(states)[0])


class GraphAttentionNetwork(tf.keras.Model):
    """Classifies the nodes of a graph by two layers of attention with several heads."""

    def __init__(self, units: int, heads: int, classes: int) -> None:
        super().__init__()
        self.first = tf.keras.layers.Dense(units * heads, "relu")
        self.attention = [[GraphAttention(units) for _ in range(heads)] for _ in range(2)]
        self.head = tf.keras.layers.Dense(classes)

    def call(self, inputs: Any) -> tf.Tensor:
        features, edges = inputs
        x = self.first(features)
        for heads in self.attention:
            x = tf.nn.relu(tf.concat([head([x, edges]) for head in heads], -1)) + x
        return self.head(x)


def graph_attention() -> Fit:
    """Graph attention over sampled subgraphs, one a step."""
    features, classes = 64, 7
    model = GraphAttentionNetwork(16, 4, classes)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

    def graph(number: int) -> Any:
        draw = generator(number)
        nodes = int(draw.integers(100, 500))
        edges = draw.integers(0, nodes, (int(nodes * draw.uniform(2, 6)), 2))
        edges = np.concatenate([edges, np.arange(nodes)[:, np.newaxis].repeat(2, 1)])
        labels = draw.integers(0, classes, nodes)
        x = draw.standard_normal((nodes, features)).astype(np.float32) + 0.1 * labels[:, np.newaxis]
        return (x.astype(np.float32), edges), labels

    signature = (
        (tf.TensorSpec([None, features]), tf.TensorSpec([None, 2], tf.int64)),
        tf.TensorSpec([None], tf.int64),
    )
    return model, lambda: dataset(graph, 40, signature).prefetch(2), {}


class MessagePassing(tf.keras.layers.Layer):
    """Messages of the bonds to the atoms by an edge network and a GRU, as in Keras's example of molecules."""

    def __init__(self, units: int, rounds: int) -> None:
        super().__init__()
        self.units = units
        self.rounds = rounds
        self.update = tf.keras.layers.GRUCell(units)

    def build(self, input_shape: Any) -> None:
        self.bond_features = input_shape[1][-1]
        self.kernel = self.add_weight(shape=(self.bond_features, self.units * self.units), name="kernel")
        self.bias = self.add_weight(shape=(self.units * self.units,), initializer="zeros", name="bias")
        self.padding = self.units - input_shape[0][-1]

    def call(self, inputs: Any) -> tf.Tensor:
        atoms, bonds, pairs = inputs
        states = tf.pad(atoms, [(0, 0), (0, self.padding)])
        matrices = tf.reshape(tf.matmul(bonds, self.kernel) + self.bias, (-1, self.units, self.units))
        for _ in range(self.rounds):
            neighbours = tf.expand_dims(tf.gather(states, pairs[:, 1]), axis=-1)
            messages = tf.squeeze(tf.matmul(matrices, neighbours), axis=-1)
            received = tf.math.unsorted_segment_sum(messages, pairs[:, 0], tf.shape(states)[0])
            states, _ = self.update(received, states)
        return states


class MoleculeReadout(tf.keras.layers.Layer):
    """Pads the atoms of each molecule to the largest molecule, and combines them by self-attention."""

    def __init__(self, molecules: int, units: int, heads: int) -> None:
        super().__init__()
        self.molecules = molecules
        self.attention = tf.keras.layers.MultiHeadAttention(heads, units)
        self.dense = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(units)])
        self.normal = [tf.keras.layers.LayerNormalization() for _ in range(2)]
        self.average = tf.keras.layers.GlobalAveragePooling1D()

    def call(self, inputs: Any) -> tf.Tensor:
        atoms, indicator = inputs
        parts = tf.dynamic_partition(atoms, indicator, self.molecules)
        counts = [tf.shape(part)[0] for part in parts]
        largest = tf.reduce_max(counts)
        x = tf.stack([tf.pad(part, [(0, largest - count), (0, 0)]) for part, count in zip(parts, counts)])
        mask = tf.reduce_any(tf.not_equal(x, 0), axis=-1)
        attended = self.normal[0](x + self.attention(x, x, attention_mask=mask[:, tf.newaxis, :]))
        return self.average(self.normal[1](attended + self.dense(attended)), mask=mask)


def molecules() -> Fit:
    """Message passing in batches of molecules of different sizes, merged into one graph."""
    batch, atom_features, bond_features = 16, 16, 6
    layers = tf.keras.layers
    atoms = layers.Input([atom_features])
    bonds = layers.Input([bond_features])
    pairs = layers.Input([2], dtype=tf.int64)
    indicator = layers.Input([], dtype=tf.int32)
    x = MessagePassing(24, 3)([atoms, bonds, pairs])
    x = MoleculeReadout(batch, 24, 4)([x, indicator])
    model = tf.keras.Model([atoms, bonds, pairs, indicator], layers.Dense(1)(layers.Dense(64, "relu")(x)))
    model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=["AUC"])

    def merged(number: int) -> Any:
        draw = generator(number)
        counts = draw.integers(4, 25, batch)
        starts = np.cumsum(counts) - counts
        of_molecules = []
        for start, count in zip(starts, counts):
            tree = np.stack([np.arange(1, count), [draw.integers(0, atom) for atom in range(1, count)]], 1)
            rings = draw.integers(0, count, (count // 6, 2))
            of_molecules.append(start + np.concatenate([tree, tree[:, ::-1], rings, rings[:, ::-1]]))
        edges = np.concatenate(of_molecules)
        x = draw.standard_normal((counts.sum(), atom_features)).astype(np.float32)
        kinds = np.eye(bond_features, dtype=np.float32)[draw.integers(0, bond_features, len(edges))]
        return (x, kinds, edges, np.repeat(np.arange(batch, dtype=np.int32), counts)), draw.integers(0, 2, (batch, 1))

    signature = (
        (
            tf.TensorSpec([None, atom_features]),
            tf.TensorSpec([None, bond_features]),
            tf.TensorSpec([None, 2], tf.int64),
            tf.TensorSpec([None], tf.int32),
        ),
        tf.TensorSpec([batch, 1], tf.int64),
    )
    return model, lambda: dataset(merged, 40, signature).prefetch(2), {}


PROGRAMS: dict[str, Program] = {"graph_attention": in_fit(graph_attention), "molecules": in_fit(molecules)}
