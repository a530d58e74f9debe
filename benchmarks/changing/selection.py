"""Programs that select a changing number of rows: masks, unique ids, hard examples, recurring partial batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.changing.program import Program, Step, generator, in_fit, in_steps


def masked_table() -> Step:
    """Fills the gaps of a table by an autoencoder (tf.where, boolean_mask, gather_nd, tensor_scatter_nd_update)."""
    rows, columns = 256, 48
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(128, "relu"), layers.Dense(32, "relu"), layers.Dense(columns)])
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(table: tf.Tensor) -> tf.Tensor:
        known = tf.math.is_finite(table)
        gaps = tf.where(tf.logical_not(known))
        filled = tf.tensor_scatter_nd_update(table, gaps, tf.zeros([tf.shape(gaps)[0]]))
        with tf.GradientTape() as tape:
            output = model(filled, training=True)
            loss = tf.reduce_mean(tf.square(tf.boolean_mask(output, known) - tf.boolean_mask(table, known)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        guesses = tf.gather_nd(output, gaps)
        return loss + 0.01 * tf.reduce_mean(tf.square(tf.tensor_scatter_nd_update(filled, gaps, guesses)))

    def step(number: int) -> Any:
        draw = generator(number)
        table = draw.standard_normal((rows, 4)) @ draw.standard_normal((4, columns))
        table[draw.random((rows, columns)) < draw.uniform(0.05, 0.4)] = np.nan
        return train_step(tf.constant(table, tf.float32))

    return step


def sparse_linear() -> Step:
    """A logistic regression over hashed features, which updates only the rows of the ids of a batch (tf.unique)."""
    buckets, width, batch = 20000, 16, 256
    table = tf.Variable(tf.random.normal([buckets, width], stddev=0.05))
    squares = tf.Variable(tf.fill([buckets, width], 0.1))
    head = tf.Variable(tf.random.normal([width, 1], stddev=0.1))

    @tf.function(reduce_retracing=True)
    def train_step(ids: tf.Tensor, examples: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        unique, positions = tf.unique(ids)
        rows = tf.gather(table, unique)
        with tf.GradientTape() as tape:
            tape.watch(rows)
            bags = tf.math.segment_sum(tf.gather(rows, positions), examples)
            logits = tf.squeeze(bags @ head, 1)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
        rows_gradient, head_gradient = tape.gradient(loss, [rows, head])
        # Adagrad on the rows of the batch.
        squares.scatter_add(tf.IndexedSlices(tf.square(rows_gradient), unique))
        rates = 0.1 * tf.math.rsqrt(tf.gather(squares, unique))
        table.scatter_sub(tf.IndexedSlices(rates * rows_gradient, unique))
        head.assign_sub(0.1 * head_gradient)
        return loss

    def step(number: int) -> Any:
        draw = generator(number)
        counts = draw.integers(5, 60, batch)
        examples = np.repeat(np.arange(batch), counts)
        ids = np.minimum(draw.zipf(1.3, len(examples)), buckets) - 1
        labels = draw.integers(0, 2, batch)
        return train_step(tf.constant(ids, tf.int32), tf.constant(examples, tf.int32), tf.constant(labels, tf.float32))

    return step


def hard_examples() -> Step:
    """Trains a classifier on the k worst losses of a batch; k grows and shrinks."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(16, 3, activation="relu", input_shape=(28, 28, 1)),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)

    @tf.function
    def train_step(images: tf.Tensor, labels: tf.Tensor, k: tf.Tensor) -> tf.Tensor:
        logits = model(images, training=False)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        _, worst = tf.math.top_k(losses, k)
        with tf.GradientTape() as tape:
            logits = model(tf.gather(images, worst), training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.gather(labels, worst), logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    def step(number: int) -> Any:
        draw = generator(number)
        labels = draw.integers(0, 10, 64)
        images = draw.standard_normal((64, 28, 28, 1)) + 0.1 * labels[:, None, None, None]
        k = tf.constant(int(draw.integers(8, 49)))
        return train_step(tf.constant(images, tf.float32), tf.constant(labels), k)

    return step


def partial_batch() -> tuple[tf.keras.Model, Any, dict[str, Any]]:
    """A convolutional network on digits; the last batch of each epoch is smaller, in training and in validation."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(16, 3, activation="relu", input_shape=(28, 28, 1)),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(10),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    draw = generator(0)
    labels = draw.integers(0, 10, 680)
    images = draw.standard_normal((680, 28, 28, 1)).astype(np.float32) + 0.1 * labels[:, None, None, None]
    return model, lambda: images, {"y": labels, "batch_size": 64, "validation_split": 0.15}


def retraced() -> Step:
    """A perceptron whose tf.function is traced again for each batch size."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(256, "relu"), layers.Dense(256, "relu"), layers.Dense(10)])
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    def step(number: int) -> Any:
        draw = generator(number)
        batch = int(draw.integers(64, 129))
        labels = draw.integers(0, 10, batch)
        inputs = draw.standard_normal((batch, 256)) + 0.1 * labels[:, None]
        return train_step(tf.constant(inputs, tf.float32), tf.constant(labels))

    return step


PROGRAMS: dict[str, Program] = {
    "masked_table": in_steps(masked_table),
    "sparse_linear": in_steps(sparse_linear),
    "hard_examples": in_steps(hard_examples),
    "partial_batch": in_fit(partial_batch),
    "retraced": in_steps(retraced),
}
