"""Programs for test_failures.py: workers that wait for a lost or late worker."""

from __future__ import annotations

import os
import pathlib
import sys
import threading
import time

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy, in_server
from habana_frameworks.tensorflow.monitor import server


def join_communicator(rank: int) -> None:
    """Joins a communicator as one of three ranks.

    Once the server has the call, prints the communicator's id for the later ranks.
    """

    def calls() -> int:
        modules = server.describe(os.environ["HPU_BACKEND"]).modules
        return sum(module.counters.calls for module in modules if module.holder.pid == os.getpid())

    load_habana_module()
    identity = in_server._new_id() if rank == 0 else sys.stdin.readline().strip()
    before = calls()
    joining = threading.Thread(target=in_server._join_devices, args=(7, identity, rank, ["a", "b", "c"], False))
    joining.start()
    while calls() == before and joining.is_alive():
        time.sleep(0.05)
    print(identity, flush=True)


def stall(logs: str) -> None:
    """Makes rank 1 start its second step only after the log reports that the other rank waits."""
    strategy = HPUStrategy()

    def told() -> bool:
        return any("float[9]" in path.read_text() for path in pathlib.Path(logs).glob("*"))

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        context = tf.distribute.get_replica_context
        return strategy.run(lambda: context().all_reduce("sum", tf.tanh(x)))

    step(tf.zeros((2, 3)))
    while multinode_helpers.comm_rank() == 1 and not told():
        time.sleep(0.1)
    step(tf.zeros((3, 3)))
