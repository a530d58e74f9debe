"""QKeras: layers with quantized weights and activations."""

import qkeras
import tensorflow as tf

from tests.libraries.training import Training, compiled, labels, random


def quantized() -> Training:
    bits = "quantized_bits(4,0,1)"
    model = tf.keras.Sequential(
        [
            qkeras.QConv2D(8, 3, kernel_quantizer="binary()", bias_quantizer=bits),
            qkeras.QActivation("quantized_relu(4)"),
            tf.keras.layers.Flatten(),
            qkeras.QDense(3, kernel_quantizer=bits, bias_quantizer=bits),
        ]
    )
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return compiled(model, random(16, 8, 8, 3), labels(16, 3))


PROGRAMS = {"quantized CNN": quantized}
