"""Programs for test_logs.py."""

from __future__ import annotations

import logging
import os
import pathlib
from collections.abc import Mapping


def train(late: Mapping[str, str], read: bool = False) -> None:
    """Runs three steps. Sets the variables `late` after loading. `read`: waits for each step's result."""
    import tensorflow as tf

    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    os.environ.update(late)
    step = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * 2.0))
    for _ in range(3):
        result = step(tf.ones([4]))
        if read:
            result.numpy()
    print("PID", os.getpid())


def import_tensorflow_after_load() -> None:
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    train({})


def train_and_log() -> None:
    import logging

    train({})
    logging.basicConfig(level=logging.INFO)


def levels() -> None:
    """Prints each log level, and the number of log lines after a graph at that level."""
    import tensorflow as tf

    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    for level in ("3", "2", "1", "0"):
        os.environ["LOG_LEVEL_PASSES"] = level

        def function(x: tf.Tensor) -> tf.Tensor:
            return tf.tanh(x) * 2.0

        function.__name__ = "level_" + level
        tf.function(function)(tf.ones([2]))
        logs = pathlib.Path(os.environ["HABANA_LOGS"]).iterdir()
        print(level, sum(len(path.read_text().splitlines()) for path in logs))


def warn(configures: bool) -> None:
    """Logs a warning of the package in a program that configures logging, or does not."""
    from habana_frameworks.tensorflow import flags

    if configures:
        logging.basicConfig(format="root %(message)s")
    logging.getLogger(flags.__name__).warning("a %s", "text")
