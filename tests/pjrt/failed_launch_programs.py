"""Program for test_failed_launches.py."""

from __future__ import annotations

import json

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import habana_device, load_habana_module, statistics
from tests.pjrt.forwarding_plugin import MIB, ForwardingPlugin


def _raised(call: object) -> tf.errors.OpError:
    assert callable(call)
    try:
        call()
    except tf.errors.OpError as error:
        return error
    raise AssertionError("no error")


def train(consumes: bool) -> None:
    """Trains two variables, and fails the third step's launch. Prints what each read and step yields, as JSON."""
    plugin = ForwardingPlugin.of_backend()
    plugin.set_memory(3 * MIB, -1, 4096 * MIB, MIB, -1, -1)
    load_habana_module()
    with tf.device("/device:HPU:0"):
        trained, other = tf.Variable(tf.ones([512])), tf.Variable(tf.fill([512], 7.0))

        @tf.function
        def step(gradient: tf.Tensor) -> tf.Tensor:
            scaled = tf.sin(gradient) * 0.0 + gradient
            trained.assign_add(scaled)
            return tf.reduce_sum(scaled)

        @tf.function
        def use_other() -> tf.Tensor:
            return tf.reduce_sum(tf.sqrt(other * other) + 1.0)

        gradient = tf.ones([512])

        def run() -> None:
            step(gradient)
            habana_device.synchronize()

        before = use_other().numpy()
        run()
        run()
        plugin.fail_launch(consumes=consumes)
        step_error = _raised(lambda: step(gradient).numpy())
        result: dict[str, object] = {"step": [type(step_error).__name__, step_error.message]}
        if consumes:
            read_error = _raised(trained.numpy)
            again = _raised(lambda: step(gradient).numpy())
            result["read"] = [type(read_error).__name__, read_error.message]
            result["again"] = [type(again).__name__, again.message]
        else:
            result["kept"] = np.unique(trained.numpy()).tolist()
        result["other"] = bool(np.all(other.numpy() == 7.0)) and bool(use_other().numpy() == before)
        trained.assign(tf.fill([512], 10.0))
        result["assigned"] = np.unique(trained.numpy()).tolist()
        for _ in range(3):
            run()
        result["trained"] = np.unique(trained.numpy()).tolist()
        result["fallbacks"] = statistics.get().fallbacks
    print(json.dumps(result))
