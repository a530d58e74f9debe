"""Program for test_threads.py."""

from __future__ import annotations

import threading
import time

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def end_while_threads_work() -> None:
    load_habana_module()
    with tf.device("/HPU:0"):
        variable = tf.Variable(tf.zeros([64, 64]))

    @tf.function
    def step() -> None:
        variable.assign_add(tf.matmul(variable, variable) + 1.0)

    def work() -> None:
        with tf.device("/HPU:0"):
            while True:
                step()

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(2)
    print("end")
