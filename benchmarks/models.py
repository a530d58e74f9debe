"""Models for benchmarks and tests: MLP, CNN, transformer encoder, ResNet-50, U-Net, LSTM, MobileNetV2, BERT-small.

The models have no dropout, so that a train step from equal weights has equal results on every device. Their inputs are
dense, so that XLA can compile the whole step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

Arrays = tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]
CLASSES = 10


def mlp() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Dense(512, activation="relu", input_shape=(784,)),
            layers.Dense(512, activation="relu"),
            layers.Dense(CLASSES),
        ],
        name="mlp",
    )


def cnn() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(16, 3, padding="same", use_bias=False, input_shape=(28, 28, 1)),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(CLASSES),
        ],
        name="cnn",
    )


def _encoder_layer(x: tf.Tensor, width: int, heads: int) -> tf.Tensor:
    """Pre-norm encoder layer: attention and a feed-forward network, each with a residual connection."""
    layers = tf.keras.layers
    normal = layers.LayerNormalization(epsilon=1e-6)(x)
    x = x + layers.MultiHeadAttention(heads, width // heads)(normal, normal)
    normal = layers.LayerNormalization(epsilon=1e-6)(x)
    return x + layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(normal))


def transformer(
    depth: int = 4, width: int = 128, heads: int = 4, length: int = 64, name: str = "transformer"
) -> tf.keras.Model:
    layers = tf.keras.layers
    inputs = tf.keras.Input((length, 32))
    x = layers.Dense(width)(inputs)
    for _ in range(depth):
        x = _encoder_layer(x, width, heads)
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x)), name=name)


def bert_small() -> tf.keras.Model:
    return transformer(depth=4, width=512, heads=8, length=128, name="bert_small")


def resnet50() -> tf.keras.Model:
    return tf.keras.applications.ResNet50(
        weights=None, input_shape=(96, 96, 3), classes=CLASSES, classifier_activation=None
    )


def mobilenet() -> tf.keras.Model:
    return tf.keras.applications.MobileNetV2(
        weights=None, input_shape=(96, 96, 3), classes=CLASSES, classifier_activation=None
    )


def unet(size: int = 64, width: int = 8, depth: int = 3) -> tf.keras.Model:
    """U-Net that predicts a class for every pixel: contracting path, expanding path, skip connections."""
    layers = tf.keras.layers
    x = inputs = tf.keras.Input((size, size, 1))
    across = []
    for level in range(depth):
        x = layers.Conv2D(width << level, 3, padding="same", activation="relu")(x)
        across.append(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(width << depth, 3, padding="same", activation="relu")(x)
    for level in reversed(range(depth)):
        x = layers.Conv2DTranspose(width << level, 2, strides=2)(x)
        x = layers.Conv2D(width << level, 3, padding="same", activation="relu")(
            layers.Concatenate()([x, across[level]])
        )
    return tf.keras.Model(inputs, layers.Conv2D(CLASSES, 1)(x), name="unet")


def lstm(length: int = 24, width: int = 32) -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.LSTM(64, return_sequences=True, input_shape=(length, width)),
            layers.LSTM(64),
            layers.Dense(CLASSES),
        ],
        name="lstm",
    )


@dataclasses.dataclass(frozen=True)
class Problem:
    """A model, and the shape of its batches."""

    name: str
    build: Callable[[], tf.keras.Model]
    input_shape: tuple[int, ...]
    batch_size: int
    label_shape: tuple[int, ...] = ()

    def batch(self, seed: int = 0) -> Arrays:
        """Returns normally distributed inputs, and labels; deterministic for a seed."""
        generator = np.random.default_rng(seed)
        inputs = generator.standard_normal((self.batch_size, *self.input_shape), dtype=np.float32)
        return inputs, generator.integers(0, CLASSES, (self.batch_size, *self.label_shape), dtype=np.int32)


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("mlp", mlp, (784,), 128),
        Problem("cnn", cnn, (28, 28, 1), 32),
        Problem("transformer", transformer, (64, 32), 16),
        Problem("resnet50", resnet50, (96, 96, 3), 8),
        Problem("unet", unet, (64, 64, 1), 4, label_shape=(64, 64)),
        Problem("lstm", lstm, (24, 32), 16),
        Problem("mobilenet", mobilenet, (96, 96, 3), 8),
        Problem("bert_small", bert_small, (128, 32), 4),
    )
}

OPTIMIZERS: dict[str, Callable[[], tf.keras.optimizers.Optimizer]] = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.01, momentum=0.9),
    "adam": lambda: tf.keras.optimizers.Adam(1e-3),
}


class Trainer:
    """A model with its optimizer on one device. `step` is one train step: forward, backward and update."""

    def __init__(
        self,
        problem: Problem,
        device: str,
        optimizer: str = "sgd",
        jit_compile: bool = False,
        training: bool = True,
        weights: list[Any] | None = None,
    ) -> None:
        """weights: initial weights, from get_weights() of an equal model; None: the new model's initial weights."""
        self.device = device
        with tf.device(device):
            self.model = problem.build()
            self.optimizer = OPTIMIZERS[optimizer]()
            self.optimizer.build(self.model.trainable_variables)
        if weights is not None:
            self.model.set_weights(weights)
        self._training = training
        self._step = tf.function(self._train_step, jit_compile=jit_compile or None)

    def _train_step(self, inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        variables = self.model.trainable_variables
        with tf.GradientTape() as tape:
            logits = self.model(inputs, training=self._training)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def to_device(self, batch: Arrays) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the batch as tensors on the model's device."""
        with tf.device(self.device):
            return tf.constant(batch[0]), tf.constant(batch[1])

    def step(self, inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        """Runs one step and returns the loss before the update."""
        with tf.device(self.device):
            return self._step(inputs, labels)

    def trace(self, inputs: tf.Tensor, labels: tf.Tensor) -> None:
        """Traces the step. Without this call, the first step traces."""
        with tf.device(self.device):
            self._step.get_concrete_function(inputs, labels)

    def ir(self, stage: str, inputs: tf.Tensor, labels: tf.Tensor) -> bytes:
        """Returns the step at a stage of the compiler (docs/user/compiler_ir.md). Requires jit_compile=True."""
        ir: bytes | str = self._step.experimental_get_compiler_ir(inputs, labels)(stage=stage, device_name=self.device)
        return ir.encode() if isinstance(ir, str) else ir

    def inputs_of_step(self, inputs: tf.Tensor, labels: tf.Tensor) -> list[npt.NDArray[Any]]:
        """Returns the values of all inputs of the step's function: the batch, then the captured tensors."""
        function = self._step.get_concrete_function(inputs, labels)
        variables = {id(variable.handle): variable for variable in function.variables}
        captured = [variables.get(id(tensor), tensor) for tensor in function.captured_inputs]
        return [value.numpy() for value in (inputs, labels, *captured)]

    def losses(self, batch: Arrays, steps: int) -> list[float]:
        """Runs steps on one batch and returns their losses."""
        tensors = self.to_device(batch)
        return [float(self.step(*tensors)) for _ in range(steps)]
