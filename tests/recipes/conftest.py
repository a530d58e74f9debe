"""A cache directory of the test's own, and a program that compiles a few recipes."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.processes import run_with_tensorflow

# Prints the losses of four train steps and where the recipes came from. `before` runs first.
PROGRAM = """
    import json, logging
    import habana_frameworks.tensorflow as htf
    htf.load_habana_module()
    import tensorflow as tf
    from habana_frameworks.tensorflow import statistics
    from habana_frameworks.tensorflow._internal.native import plugin_library
    {before}
    tf.random.set_seed(3)
    weights = tf.Variable(tf.random.stateless_normal([16, 4], [1, 2]))
    images = tf.random.stateless_normal([8, 16], [3, 4])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softmax(tf.nn.dropout(images @ weights, 0.3)) ** 2)
        weights.assign_sub(tape.gradient(loss, weights))
        return loss

    losses = [float(step()) for _ in range(4)]
    plugin_library.finish_compiling()
    print(json.dumps({{"losses": losses, "recipes": vars(statistics.recipes())}}))
"""


def run_training(cache: pathlib.Path, environment: Mapping[str, str | None] | None = None, before: str = "") -> Any:
    """Runs the program in a process of its own; its output, and what it wrote to stderr as "messages"."""
    variables: dict[str, str | None] = {"TF_RECIPE_CACHE_PATH": str(cache), "TF_CPP_MIN_LOG_LEVEL": "1"}
    done = run_with_tensorflow(PROGRAM.format(before=before), {**variables, **(environment or {})})
    return {**json.loads(done.stdout.splitlines()[-1]), "messages": done.stderr}


@dataclasses.dataclass(frozen=True)
class Warm:
    """What a first process computed, and the directory that it filled."""

    cache: pathlib.Path
    first: dict[str, Any]

    def copy(self, cache: pathlib.Path) -> Warm:
        shutil.copytree(self.cache, cache)
        return Warm(cache, self.first)


@pytest.fixture(scope="session")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Warm:
    cache = tmp_path_factory.mktemp("first") / "recipes"
    return Warm(cache, run_training(cache))


@pytest.fixture
def warm(first_run: Warm, tmp_path: pathlib.Path) -> Warm:
    """A copy for one test."""
    return first_run.copy(tmp_path / "recipes")


@pytest.fixture(scope="session")
def several_run(tmp_path_factory: pytest.TempPathFactory) -> Warm:
    """The same with two more clusters: three recipes."""
    cache = tmp_path_factory.mktemp("several") / "recipes"
    before = "[tf.function(lambda x: x * n + 1)(tf.ones([n])) for n in (3, 5)]"
    return Warm(cache, run_training(cache, before=before))


@pytest.fixture
def several(several_run: Warm, tmp_path: pathlib.Path) -> Warm:
    """A copy for one test."""
    return several_run.copy(tmp_path / "several")
