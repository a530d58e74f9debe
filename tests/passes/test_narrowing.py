"""Narrowing of 64-bit values to 32 bits, under an op list without 64-bit dtypes.

Results keep their values and dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes

tf1 = tf.compat.v1
pytestmark = pytest.mark.usefixtures("hpu")

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
I64 = tf.int64


@pytest.fixture(autouse=True)
def gaudi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_PLACE_ON_CPU", raising=False)
    monkeypatch.setenv("HPU_OP_LIST", "gaudi")
    monkeypatch.setenv("HPU_OP_LIST_UNKNOWN", "allow")
    tf.config.set_soft_device_placement(True)  # a context that starts inside a graph disables it


def run(function: Callable[..., Any], *args: Any) -> tuple[dict[str, str], set[str]]:
    """Compares the results with the CPU. Returns the narrowings by op type, and the refused op types."""
    name = function.__name__
    args = tuple(tf.constant(arg) for arg in args)
    actual = tf.function(function)(*args)
    with tf.device("/CPU:0"):
        expected = function(*args)
    for left, right in zip(tf.nest.flatten(actual), tf.nest.flatten(expected)):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left.numpy(), right.numpy())
    rewrites: dict[str, str] = {}
    refused: set[str] = set()
    for report in passes.recent_reports():
        if report.graph == name:
            rewrites.update((r.op, r.what) for r in report.rewrites if r.pass_name == "narrow")
            refused.update(r.op for r in report.refusals if r.rule == "dtype")
    return rewrites, refused


def test_axes_and_shapes() -> None:
    def constant_indices(x: tf.Tensor) -> Any:
        y = tf.raw_ops.Sum(input=x, axis=tf.constant(1, I64))
        z = tf.raw_ops.Reshape(tensor=x, shape=tf.constant([4, 3], I64))
        return y, tf.raw_ops.Transpose(x=z, perm=tf.constant([1, 0], I64)) * 2.0

    rewrites, refused = run(constant_indices, X)
    assert rewrites == dict.fromkeys(["Sum", "Reshape", "Transpose"], "reads int32")
    assert not refused


def test_constants_that_do_not_fit_stay() -> None:
    def large(n: tf.Tensor) -> Any:
        far = tf.constant([2**31, -(2**31) - 1, 2**31 - 1], I64)
        near = tf.constant([2**31 - 1, -(2**31), 0], I64)
        long = tf.cast(n, I64)
        return tf.greater(far, long), tf.less(near, long)

    rewrites, refused = run(large, np.array([5, -(2**31), 2**31 - 1], np.int32))
    assert rewrites == {"Less": "reads int32"}
    assert refused == {"Greater", "Cast"}


def test_positions_keep_their_type_for_the_user() -> None:
    def positions(x: tf.Tensor) -> Any:
        index = tf.argmax(x, axis=1)
        return index, tf.cast(index, tf.float32) * 2.0, tf.gather(x[0], index), index + 2**40

    rewrites, refused = run(positions, X)
    assert rewrites["ArgMax"] == "computes in int32"
    assert rewrites["Cast"] == rewrites["GatherV2"] == "reads int32"
    assert refused == {"Cast", "AddV2"}  # the cast to int64 has the name of the ArgMax


def test_positions_of_unknown_bound_stay() -> None:
    def unbounded(x: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.argmax(x, axis=0), tf.float32)

    function = tf.function(unbounded, input_signature=[tf.TensorSpec([None, 4])])
    np.testing.assert_array_equal(function(tf.constant(X)).numpy(), np.argmax(X, 0))
    report = next(r for r in reversed(passes.recent_reports()) if r.graph == "unbounded")
    assert ("ArgMax", "dtype") in {(r.op, r.rule) for r in report.refusals}


def test_sizes_through_arithmetic_that_moves_values() -> None:
    def sizes(x: tf.Tensor, n: tf.Tensor) -> Any:
        shape = tf.shape(x, out_type=I64)
        both = tf.concat([shape[1:], shape[:1]], 0)
        return tf.reshape(x, both), tf.maximum(both, tf.cast(n, I64)), tf.cast(n, I64) * shape

    rewrites, refused = run(sizes, X, np.array([3, -(2**31)], np.int32))
    assert rewrites["ConcatV2"] == rewrites["Maximum"] == rewrites["StridedSlice"] == "computes in int32"
    assert "Mul" in refused  # a product may overflow


def test_ops_with_several_results() -> None:
    def several(x: tf.Tensor, n: tf.Tensor) -> Any:
        long = tf.cast(n, I64)
        first, second = tf.split(long, 2)
        a, b, c = tf.split(long, [1, 2, 1])
        p, q, r, s = tf.unstack(long)
        top, where = tf.math.top_k(long, 2)
        rows, _ = tf.shape_n([x, x[0]], out_type=I64)
        return (
            (first, tf.cast(second, tf.float32) * 2.0, tf.cast(b, tf.float32) * 2.0, a, c),
            (tf.stack([p, s]) > tf.stack([q, r]), top, tf.gather(x, where), tf.reshape(x, rows)),
        )

    rewrites, refused = run(several, X, np.array([3, 1, 2**31 - 1, -(2**31)], np.int32))
    for op in ("Split", "SplitV", "Unpack", "TopKV2", "ShapeN"):
        assert rewrites[op] == "computes in int32"
    assert rewrites["Greater"] == rewrites["Cast"] == "reads int32"
    assert refused == {"Cast"}  # casts to int64 of the function's results


def test_several_results_of_which_one_waits_and_one_is_fetched() -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        n = tf1.placeholder(tf.int32, [4])
        first, second = tf.split(tf.cast(n, I64), 2, name="halves")
        with tf.control_dependencies([first]):
            value = tf.cast(second, tf.float32) * 2.0
        fetched, twice = session.run(["halves:1", value], {n: [1, 2, 3, 4]})
        assert fetched.dtype == np.int64
        np.testing.assert_array_equal(fetched, [3, 4])
        np.testing.assert_array_equal(twice, [6.0, 8.0])
        np.testing.assert_array_equal(session.run(first, {n: [1, 2, 3, 4]}), [1, 2])


def test_loop_bodies() -> None:
    """Greedy search: each iteration uses ArgMax, which TensorFlow computes in int64."""

    def search(x: tf.Tensor) -> Any:
        def body(i: tf.Tensor, y: tf.Tensor) -> Any:
            best = tf.cast(tf.argmax(y, axis=1), tf.int32)
            return i + 1, y - 0.5 * tf.one_hot(best, 4, dtype=tf.float32)

        return tf.while_loop(lambda i, y: i < 3, body, (0, x), maximum_iterations=3)[1] * 2.0

    rewrites, refused = run(search, X)
    assert rewrites["ArgMax"] == "computes in int32" and rewrites["Cast"] == "reads int32"
    assert not refused
    report = next(r for r in reversed(passes.recent_reports()) if r.graph == "search" and r.clusters)
    assert len(report.clusters) == 1  # including the loop


def test_loop_variables_keep_their_type() -> None:
    def counting(x: tf.Tensor) -> Any:
        def body(n: tf.Tensor, y: tf.Tensor) -> Any:
            return n * 3 + tf.argmax(y, axis=0)[0], y + 1.0

        return tf.while_loop(lambda n, y: y[0, 0] < 40.0, body, (tf.constant(1, I64), x))

    rewrites, refused = run(counting, X)
    assert "Mul" in refused  # 3 ** 41 overflows
    assert rewrites.get("Mul") is None


def test_cast_round_trips() -> None:
    def double(x: tf.Tensor, n: tf.Tensor) -> Any:
        wide = tf.transpose(tf.cast(x, tf.float64))
        long = tf.cast(n, I64)
        return (
            tf.cast(wide, tf.float32) * 2.0,
            wide * 1e-30,
            tf.cast(tf.stack([long, long]), tf.float32),
            tf.cast(tf.where(wide > 0, wide, tf.constant(0.5, tf.float64)), tf.float32),
            tf.cast(tf.where(tf.transpose(x) > 0, wide, tf.constant(0.1, tf.float64)), tf.float32),
        )

    rewrites, refused = run(double, X, np.array([3, 2**31 - 1], np.int32))
    assert rewrites["Transpose"] == "computes in float"
    assert rewrites["Pack"] == "computes in int32"
    assert {"Mul", "Greater", "SelectV2"} <= refused  # float32 cannot represent 0.1; comparisons of doubles stay
    assert rewrites["Cast"] in ("reads float", "reads int32")


def test_arguments_are_not_proven() -> None:
    def indices(x: tf.Tensor, i: tf.Tensor) -> Any:
        return tf.gather(x, i), tf.cast(i, tf.float32)

    rewrites, refused = run(indices, X, np.array([0, 2], np.int64))
    assert "GatherV2" not in rewrites and "Cast" not in rewrites
    assert refused == {"Cast"}  # the list allows int64 for indices
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
        tf.function(indices)(tf.constant(X), tf.constant([2**32], I64))


def test_ops_that_the_program_pins_to_the_cpu_stay() -> None:
    def pinned(x: tf.Tensor) -> tf.Tensor:
        with tf.device("/CPU:0"):
            index = tf.argmax(x, axis=1)
        return tf.cast(index, tf.float32) * 2.0

    rewrites, _ = run(pinned, X)
    assert rewrites == {}


def test_sessions_fetch_by_the_old_names() -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [3, 4])
        index = tf.argmax(x, axis=1, name="index")
        value = tf.cast(index, tf.float32)
        fetched, wide, constant = session.run(["index:0", value, tf.constant(7, I64)], {x: X})
        assert fetched.dtype == np.int64 and constant.dtype == np.int64
        np.testing.assert_array_equal(fetched, np.argmax(X, 1))
        np.testing.assert_array_equal(wide, np.argmax(X, 1))


def test_the_emulators_list_has_64_bit_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_OP_LIST", "emulator")

    def native(x: tf.Tensor) -> Any:
        index = tf.argmax(x, axis=1)
        return index, tf.cast(x, tf.float64) * 1e-300, index * 2**40

    assert run(native, X) == ({}, set())
    report = next(r for r in reversed(passes.recent_reports()) if r.graph == "native")
    assert len(report.clusters) == 1
