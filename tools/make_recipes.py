"""Writes a few small recipes to the directory TF_RECIPE_CACHE_PATH, as seeds for `make fuzz`."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics


def main() -> None:
    """Compiles recipes with two, three and four arguments of several shapes and types."""
    load_habana_module()
    for count in range(2, 5):

        @tf.function
        def add(*arguments: tf.Tensor) -> tf.Tensor:
            return tf.add_n([tf.cast(argument, tf.float32) for argument in arguments])

        add(*(tf.ones([count, 3], dtype) for dtype in (tf.float32, tf.bfloat16, tf.bool, tf.int8)[:count]))
    print(f"{statistics.recipes().compiled} recipes compiled, {statistics.recipes().disk_hits} already on disk")


if __name__ == "__main__":
    main()
