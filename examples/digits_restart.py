"""Resumes from the last epoch after the loss of a rank: hpu run -np 2 --restarts 2 examples/digits_restart.py

With --lose-rank 1, rank 1 is killed in the fourth epoch of the first start.
"""

from __future__ import annotations

import argparse
import os
import signal

import tensorflow as tf

import digits
from habana_frameworks.tensorflow import load_habana_module, multinode_helpers
from habana_frameworks.tensorflow.distribute import HPUStrategy

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--backup", default="digits_backup", metavar="DIRECTORY", help="checkpoints (default: %(default)s)")
parser.add_argument("--lose-rank", type=int, metavar="RANK")
arguments = parser.parse_args()
load_habana_module()
strategy = HPUStrategy()  # before the first operation
tf.keras.utils.set_random_seed(1)
data = digits.load()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(8, 8, 1)), tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(1e-2), loss, metrics=["accuracy"])


def lose_rank(epoch: int, logs: object) -> None:
    if (epoch, multinode_helpers.comm_rank()) == (3, arguments.lose_rank) and os.environ["HPU_RESTART_COUNT"] == "0":
        os.kill(os.getpid(), signal.SIGKILL)


backup = tf.keras.callbacks.BackupAndRestore(arguments.backup, delete_checkpoint=False)
batches = tf.data.Dataset.from_tensor_slices((data.train_images, data.train_labels)).batch(64, drop_remainder=True)
callbacks = [backup, tf.keras.callbacks.LambdaCallback(on_epoch_begin=lose_rank)]
history = model.fit(batches, epochs=8, callbacks=callbacks, verbose=0)
value, accuracy = model.evaluate(batches, verbose=0)
print(f"epochs {history.epoch} of 8, loss {value:.6f}, accuracy {accuracy:.1%}", flush=True)
