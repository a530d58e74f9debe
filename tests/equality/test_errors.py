"""Errors of ops are raised on the HPU as on the CPU. Programs survive failures of the device."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.equality import errors_programs as programs
from tests.support.clusters import assert_launched
from tests.support.compare import HPU
from tests.support.processes import call_to, run_with_tensorflow

errors = tf.errors
X = np.random.default_rng(0).standard_normal((4, 6), dtype=np.float32)
LABELS = np.array([0, 2, 5, 1], np.int32)


def checked_positive(x: tf.Tensor) -> tf.Tensor:
    y = x * 2.0
    tf.debugging.assert_greater(y, 0.0, message="values must be positive")
    return tf.exp(y)


def checked_numerics(x: tf.Tensor) -> tf.Tensor:
    return tf.debugging.check_numerics(tf.math.log(x), "the logarithm is bad") * 2.0


def gathered(ids: tf.Tensor) -> tf.Tensor:
    return tf.gather(tf.constant(X) * 2.0, ids) + 1.0


def embedded(ids: tf.Tensor) -> tf.Tensor:
    return tf.nn.embedding_lookup(tf.constant(X), ids) * 2.0


def gathered_nd(ids: tf.Tensor) -> tf.Tensor:
    return tf.gather_nd(tf.constant(X) * 2.0, ids[:, None]) + 1.0


def labelled(labels: tf.Tensor) -> tf.Tensor:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.constant(X) * 2.0) + 1.0


def divided(ids: tf.Tensor) -> tf.Tensor:
    return tf.constant([4, 5, 6, 7]) // ids


def asserted(x: tf.Tensor) -> tf.Tensor:
    tf.debugging.Assert(tf.reduce_all(x > 0), ["smallest", tf.reduce_min(x)])
    return x * 2.0 + 1.0


def drawn(limit: tf.Tensor) -> tf.Tensor:
    return tf.random.uniform([5], 3, limit, tf.int32, seed=1) // 100


def drawn_stateless(limit: tf.Tensor) -> tf.Tensor:
    return tf.random.stateless_uniform([5], (1, 2), 3, tf.cast(limit * 2, tf.int64) // 2, tf.int64) // 100


Program = Callable[[tf.Tensor], tf.Tensor]
# Program, valid argument, invalid argument, error class, and a word of the error's message.
CASES: dict[str, tuple[Program, Any, Any, type[Exception], str]] = {
    "assert_greater": (checked_positive, np.abs(X), -X, errors.InvalidArgumentError, "values must be positive"),
    "assert": (asserted, np.abs(X), -np.abs(X), errors.InvalidArgumentError, "smallest"),
    "check_numerics": (checked_numerics, np.abs(X), -np.abs(X), errors.InvalidArgumentError, "the logarithm is bad"),
    "gather": (gathered, LABELS % 4, LABELS + 9, errors.InvalidArgumentError, "not in [0, 4)"),
    "gather-negative": (gathered, LABELS % 4, -1 - LABELS, errors.InvalidArgumentError, "not in [0, 4)"),
    "gather_nd": (gathered_nd, LABELS % 4, LABELS + 9, errors.InvalidArgumentError, ""),
    "embedding": (embedded, LABELS % 4, LABELS + 9, errors.InvalidArgumentError, "not in [0, 4)"),
    "labels": (labelled, LABELS, LABELS + 9, errors.InvalidArgumentError, "label"),
    "empty-range": (drawn, np.int32(100), np.int32(3), errors.InvalidArgumentError, "minval < maxval, got 3 >= 3"),
    "stateless-empty-range": (drawn_stateless, np.int32(9), np.int32(-9), errors.InvalidArgumentError, "got 3 >= -9"),
    "integer-division": (divided, LABELS + 1, LABELS, errors.InvalidArgumentError, "ero"),
}


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("name", CASES)
def test_errors_that_users_rely_on(name: str, graph: bool) -> None:
    program, good, bad, kind, word = CASES[name]
    with tf.device(HPU):
        function = tf.function(program) if graph else program
        before = function(tf.constant(good)).numpy()
        # Four calls cover all execution paths of an eager op.
        for _ in range(4):
            with pytest.raises(kind) as raised:
                function(tf.constant(bad)).numpy()
            assert word in str(raised.value)
        np.testing.assert_allclose(function(tf.constant(good)).numpy(), before, rtol=1e-6)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_a_range_that_is_always_empty(graph: bool) -> None:
    def draw() -> tf.Tensor:
        return tf.random.uniform([3], 7, 7, tf.int32) * 2

    with tf.device(HPU):
        function = tf.function(draw) if graph else draw
        for _ in range(4):
            with pytest.raises(errors.InvalidArgumentError, match="Need minval < maxval, got 7 >= 7"):
                function()


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_nothing_is_drawn_from_an_empty_range(graph: bool) -> None:
    def draw(count: tf.Tensor) -> tf.Tensor:
        return tf.random.uniform(tf.stack([count, 2]), 0, count, tf.int32) * 2

    with tf.device(HPU):
        function = tf.function(draw) if graph else draw
        assert [function(tf.constant(count)).shape[0] for count in (3, 0, 2, 0)] == [3, 0, 2, 0]


def test_an_empty_range_in_a_loop() -> None:
    @tf.function
    def draw(limits: tf.Tensor) -> tf.Tensor:
        generator = tf.constant([1, 2])
        total = tf.zeros([4], tf.int32)
        for limit in limits:
            total += tf.random.stateless_uniform([4], generator + limit, 0, limit, tf.int32)
        return total

    with tf.device(HPU):
        total = draw(tf.constant([5, 6, 7])).numpy()
        with pytest.raises(errors.InvalidArgumentError, match="Need minval < maxval, got 0 >= 0"):
            draw(tf.constant([5, 0, 7])).numpy()
    with tf.device("/CPU:0"):
        np.testing.assert_array_equal(total, draw(tf.constant([5, 6, 7])).numpy())


def test_bad_labels_in_fit() -> None:
    with tf.device(HPU):
        model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(X, LABELS % 3, verbose=0)
        weights = model.get_weights()
        with pytest.raises(errors.InvalidArgumentError, match="label"):
            model.fit(X, LABELS, verbose=0)
    for after, before in zip(model.get_weights(), weights):
        np.testing.assert_array_equal(after, before)


def test_bad_ids_of_a_trained_embedding() -> None:
    with tf.device(HPU):
        model = tf.keras.Sequential(
            [tf.keras.layers.Embedding(10, 4, input_length=2), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)]
        )
        model.compile("sgd", "mse")
        ids, targets = np.arange(8).reshape(4, 2) % 10, np.zeros(4, np.float32)
        model.fit(ids, targets, verbose=0)
        with pytest.raises(errors.InvalidArgumentError, match="not in"):
            model.fit(ids + 50, targets, verbose=0)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_shapes_that_do_not_fit_at_run_time(graph: bool) -> None:
    def product(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x * 2.0, y) + 1.0

    spec = tf.TensorSpec([None, None])
    with tf.device(HPU):
        function = tf.function(product, input_signature=[spec, spec]) if graph else product
        for _ in range(3):
            with pytest.raises(errors.InvalidArgumentError, match=r"[Mm]atrix|In\[0\]"):
                function(tf.constant(X), tf.constant(X)).numpy()
        np.testing.assert_allclose(function(tf.constant(X), tf.constant(X.T)).numpy(), 2 * X @ X.T + 1, rtol=1e-4)


def test_an_error_inside_a_graph_with_variables() -> None:
    """A failed assertion stops the update that depends on it."""
    with tf.device(HPU):
        variable = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: tf.Tensor) -> None:
        with tf.control_dependencies([tf.debugging.assert_non_negative(x, "negative step")]):
            variable.assign_add(x * 2.0)

    with tf.device(HPU):
        step(tf.constant([1.0, 1.0]))
        with pytest.raises(errors.InvalidArgumentError, match="negative step"):
            step(tf.constant([-1.0, 1.0]))
    np.testing.assert_array_equal(variable.numpy(), [3.0, 4.0])


def run(program: str, environment: Mapping[str, str | None]) -> str:
    """Runs the program, and returns its output and log."""
    done = run_with_tensorflow(program, {"TF_CPP_MIN_LOG_LEVEL": "1", **environment})
    return done.stdout + done.stderr


def test_an_asynchronous_error_names_the_cluster() -> None:
    run(call_to(programs.asynchronous_error), {"HPU_FAULTS": "launch@1"})


@pytest.mark.parametrize(
    ("call", "asked"),
    [("eager", ["256"]), ("variable", ["256"]), ("cluster", [])],
    ids=["eager", "variable", "cluster"],
)
def test_device_memory_that_is_exhausted(call: str, asked: list[str]) -> None:
    # Less than the argument and the result of the large cluster: for its temporaries alone, it would run on the CPU.
    run(call_to(programs.exhausted_memory, call, asked), {"HPU_MEMORY_MB": "120"})


def test_an_op_that_exhausts_host_memory() -> None:
    """The error names the HPU's allocator or the op on the CPU, and a remedy, unlike TensorFlow's own error."""
    log = run(call_to(programs.exhausted_host_memory), {"HPU_MEMORY_MB": "128"})
    for text in (
        r"compiled later: .*OOM .* by allocator HPU_0_bfc \(134217728 MiB requested, .* HPU_MEMORY_MB \(now 128\)",
        r"AddV2: Largest tensors: \d+ MiB f32\[8388608,4194304\]",
        r"RandomStandardNormal\) ran on the CPU instead of the HPU, and host memory is exhausted: reduce the batch",
        r"no device: .*OOM .*: it exceeds the address space of 128 TiB; reduce the batch size",
    ):
        assert re.search(text, log), (text, log)


@pytest.mark.cpu_fallback("the test is about the fallback")
def test_a_cluster_that_does_not_compile_runs_on_the_cpu() -> None:
    log = run(call_to(programs.fallback), {"HPU_FAULTS": "compile@1+"})
    for warning in (
        "Computation on HPU failed: node=habana_cluster_step_0 error: ",
        "Delegating node=habana_cluster_step_0 to CPU",
    ):
        assert log.count(warning) == 1, log


@pytest.mark.cpu_fallback("the test is about the fallback")
def test_variables_that_a_fallback_assigns() -> None:
    run(call_to(programs.fallback_that_assigns), {"HPU_FAULTS": "compile@1+"})


def test_a_fallback_that_is_forbidden() -> None:
    run(call_to(programs.forbidden_fallback), {"HPU_FAULTS": "compile@1+", "TF_CPU_RUNTIME_FALLBACK": "forbid"})


@pytest.mark.cpu_fallback("the test is about the fallback")
def test_a_fallback_that_fails_leaves_variables_alone() -> None:
    run(call_to(programs.failing_fallback), {"HPU_FAULTS": "compile@1+"})


@pytest.mark.cpu_fallback("the test is about the fallback")
def test_an_invalid_index_in_a_fallback_leaves_variables_alone() -> None:
    run(call_to(programs.invalid_index_in_a_fallback), {"HPU_FAULTS": "compile@1+"})


def test_channels_first_on_the_hpu() -> None:
    programs.assert_channels_first_equals_channels_last()
    assert_launched()
    assert statistics.get().fallbacks == 0


@pytest.mark.cpu_fallback("the test is about the fallback")
def test_channels_first_in_a_fallback() -> None:
    run(call_to(programs.channels_first_in_a_fallback), {"HPU_FAULTS": "compile@1+"})
