"""Programs for test_training.py."""

from __future__ import annotations

import gc
import hashlib
import json
import pathlib

import tensorflow as tf

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import habana_device, load_habana_module, statistics


def train(name: str, optimizer: str, steps: int) -> None:
    """Trains a model of the benchmarks from fixed weights.

    Prints losses, a digest of the weights, counters, the number of variables that a step assigns, and how many
    arguments the steps after the second have updated in place and copied.
    """
    load_habana_module()
    tf.keras.utils.set_random_seed(1)
    problem = PROBLEMS[name]
    with tf.device("/device:CPU:0"):
        weights = problem.build().get_weights()
    trainer = Trainer(problem, "/device:HPU:0", optimizer, weights=weights)
    losses = trainer.losses(problem.batch(), steps=2)  # traces the step and creates the optimizer's variables
    before = habana_device.memory_info()
    losses = [*losses, *trainer.losses(problem.batch(), steps=steps - 2)]
    after = habana_device.memory_info()
    digest = hashlib.sha256(b"".join(weight.tobytes() for weight in trainer.model.get_weights())).hexdigest()
    counters = statistics.get()
    of_adam = 2 * len(trainer.model.trainable_variables) + 1  # two for each variable, and the number of steps
    print(
        json.dumps(
            {
                "losses": [float(loss) for loss in losses],
                "weights": digest,
                "launched_clusters": len(counters.launched_clusters),
                "fallbacks": counters.fallbacks,
                "variables": len(trainer.model.variables) + of_adam,
                "donated": after.donated_arguments - before.donated_arguments,
                "kept": after.kept_arguments - before.kept_arguments,
            }
        )
    )


def _resident_bytes() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def grow(steps: int) -> None:
    """Trains the MLP for `steps` steps twice.

    Prints the growth of the process in the second half, in bytes, and the growth of the plugin's live buffers.
    """
    load_habana_module()
    problem = PROBLEMS["mlp"]
    trainer = Trainer(problem, "/device:HPU:0", "adam")
    tensors = trainer.to_device(problem.batch())
    resident = []
    buffers = []
    for _ in range(2):
        for _ in range(steps):
            loss = trainer.step(*tensors)
        loss.numpy()
        gc.collect()
        habana_device.synchronize()  # destroys the handles of donated buffers
        buffers.append(habana_device.memory_info().buffers)
        resident.append(_resident_bytes())
    print(json.dumps({"bytes": resident[1] - resident[0], "buffers": buffers[1] - buffers[0]}))


def hold_values(steps: int) -> None:
    """Reads a variable before each step that overwrites it. The read values must not change."""
    load_habana_module()
    with tf.device("/device:HPU:0"):
        variable = tf.Variable(tf.zeros([64, 64]))

        @tf.function
        def step() -> tf.Tensor:
            before = tf.identity(variable)
            variable.assign_add(tf.ones([64, 64]))
            return before

        held = []
        for _ in range(steps):
            held.append(variable.read_value())
            held.append(step())
    for i, value in enumerate(held):
        expected = float(i // 2)
        assert float(tf.reduce_min(value)) == float(tf.reduce_max(value)) == expected, (i, value)
    assert float(variable[0, 0]) == steps
