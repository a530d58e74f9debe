"""Trains through a custom op of the HPU: python examples/custom_op/custom_div.py path/to/libhpu_custom_div_op.so"""

from __future__ import annotations

import argparse
from typing import Any

import tensorflow as tf

from habana_frameworks.tensorflow import load_op_library


def register_gradient(ops: Any) -> None:
    """Registers the gradient of CustomDivOp, which uses the op itself."""

    @tf.RegisterGradient("CustomDivOp")
    def gradient(op: tf.Operation, dy: tf.Tensor) -> list[tf.Tensor]:
        divisor = op.inputs[1]
        over_divisor = ops.custom_div_op(dy, divisor, example_attr=op.get_attr("example_attr"))
        return [over_divisor, -over_divisor * op.outputs[0]]


def main() -> None:
    """Finds the divisor x with 1456 / x = 45.5 by Newton's method. The squared error falls to 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="path of the library that cmake has built")
    ops = load_op_library(parser.parse_args().library)
    register_gradient(ops)
    divisor = tf.Variable([20.0])

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            quotient = ops.custom_div_op(tf.constant([1456.0]), divisor, example_attr=23)
            error = quotient - 45.5
        slope = tape.gradient(quotient, divisor)
        divisor.assign_sub(error / slope)
        return tf.reduce_sum(error**2)

    for _ in range(8):
        loss = step()
    print(f"1456 / {divisor.numpy()[0]:.4f} = 45.5, squared error {loss.numpy():.3g}, on {divisor.device}")


if __name__ == "__main__":
    main()
