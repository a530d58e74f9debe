"""Assertions in train steps: one launch, the CPU's errors, and variables as before the step if an assertion fails."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.equality import assertions_programs as programs
from tests.support.compare import CPU, HPU
from tests.support.processes import call_to, run_with_tensorflow

pytestmark = pytest.mark.usefixtures("hpu")


@pytest.mark.parametrize("program", programs.PROGRAMS)
def test_one_launch_with_the_errors_of_the_cpu(program: programs.Program) -> None:
    programs.compare(program)
    counts = statistics.get()
    launches = sum(cluster.launches for cluster in counts.clusters)
    assert (counts.fallbacks, launches) == (0, len(programs.CALLS))


@pytest.mark.parametrize("mode", ["never", "auto"])
def test_clusters_that_run_on_the_cpu(mode: str) -> None:
    environment = {"HPU_COMPILE_MODE": mode, "TF_CPU_RUNTIME_FALLBACK": "allow"}
    run_with_tensorflow(call_to(programs.all_programs), environment)


@pytest.mark.parametrize("device", [CPU, HPU])
def test_a_loop_that_needs_the_assertion_ends(device: str) -> None:
    """Without the assertion, the loop would run for hours."""

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        turns = tf.cast(tf.reduce_sum(tf.exp(x)), tf.int64)
        with tf.control_dependencies([tf.debugging.assert_less(turns, tf.constant(50, tf.int64))]):
            left = tf.identity(turns)
        total = tf.zeros([])
        while left != 0:
            left -= 1
            total += 1.0
        return total

    with tf.device(device):
        assert step(tf.constant([1.0, 2.0])).numpy() == 10.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            step(tf.constant([1.0, 30.0]))


@pytest.mark.parametrize("device", [CPU, HPU])
def test_side_effects_after_a_failed_assertion_do_not_happen(device: str, tmp_path: Path) -> None:
    written = tmp_path / "written"

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        y = tf.exp(x)
        with tf.control_dependencies([tf.debugging.assert_less(y, 5.0)]):
            z = tf.square(y)
        tf.io.write_file(str(written), tf.strings.as_string(tf.reduce_sum(z)))
        return tf.tanh(z)

    with tf.device(device):
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            step(tf.constant([1.0, 2.0]))
        assert not written.exists()
        step(tf.constant([1.0, 0.5]))
        assert written.exists()


def test_an_assertion_of_arguments_fails_before_the_cluster_runs() -> None:
    @tf.function
    def step(x: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies([tf.debugging.assert_equal(tf.shape(x)[0], count)]):
            y = tf.tanh(tf.exp(x))
        return tf.reduce_sum(y * 2.0, axis=0)

    def launches() -> int:
        clusters = statistics.get().clusters
        return sum(cluster.launches for cluster in clusters if cluster.name.endswith("_1"))

    with tf.device(HPU):
        x = tf.constant([1.0, 2.0])
        step(x, tf.constant(2))
        assert launches() == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            step(x, tf.constant(3))
        assert launches() == 1


def test_a_keras_model_of_unknown_length_is_one_launch() -> None:
    """The loss asserts that labels and predictions have the same shape."""
    layers = tf.keras.layers
    with tf.device(HPU):
        inputs = tf.keras.Input([None], dtype=tf.int32)
        x = layers.GRU(8, return_sequences=True)(layers.Embedding(20, 8, mask_zero=True)(inputs))
        model = tf.keras.Model(inputs, layers.Dense(20)(x))
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        words = tf.data.Dataset.from_tensors((tf.ones([4, 6], tf.int32), tf.ones([4, 6], tf.int32)))
        data = words.map(lambda x, y: (tf.ensure_shape(x, [None, None]), tf.ensure_shape(y, [None, None]))).repeat(3)
        model.fit(data, verbose=0)
    clusters = statistics.get().clusters
    assert [cluster.launches for cluster in clusters if cluster.launches] == [3]
