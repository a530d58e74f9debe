"""Program for test_custom_kernels.py."""

from __future__ import annotations

import re

from habana_frameworks.tensorflow import load_habana_module, load_op_library

# Error of a PJRT plugin for an op with a user kernel.
REFUSAL = (
    r"the op TestKernel \(.*\) calls the user kernel '\w+' \(custom call hpu_host_kernel\)"
    r".* set HPU_BACKEND=emulator, or register HLO"
)


def print_refusals(library: str) -> None:
    """Prints the errors of an op, a function and a compiled function that call a user kernel."""
    load_habana_module()
    import tensorflow as tf

    ops = load_op_library(library)

    def scaled(x: tf.Tensor) -> tf.Tensor:
        return ops.test_kernel(x + x, guid="test_scale_fwd_f32", scale=3.0)[0] + 1.0

    with tf.device("/device:HPU:0"):
        for call in (scaled, tf.function(scaled), tf.function(scaled, jit_compile=True)):
            try:
                call(tf.constant([1.0]))
            except tf.errors.UnimplementedError as error:
                assert re.search(REFUSAL, error.message), error.message
                assert "cast to a supported type" not in error.message, error.message
                print("refused:", error.message)
            else:
                raise AssertionError("the kernel was called")
