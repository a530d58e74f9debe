"""Programs for test_failures.py: clients of servers that die, hang or do not exist."""

from __future__ import annotations

import os
import sys
import time

import tensorflow as tf

from habana_frameworks.tensorflow import errors, habana_device, load_habana_module


def load() -> None:
    load_habana_module()


def train() -> None:
    load_habana_module()
    weight = tf.Variable(tf.ones([64, 64]))

    @tf.function
    def step() -> tf.Tensor:
        weight.assign(tf.nn.softmax(weight @ weight))
        return tf.reduce_sum(weight)

    print(float(step()), flush=True)
    try:
        while True:
            float(step())
    except tf.errors.UnavailableError as error:
        print(error.message)


def compute_when_told() -> None:
    habana_device.acquire()
    with tf.device("HPU:0"):
        ones = tf.ones([100])
    print("ready", flush=True)
    sys.stdin.read()
    begun = time.monotonic()
    try:
        (ones + 1).numpy()
        habana_device.synchronize()
        print("no error")
    except (tf.errors.UnavailableError, errors.DeviceError) as error:
        print(error)
    assert time.monotonic() - begun < 12.5, time.monotonic() - begun


def wrong_addresses() -> None:
    for backend in ("grpc://nowhere", "grpc+unix:relative", "grpcs:127.0.0.1:1"):
        os.environ["HPU_BACKEND"] = backend
        try:
            load_habana_module()
            print("loaded")
        except errors.BackendError as error:
            assert f"HPU_BACKEND={backend}" in str(error), error
