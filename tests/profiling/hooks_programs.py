"""Programs for test_hooks.py, traced through environment variables."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import tensorflow as tf


def keras() -> None:
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.compile("sgd", "mse")
    model.fit(np.ones([40, 4], "f"), np.ones([40, 3], "f"), batch_size=4, verbose=0)


def session() -> None:
    from habana_frameworks.tensorflow import synapse_logger_helpers

    synapse_logger_helpers.synapse_logger_init()
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    tf.compat.v1.disable_eager_execution()
    tf.compat.v1.train.create_global_step()
    x = tf.compat.v1.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x * 2.0 + 1.0)
    hooks = [synapse_logger_helpers.SynapseLoggerHook([1, 2])]
    with tf.compat.v1.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(4):
            session.run(y, {x: [1.0, 2.0]})


def trainable() -> None:
    from habana_frameworks.tensorflow import hw_profiler_helpers, load_habana_module, synapse_logger_helpers

    synapse_logger_helpers.synapse_logger_init()
    load_habana_module()
    step = tf.function(lambda x: tf.reduce_sum(x * 2.0 + 1.0))

    class Trainable:
        def train(self, steps: int) -> list[float]:
            return [float(step(tf.ones([3]))) for _ in range(steps)]

    trainable = hw_profiler_helpers.wrap_train(Trainable())
    assert [trainable.train(2) for _ in range(3)] == [[9.0, 9.0]] * 3


def custom_loop() -> None:
    """A custom training loop, which calls one function for each step, and an evaluation that nests two functions."""
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    weight = tf.Variable(4.0)

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(weight * x))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    evaluate = tf.function(lambda x: step(x) * 2.0)
    for _ in range(3):
        step(tf.ones([2]))
    evaluate(tf.ones([2]))


def synapse_logger_values() -> None:
    """Runs one step under each value of HABANA_SYNAPSE_LOGGER; `<value>.json` is its log."""
    from habana_frameworks.tensorflow import load_habana_module, py_synapse_logger, synapse_logger_helpers

    load_habana_module()
    log = pathlib.Path("worker0.local.synapse_log.json")
    for value in ("t", "on", "True", "synapse,hw", "range", "nonsense"):
        os.environ["HABANA_SYNAPSE_LOGGER"] = value
        synapse_logger_helpers.synapse_logger_init()
        (tf.ones([3]) * 2.0).numpy()
        py_synapse_logger.command("disable")
        if log.exists():
            log.rename(f"{value}.json")


def commands() -> None:
    from habana_frameworks.tensorflow import load_habana_module, py_synapse_logger

    load_habana_module()
    py_synapse_logger.command("enable")
    py_synapse_logger.put_log("here", 1)
    py_synapse_logger.dump_reference("loss", "float", [0.5])
    (tf.ones([3]) * 2.0).numpy()
    py_synapse_logger.command("disable")
    py_synapse_logger.start_hw_profile()
    (tf.ones([3]) * 2.0).numpy()
    py_synapse_logger.stop_hw_profile()
    py_synapse_logger.command("category_mask=0x3")
    for wrong in ("enabel", "category_mask=two", "category_mask=0x1"):
        try:
            py_synapse_logger.command(wrong)
        except ValueError as error:
            print(error)


def imports() -> None:
    """Prints whether these modules load the plugin."""
    from habana_frameworks.tensorflow import (  # noqa: F401
        device_trace,
        hw_profiler_helpers,
        py_synapse_logger,
        synapse_logger_helpers,
        tb_utils,
    )

    print("habana_device" in pathlib.Path("/proc/self/maps").read_text())
