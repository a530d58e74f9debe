"""Programs for test_access.py: clients of device servers, and servers that fail to start."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence

import tensorflow as tf

from habana_frameworks.tensorflow import device_server, errors, habana_device, load_habana_module
from habana_frameworks.tensorflow.cli import main


def try_environments(environments: Sequence[Mapping[str, str]]) -> None:
    """Loads the module with each of these environments, and prints each error."""
    refusals = []
    for environment in environments:
        os.environ.update(environment)
        try:
            load_habana_module()
            refusals.append("")
        except errors.BackendError as error:
            refusals.append(str(error))
        for name in environment:
            del os.environ[name]
    print(json.dumps(refusals))


def serve(calls: Sequence[Sequence[str]]) -> None:
    """Runs `hpu serve` with each of these arguments, all of which must fail."""
    for arguments in calls:
        assert main(["serve", *arguments]) == 1
        print(flush=True, file=sys.stderr)


def start_servers(addresses: Sequence[str], token: str = "") -> None:
    """Starts servers at each of these addresses, which the command would reject earlier."""
    for address in addresses:
        try:
            device_server.start(address, "null", token=token)
        except errors.DeviceError as error:
            print(error)


def compute() -> None:
    load_habana_module()
    with tf.device("HPU:0"):
        print(float(tf.reduce_sum(tf.function(lambda x: x @ x)(tf.ones([512, 512])))))


def compute_when_told() -> None:
    habana_device.acquire()
    print("acquired", flush=True)
    sys.stdin.readline()
    try:
        with tf.device("HPU:0"):
            (tf.ones([100]) + 1).numpy()
            habana_device.synchronize()
    except (tf.errors.UnavailableError, errors.DeviceError) as error:
        print(error)


def leave_a_child() -> None:
    """Prints the id of a child that outlives this process."""
    habana_device.acquire()
    child = os.fork()
    if child == 0:
        time.sleep(120)
        os._exit(0)
    print(child, flush=True)
    os._exit(0)
