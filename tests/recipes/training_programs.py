"""Programs that compile a few recipes. Programs with further recipes run before train() in the same process."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import time

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from habana_frameworks.tensorflow._internal.native import plugin_library


def train() -> None:
    """Prints the losses of four train steps and the origins of the recipes."""
    load_habana_module()
    tf.random.set_seed(3)
    weights = tf.Variable(tf.random.stateless_normal([16, 4], [1, 2]))
    images = tf.random.stateless_normal([8, 16], [3, 4])

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softmax(tf.nn.dropout(images @ weights, 0.3)) ** 2)
        weights.assign_sub(tape.gradient(loss, weights))
        return loss

    losses = [float(step()) for _ in range(4)]
    plugin_library.finish_compiling()
    print(json.dumps({"losses": losses, "recipes": vars(statistics.recipes())}))


def scale(n: int) -> None:
    tf.function(lambda x: x * n + 1)(tf.ones([n]))


def one_recipe() -> None:
    load_habana_module()
    tf.function(lambda x: x * 2 + 1)(tf.ones([3]))


def two_recipes() -> None:
    load_habana_module()
    for size in (3, 5):
        scale(size)


def one_recipe_in(cache: str) -> None:
    """Sets the path of the cache after loading."""
    load_habana_module()
    os.environ["TF_RECIPE_CACHE_PATH"] = cache
    one_recipe()


def one_recipe_and_clear(cache: str) -> None:
    one_recipe()
    shutil.rmtree(cache, True)


def one_recipe_with_small_files() -> None:
    """Limits files to 4 KiB."""
    load_habana_module()
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    one_recipe()


def two_recipes_and_die() -> None:
    """Prints the running processes, then kills itself, so that no code runs at exit."""
    two_recipes()
    os.system("ps -wweo args")
    os.kill(os.getpid(), signal.SIGKILL)


def changing_constants_and_shapes() -> None:
    load_habana_module()

    @tf.function(autograph=False)
    def head(x: tf.Tensor, n: int) -> tf.Tensor:
        return tf.reduce_sum(x[:n] * 2.0)

    for x, n in ((tf.ones([9]), 3), (tf.ones([9]), 4), (tf.ones([7]), 4)):
        head(x, n)
        time.sleep(1.1)
