"""Two models like the recipes' original models, small enough to train in seconds.

Training draws no random numbers, so two runs differ only in precision.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from tests.support.keras_package import legacy_optimizers

LENGTH, VOCABULARY, WIDTH, HEADS, DEPTH, CLASSES = 12, 40, 32, 4, 2, 4
EPSILON = 1e-6


class Encoder(tf.Module):
    """BERT-like encoder without Keras, with the original scopes, to which the recipe `bert` refers."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = np.random.default_rng(1)
        self.table = self.weight(VOCABULARY, WIDTH)
        self.positions = self.weight(LENGTH, WIDTH)
        self.layers = [
            {
                **{name: self.weight(WIDTH, WIDTH) for name in ("query", "key", "value", "output")},
                "up": self.weight(WIDTH, 4 * WIDTH),
                "down": self.weight(4 * WIDTH, WIDTH),
                **{f"{name}_bias": tf.Variable(tf.zeros([WIDTH])) for name in ("query", "key", "value", "output")},
                "down_bias": tf.Variable(tf.zeros([WIDTH])),
                "up_bias": tf.Variable(tf.zeros([4 * WIDTH])),
                **{f"gamma_{i}": tf.Variable(tf.ones([WIDTH])) for i in range(2)},
                **{f"beta_{i}": tf.Variable(tf.zeros([WIDTH])) for i in range(2)},
            }
            for _ in range(DEPTH)
        ]
        self.classifier = self.weight(WIDTH, CLASSES)

    def weight(self, *shape: int) -> tf.Variable:
        return tf.Variable(self.generator.standard_normal(shape).astype(np.float32) * 0.1)

    @staticmethod
    def dense(x: tf.Tensor, weights: dict[str, tf.Variable], name: str) -> tf.Tensor:
        with tf.name_scope(name):
            return tf.nn.bias_add(tf.matmul(x, weights[name]), weights[f"{name}_bias"])

    @staticmethod
    def normalize(x: tf.Tensor, weights: dict[str, tf.Variable], index: int) -> tf.Tensor:
        with tf.name_scope("LayerNorm"):
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            normal = (x - mean) * tf.math.rsqrt(variance + EPSILON)
            return normal * weights[f"gamma_{index}"] + weights[f"beta_{index}"]

    def attention(self, x: tf.Tensor, weights: dict[str, tf.Variable], mask: tf.Tensor) -> tf.Tensor:
        batch = tf.shape(mask)[0]

        def heads(name: str) -> tf.Tensor:
            flat = self.dense(x, weights, name)
            return tf.transpose(tf.reshape(flat, [batch, LENGTH, HEADS, WIDTH // HEADS]), [0, 2, 1, 3])

        with tf.name_scope("self"):
            scores = tf.matmul(heads("query"), heads("key"), transpose_b=True)
            scores = tf.multiply(scores, (WIDTH // HEADS) ** -0.5, name="Mul")
            scores = tf.add(scores, (1.0 - mask)[:, tf.newaxis, tf.newaxis, :] * -1000.0, name="add")
            context = tf.matmul(tf.nn.softmax(scores), heads("value"))
        with tf.name_scope("output"):
            flat = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, WIDTH])
            return self.dense(flat, weights, "output")

    def __call__(self, ids: tf.Tensor) -> tf.Tensor:
        mask = tf.cast(ids > 0, tf.float32)
        with tf.name_scope("bert"):
            with tf.name_scope("embeddings"):
                x = tf.reshape(tf.gather(self.table, ids) + self.positions, [-1, WIDTH])
            with tf.name_scope("encoder"):
                for number, weights in enumerate(self.layers):
                    with tf.name_scope(f"layer_{number}"):
                        with tf.name_scope("attention"):
                            x = self.normalize(x + self.attention(x, weights, mask), weights, 0)
                        inner = tf.nn.gelu(self.dense(x, weights, "up"))
                        x = self.normalize(x + self.dense(inner, weights, "down"), weights, 1)
            with tf.name_scope("pooler"):
                first = tf.reshape(x, [-1, LENGTH, WIDTH])[:, 0]
                return tf.matmul(tf.tanh(first), self.classifier)


def train_encoder(device: str, steps: int) -> list[float]:
    """Returns losses of training with explicit and clipped gradients, and a custom optimizer."""
    generator = np.random.default_rng(2)
    ids = generator.integers(1, VOCABULARY, (32, LENGTH)).astype(np.int32)
    ids[:, 9:] *= generator.integers(0, 2, (32, 3), dtype=np.int32)
    # The second token determines the label. Some labels are wrong, so that the loss has a lower bound.
    labels = np.where(generator.random(32) < 0.8, ids[:, 1] % CLASSES, 0).astype(np.int32)
    with tf.device(device):
        model = Encoder()
        variables = model.trainable_variables
        momenta = [tf.Variable(tf.zeros_like(variable)) for variable in variables]

        @tf.function
        def encoder_step(ids: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
            logits = model(ids)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
            gradients = [tf.convert_to_tensor(gradient) for gradient in tf.gradients(loss, variables)]
            gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
            for variable, momentum, gradient in zip(variables, momenta, gradients):
                momentum.assign(momentum * 0.9 + gradient)
                variable.assign_sub(momentum * 0.02)
            return loss

        batch = tf.constant(ids), tf.constant(labels)
        return [float(encoder_step(*batch)) for _ in range(steps)]


def unet() -> tf.keras.Model:
    """Returns a U-Net with two levels."""
    layers = tf.keras.layers

    def block(x: tf.Tensor, filters: int) -> tf.Tensor:
        for _ in range(2):
            x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(filters, 3, padding="same")(x)))
        return x

    inputs = tf.keras.Input((16, 16, 1))
    fine = block(inputs, 6)
    coarse = block(layers.MaxPooling2D()(fine), 12)
    joined = layers.Concatenate()([fine, layers.UpSampling2D()(coarse)])
    return tf.keras.Model(inputs, layers.Conv2D(1, 1)(block(joined, 6)), name="unet")


def train_unet(device: str, steps: int) -> list[float]:
    """Returns losses of training with a GradientTape and a Keras optimizer."""
    generator = np.random.default_rng(3)
    images = generator.standard_normal((16, 16, 16, 1)).astype(np.float32)
    blurred = (images + np.roll(images, 1, 1) + np.roll(images, 1, 2)) > 0
    masks = np.where(generator.random(blurred.shape) < 0.8, blurred, ~blurred).astype(np.float32)
    with tf.device(device):
        tf.keras.utils.set_random_seed(4)
        model = unet()
        optimizer = legacy_optimizers().Adam(0.003)

        @tf.function
        def unet_step(images: tf.Tensor, masks: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                logits = model(images, training=True)
                loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(masks, logits))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        batch = tf.constant(images), tf.constant(masks)
        return [float(unet_step(*batch)) for _ in range(steps)]


MODELS: dict[str, Callable[[str, int], list[float]]] = {"encoder": train_encoder, "unet": train_unet}
