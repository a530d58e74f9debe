"""Collective operations among the HPUs of a job, without training: hpu run -np 3 examples/collectives.py"""

from __future__ import annotations

import sys

import tensorflow as tf

from habana_frameworks.tensorflow import hccl


def main() -> None:
    world = hccl.init()
    own = tf.fill([2], float(world.rank + 1))
    lines = [
        f"sum {hccl.all_reduce(own, hccl.ReduceOp.SUM, world).numpy()}",
        f"all {hccl.all_gather(own, world).numpy()}",
        f"rank 0's {hccl.broadcast(own, 0, world).numpy()}",
    ]
    if world.size > 1:
        before, after = (world.rank - 1) % world.size, (world.rank + 1) % world.size
        with hccl.group():  # starts the send and the receive together
            hccl.send(own, after, world)
            received = hccl.receive(own.shape, own.dtype, before, world)
        lines.append(f"from rank {before} {received.tensor().numpy()}")
    hccl.barrier(world)
    sys.stdout.write("; ".join(lines) + "\n")


if __name__ == "__main__":
    main()
