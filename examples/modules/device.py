"""Prints the type of the device, its memory use, and the time of ten steps."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import habana_device, load_habana_module, util, version_getter


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    return tf.tanh(x @ x)


def main() -> None:
    load_habana_module()
    print(habana_device.get_type(), "by plugin", version_getter.get_library_version())
    with tf.device(util.device_name()):
        x = tf.random.stateless_normal([256, 256], [1, 2])
        step(x)  # compiles the step
        habana_device.reset_peak_memory()
        begin, end = (habana_device.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(10):
            x = step(x)
        end.record()
    print(f"10 steps: {begin.elapsed_time(end):.2f} ms")
    memory = habana_device.memory_info()
    print(f"memory: {memory.in_use} bytes in use, peak {memory.peak}, limit {memory.limit}")


if __name__ == "__main__":
    main()
