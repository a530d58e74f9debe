"""Program for test_compiler_ir.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def ask_null_backend() -> None:
    load_habana_module()
    with tf.device("/HPU:0"):
        generator = tf.function(lambda x: x + 1.0, jit_compile=True).experimental_get_compiler_ir(tf.ones([2]))
        assert "add" in generator(stage="hlo")
        try:
            generator(stage="optimized_hlo")
        except tf.errors.UnimplementedError as error:
            assert "HPU_BACKEND=emulator" in str(error), error
        else:
            raise SystemExit("no error")
