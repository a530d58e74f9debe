"""Clusters whose arguments change their sizes: results equal the CPU's, and one recipe serves several sizes."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import tensorflow as tf
import yaml

from habana_frameworks.tensorflow import statistics
from tests.ops.bounded_size_programs import OWN_RECIPES, PROGRAMS, SIZES, function_of
from tests.ops.sweep.bounded_sweep import BAD, EQUAL, REFUSED, TABLE, BoundedSweep
from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("bounded")

_SHARE = 40  # the sample runs one of this many ops


@pytest.fixture
def bounded(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_ENABLE_DYNAMIC_SHAPES", "1")
    monkeypatch.setenv("HPU_COMPILE_MODE", "strict")
    monkeypatch.setenv("HPU_MIN_CLUSTER_SIZE", "1")
    statistics.reset()


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_sizes_share_a_recipe(name: str) -> None:
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            function = function_of(PROGRAMS[name])
            results.append([function(size) for size in SIZES])
    for size, result, expected in zip(SIZES, results[1], results[0]):
        assert_close(result, expected, context=f"size {size},")
    clusters = statistics.get().launched_clusters
    assert clusters and all(2 * one.recipes <= one.launches for one in clusters) == (name not in OWN_RECIPES)


def test_sparse_gradients_share_a_recipe() -> None:
    """Unique is in the step's cluster: Adam adds up the rows of each word."""

    def losses() -> list[float]:
        generator = np.random.default_rng(0)
        start = generator.standard_normal((20, 3)).astype(np.float32)
        optimizer = tf.keras.optimizers.Adam(0.1)
        table = tf.Variable(start)
        optimizer.build([table])

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int64)])
        def step(words: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.reduce_mean(tf.nn.embedding_lookup(table, words), 1) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])
            return loss

        sizes = [(2, 3), (10, 9), (11, 10), (12, 12), (9, 11)]
        return [float(step(tf.constant(generator.integers(0, 20, size)))) for size in sizes]

    with tf.device(CPU):
        expected = losses()
    with tf.device(HPU):
        np.testing.assert_allclose(losses(), expected, rtol=1e-5)
    assert statistics.get().cluster("step").recipes == 2


def test_a_sample_of_all_ops() -> None:
    table = yaml.safe_load(TABLE.read_text())
    sweep = BoundedSweep(cases_per_op=1)
    try:
        ops = [claim.op for claim in sweep.claims()][::_SHARE]
        results = [(op, result) for op in ops for result in sweep.run(op)]
    finally:
        sweep.close()
    assert collections.Counter(result.verdict for _, result in results)[EQUAL] > 10
    assert not [result for _, result in results if result.verdict in BAD]
    unlisted = {op for op, result in results if result.verdict == REFUSED} - table.keys()
    assert not unlisted, f"one recipe cannot serve all sizes of {unlisted}: list them in {TABLE.name}"
