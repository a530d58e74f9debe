"""Training through a device server: the emulator's numbers, bit for bit."""

from __future__ import annotations

import pathlib

from tests.remote.servers import Server
from tests.support.processes import run_with_tensorflow

# Prints every loss and the weights at the end, exactly.
TRAIN = """
import numpy as np
import tensorflow as tf
from habana_frameworks.tensorflow import habana_device, load_habana_module, statistics
from tests.support.digits import load_digits

load_habana_module()
tf.keras.utils.set_random_seed(7)
digits = load_digits()
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, padding="same", input_shape=(8, 8, 1)),
    tf.keras.layers.BatchNormalization(),
    tf.keras.layers.ReLU(),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(10),
])
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(tf.keras.optimizers.Adam(2e-3), loss, ["accuracy"])
history = model.fit(digits.train_images, digits.train_labels, batch_size=64, epochs=2, shuffle=False, verbose=0)
print(*(float(value).hex() for value in history.history["loss"]))
for weight in model.get_weights():
    print(weight.tobytes().hex())
counts = statistics.get()
assert counts.fallbacks == 0
assert sum(cluster.launches for cluster in counts.launched_clusters if "train" in cluster.name) >= 40
assert habana_device.info()["backend"] == BACKEND
"""


def numbers(backend: str, name: str, environment: dict[str, str] | None = None) -> str:
    return run_with_tensorflow(f"BACKEND = {name!r}\n{TRAIN}", {"HPU_BACKEND": backend, **(environment or {})}).stdout


def test_the_numbers_are_the_emulators(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        remote = numbers(server.backend, "remote")
    assert len(remote.splitlines()) == 9
    assert remote == numbers("emulator", "emulator")


def test_recipes_from_the_disk_cache_compute_the_same(tmp_path: pathlib.Path) -> None:
    cached = """
        import os
        import tensorflow as tf
        from habana_frameworks.tensorflow import load_habana_module, statistics
        from habana_frameworks.tensorflow.habana_device import synchronize
        load_habana_module()
        @tf.function
        def step(x):
            return tf.reduce_sum(tf.nn.softmax(x @ x))
        with tf.device("HPU:0"):
            print(float(step(tf.reshape(tf.range(64.0), [8, 8]))).hex())
        print(statistics.recipes().compiled)
    """
    environment = {"TF_RECIPE_CACHE_PATH": str(tmp_path / "cache")}
    with Server(tmp_path) as server:
        environment["HPU_BACKEND"] = server.backend
        first, second = (run_with_tensorflow(cached, environment).stdout.split() for _ in range(2))
    assert first[0] == second[0]
    assert int(first[1]) > 0
    assert int(second[1]) == 0
