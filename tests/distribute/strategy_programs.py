"""Programs for test_strategy.py."""

from __future__ import annotations

import logging
import os
import pathlib
import sys

import tensorflow as tf

from habana_frameworks.tensorflow import errors, hccl, load_habana_module
from habana_frameworks.tensorflow.distribute import HPUStrategy


def workers_without_tf_config() -> None:
    load_habana_module()
    assert HPUStrategy().num_replicas_in_sync == 1
    try:
        hccl.init()
    except hccl.HcclError as error:
        print(error)
    tf.constant(1.0) + 1.0
    os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["a:1", "a:2"]}, "task": {"type": "worker", "index": 0}}'
    try:
        HPUStrategy()
    except errors.AlreadyInitializedError as error:
        print(error)


def one_worker(directory: str, port: int | None = None) -> None:
    """Saves and restores a variable of one worker. If `port` is set, a cluster resolver provides the worker's port."""
    load_habana_module()
    resolver = None
    if port is not None:
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
            tf.train.ClusterSpec({"worker": [f"127.0.0.1:{port}"]}), task_type="worker", task_id=0
        )
    strategy = HPUStrategy(resolver)
    assert isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
    with strategy.scope():
        variable = tf.Variable(tf.ones((3,)))
    assert variable.device.endswith("/device:HPU:0"), variable.device
    assert strategy.num_replicas_in_sync == 1
    checkpoint = tf.train.Checkpoint(v=variable)
    path = checkpoint.save(str(pathlib.Path(directory, "checkpoint")))
    variable.assign_add(tf.fill((3,), 4.0))
    checkpoint.restore(path)
    assert variable.numpy().tolist() == [1.0] * 3
    print(strategy.extended.worker_devices)


def other_strategies() -> None:
    """Creates TensorFlow's strategies, each twice, and prints the package's warnings after each strategy's devices."""
    load_habana_module()
    logger = logging.getLogger("habana_frameworks.tensorflow")
    logger.addHandler(logging.StreamHandler(sys.stdout))
    logger.propagate = False
    distribute = tf.distribute
    for create in (
        lambda: distribute.MirroredStrategy(["HPU:0"]),
        lambda: distribute.MirroredStrategy(devices=["CPU:0"]),
        lambda: distribute.OneDeviceStrategy("/device:HPU:0"),
        HPUStrategy,
        distribute.MirroredStrategy,
        lambda: distribute.MirroredStrategy(["HPU:0", "HPU:1"]),
        lambda: distribute.OneDeviceStrategy("/GPU:0"),
        distribute.MultiWorkerMirroredStrategy,
    ):
        print("--")
        for _ in range(2):
            create()


def strategy_with_hidden_hpu() -> None:
    """Creates a MirroredStrategy in a program that hides the HPU."""
    load_habana_module()
    tf.config.set_visible_devices([], "HPU")
    tf.distribute.MirroredStrategy()
