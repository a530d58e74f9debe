"""Programs over images of changing size, and with changing numbers of objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.changing.program import Program, Step, dataset, generator, in_fit, in_steps


def segmentation() -> tuple[tf.keras.Model, Any, dict[str, Any]]:
    """A fully convolutional U-Net on images of changing size."""
    classes = 4
    layers = tf.keras.layers
    x = inputs = tf.keras.Input([None, None, 3])
    across = []
    for width in (8, 16):
        x = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
        x = layers.ReLU()(layers.BatchNormalization()(x))
        across.append(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    for width, skipped in zip((16, 8), reversed(across)):
        x = layers.Conv2DTranspose(width, 3, strides=2, padding="same", activation="relu")(x)
        x = layers.Concatenate()([x, skipped])
    model = tf.keras.Model(inputs, layers.Conv2D(classes, 3, padding="same")(x))
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])

    def image(number: int) -> Any:
        draw = generator(number)
        height, width = 4 * draw.integers(8, 25, 2)
        labels = draw.integers(0, classes, (2, height, width))
        pixels = draw.standard_normal((2, height, width, 3)) + 0.5 * labels[..., np.newaxis]
        return pixels.astype(np.float32), labels

    signature = (tf.TensorSpec([None, None, None, 3]), tf.TensorSpec([None, None, None], tf.int64))
    return model, lambda: dataset(image, 40, signature).prefetch(2), {}


def overlaps(boxes: tf.Tensor, others: tf.Tensor) -> tf.Tensor:
    """Returns the intersection over union of each box with each other box."""
    low = tf.maximum(boxes[:, tf.newaxis, :2], others[tf.newaxis, :, :2])
    high = tf.minimum(boxes[:, tf.newaxis, 2:], others[tf.newaxis, :, 2:])
    common = tf.reduce_prod(tf.maximum(high - low, 0.0), -1)
    areas, other_areas = (tf.reduce_prod(group[:, 2:] - group[:, :2], -1) for group in (boxes, others))
    return common / (areas[:, tf.newaxis] + other_areas[tf.newaxis, :] - common)


def detection() -> Step:
    """A detector of two stages: the number of objects in an image changes, and so do its proposals after NMS."""
    size, stride, anchor_sizes, classes = 96, 8, (16.0, 32.0), 5
    layers = tf.keras.layers
    backbone = tf.keras.Sequential(
        [layers.Conv2D(width, 3, strides=2, padding="same", activation="relu") for width in (16, 32, 48)]
    )
    proposing = layers.Conv2D(5 * len(anchor_sizes), 1)
    head = tf.keras.Sequential([layers.Flatten(), layers.Dense(64, "relu"), layers.Dense(classes + 1)])
    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
    centers = np.stack(np.meshgrid(*[np.arange(stride / 2, size, stride)] * 2, indexing="ij"), -1).reshape(-1, 1, 2)
    halves = np.array(anchor_sizes)[np.newaxis, :, np.newaxis] / 2
    anchors = tf.constant(np.concatenate([centers - halves, centers + halves], -1).reshape(-1, 4) / size, tf.float32)

    @tf.function(reduce_retracing=True)
    def train_step(image: tf.Tensor, boxes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            features = backbone(image[tf.newaxis], training=True)
            proposed = tf.reshape(proposing(features), [-1, 5])
            scores, deltas = proposed[:, 0], proposed[:, 1:]
            # The first stage: an anchor is positive if it overlaps an object.
            overlap = overlaps(anchors, boxes)
            best = tf.reduce_max(overlap, 1)
            positive = tf.where(best > 0.3)[:, 0]
            chosen = tf.concat([positive, tf.where(best < 0.1)[:64, 0]], 0)
            targets = tf.cast(tf.gather(best, chosen) > 0.3, tf.float32)
            losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=tf.gather(scores, chosen))
            nearest = tf.gather(boxes, tf.argmax(tf.gather(overlap, positive), 1))
            shifts = nearest - tf.gather(anchors, positive)
            missed = tf.reduce_sum(tf.abs(shifts - tf.gather(deltas, positive)))
            loss = tf.reduce_mean(losses) + missed / tf.maximum(tf.cast(tf.size(shifts), tf.float32), 1.0)
            # The second stage classifies the proposals that remain.
            proposals = tf.stop_gradient(anchors + deltas)
            kept = tf.image.non_max_suppression(proposals, scores, 24, 0.5, tf.reduce_mean(scores))
            proposals = tf.concat([tf.gather(proposals, kept), boxes], 0)
            overlap = overlaps(proposals, boxes)
            found = tf.gather(labels, tf.argmax(overlap, 1))
            found = tf.where(tf.reduce_max(overlap, 1) > 0.5, found, classes)
            # On the CPU, the threads of crop_and_resize's gradient overwrite each other's sums, so losses would vary.
            features = tf.stop_gradient(features)
            crops = tf.image.crop_and_resize(features, proposals, tf.zeros_like(found), [5, 5])
            logits = head(crops, training=True)
            loss += tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=found, logits=logits))
        variables = backbone.trainable_variables + proposing.trainable_variables + head.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def step(number: int) -> Any:
        draw = generator(number)
        objects = int(draw.integers(1, 9))
        low = draw.uniform(0.0, 0.7, (objects, 2))
        boxes = np.concatenate([low, low + draw.uniform(0.15, 0.3, (objects, 2))], 1).astype(np.float32)
        labels = draw.integers(0, classes, objects).astype(np.int32)
        image = draw.standard_normal((size, size, 3)).astype(np.float32)
        for (top, left, bottom, right), label in zip((boxes * size).astype(int), labels):
            image[top:bottom, left:right] += label + 1
        return train_step(image, boxes, labels)

    return step


PROGRAMS: dict[str, Program] = {"segmentation": in_fit(segmentation), "detection": in_steps(detection)}
