"""Worker for test_rendezvous.py: compares collective ops between the devices of a job with NumPy."""

from __future__ import annotations

import sys

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module
from habana_frameworks.tensorflow.distribute import HPUStrategy, in_server
from tests.distribute import collectives


def main() -> None:
    load_habana_module()
    strategy = HPUStrategy()
    joined = in_server.join(collectives.GROUP, collectives.RANK, collectives.SIZE)
    sys.stdout.write(f"joined {joined}\n")
    collectives.check_strategy(strategy)
    with tf.device("/device:HPU:0"):
        for dtype in collectives.DTYPES:
            collectives.check_all(dtype)
    sys.stdout.write("collectives agree\n")


if __name__ == "__main__":
    main()
