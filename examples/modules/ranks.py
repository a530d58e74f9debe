"""Prints the rank and size of a job in each process: `hpu run -np 2 examples/modules/ranks.py`."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy


def main() -> None:
    # Also loads the HPU module.
    strategy = HPUStrategy()
    rank, size = multinode_helpers.comm_rank(), multinode_helpers.comm_size()
    with strategy.scope():
        weight = tf.Variable(1.0)

    @tf.function
    def total() -> tf.Tensor:
        return strategy.reduce("sum", strategy.run(lambda: weight * (rank + 1.0)), axis=None)

    print(f"rank {rank} of {size}, {multinode_helpers.comm_local_rank()} on this machine: sum {float(total())}")


if __name__ == "__main__":
    main()
