"""Times all-reduces between the ranks of a job, and prints the results as JSON. Run by collectives.py with hpu run."""

from __future__ import annotations

import json
import time

import tensorflow as tf
from tensorflow.python.ops import collective_ops

from habana_frameworks.tensorflow import flags, load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy, in_server
from tools.accelerator.checks import outcome

MEBIBYTES = (1, 64)
# Line of rank 0 with the results.
PREFIX = "collectives: "
_GROUP = 41
_REPETITIONS = 20


def main() -> None:
    load_habana_module()
    HPUStrategy()  # starts the job's collectives
    size = multinode_helpers.comm_size()
    rank = multinode_helpers.comm_rank()
    joined = in_server.join(_GROUP, rank, size)
    assert joined == (flags.pjrt_collectives() == "device"), f"the devices form a communicator: {joined}"
    results = {}
    for number, mebibytes in enumerate(MEBIBYTES):

        @tf.function(input_signature=[tf.TensorSpec([mebibytes << 18], tf.float32)])
        def reduced(values: tf.Tensor, key: int = 100 + number) -> tf.Tensor:
            return collective_ops.all_reduce(values, size, _GROUP, key, "Add", "Id")

        with tf.device(outcome.HPU):
            values = tf.range(mebibytes << 18, dtype=tf.float32) % 97.0 + float(rank)
        total = reduced(values)
        expected = tf.range(mebibytes << 18, dtype=tf.float32) % 97.0 * float(size) + float(size * (size - 1) // 2)
        assert bool(tf.reduce_all(total == expected)), f"a wrong sum of {mebibytes} MiB"
        total.numpy()
        begin = time.perf_counter()
        for _ in range(_REPETITIONS):
            total = reduced(values)
        total.numpy()
        results[f"{mebibytes} MiB"] = (time.perf_counter() - begin) / _REPETITIONS * 1e3
    if rank == 0:
        print(PREFIX + json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
