"""Trains on handwritten digits with HPUStrategy, one worker per HPU: hpu run -np 2 examples/digits_strategy.py

Runs under any launcher that sets TF_CONFIG, and under Slurm's srun: docs/distributed/clusters.md.
"""

from __future__ import annotations

import os

import tensorflow as tf

import digits
from habana_frameworks.tensorflow import load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy

EPOCHS = 8
BATCH = 64  # of all workers together
MAX_HPUS_PER_NODE = 8


def cluster_resolver() -> tf.distribute.cluster_resolver.SlurmClusterResolver | None:
    """Names the workers of a Slurm step. Other launchers set TF_CONFIG, which the strategy reads itself."""
    if "TF_CONFIG" in os.environ or "SLURM_STEP_NUM_TASKS" not in os.environ:
        return None
    # Ports that `srun --resv-ports` reserves, such as 12000-12007. Without reserved ports, jobs must not share a node.
    first_port = os.environ.get("SLURM_STEP_RESV_PORTS", "8888").partition("-")[0]
    return tf.distribute.cluster_resolver.SlurmClusterResolver(
        port_base=int(first_port), gpus_per_node=MAX_HPUS_PER_NODE, gpus_per_task=1, auto_set_gpu=False
    )


def batches(images: digits.Array, labels: object, size: int) -> tf.data.Dataset:
    """Global batches; the strategy splits each batch among the workers."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return tf.data.Dataset.from_tensor_slices((images, labels)).batch(size, drop_remainder=True).with_options(options)


def main() -> None:
    load_habana_module()
    strategy = HPUStrategy(cluster_resolver())  # before the first operation
    tf.keras.utils.set_random_seed(1)
    data = digits.load()
    with strategy.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Conv2D(16, 3, activation="relu", input_shape=(8, 8, 1)),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(10),
            ]
        )
        model.compile(
            tf.keras.optimizers.SGD(0.1, momentum=0.9),
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    model.fit(batches(data.train_images, data.train_labels, BATCH), epochs=EPOCHS, verbose=0)
    loss, accuracy = model.evaluate(batches(data.test_images, data.test_labels, 120), verbose=0)
    if multinode_helpers.comm_rank() == 0:
        device = tf.convert_to_tensor(model.trainable_variables[0]).device
        workers = strategy.num_replicas_in_sync
        print(f"{workers} workers, worker 0 on {device}: test loss {loss:.3f}, test accuracy {accuracy:.1%}")


if __name__ == "__main__":
    main()
