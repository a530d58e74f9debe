"""TensorFlow 1 graphs in Sessions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU

tf1 = tf.compat.v1

X = np.random.default_rng(0).standard_normal((12, 5), dtype=np.float32)
Y = (X.sum(1) > 0).astype(np.int32)
# Savers and summaries join strings, which only the CPU supports. As on GPUs, they need soft placement.
SOFT = tf1.ConfigProto(allow_soft_placement=True)
WEIGHTS = np.random.default_rng(1).standard_normal((5, 2), dtype=np.float32)


def on_both(program: Callable[[], Any], rtol: float = 1e-5) -> Any:
    """Runs a program in one graph per device, compares the results, and returns the HPU's."""
    results = {}
    for device in (CPU, HPU):
        with tf.Graph().as_default(), tf.device(device), tf1.variable_scope("", use_resource=True):
            results[device] = program()
    for actual, expected in zip(tf.nest.flatten(results[HPU]), tf.nest.flatten(results[CPU])):
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-6)
    return results[HPU]


def model(optimizer: Any) -> tuple[tf.Tensor, tf.Tensor, tf.Operation, tf.Tensor]:
    """Builds placeholders of inputs and labels, the train op and the loss."""
    x = tf1.placeholder(tf.float32, [None, 5], name="x")
    y = tf1.placeholder(tf.int32, [None], name="y")
    weights = tf1.get_variable("weights", initializer=tf.constant(WEIGHTS))
    bias = tf1.get_variable("bias", [2], initializer=tf1.zeros_initializer())
    logits = tf.matmul(x, weights) + bias
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    return x, y, optimizer.minimize(loss, tf1.train.get_or_create_global_step()), loss


OPTIMIZERS = {
    "sgd": lambda: tf1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf1.train.AdamOptimizer(0.05),
    "rmsprop": lambda: tf1.train.RMSPropOptimizer(0.05),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training(name: str) -> None:
    def program() -> Any:
        x, y, train, loss = model(OPTIMIZERS[name]())
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            losses = [session.run([train, loss], {x: X[i : i + 4], y: Y[i : i + 4]})[1] for i in (0, 4, 8, 0, 4)]
            return losses, session.run(tf1.global_variables())

    losses, _ = on_both(program)
    assert len(set(losses)) == 5
    assert statistics.get().launched_clusters
    assert statistics.get().fallbacks == 0


def test_placeholders_of_any_shape_and_type() -> None:
    def program() -> Any:
        x, n = tf1.placeholder(tf.float32), tf1.placeholder(tf.int32)
        flag = tf1.placeholder_with_default(True, [])
        y = tf.where(flag, tf.sin(x) * tf.cast(n, tf.float32), x)
        fetches = [y, tf.reduce_sum(y), tf.shape(y), n * 2]
        with tf1.Session() as session:
            feeds = [{x: X, n: 3}, {x: X[0], n: -1}, {x: 2.0, n: 1, flag: False}, {x: X[:0], n: 1}]
            return [session.run(fetches, feed) for feed in feeds]

    on_both(program)


def test_any_tensor_can_be_fed_and_fetched() -> None:
    def program() -> Any:
        x = tf1.placeholder(tf.float32, [2])
        middle = tf.exp(x) + 1.0
        y = tf.sin(middle) * 2.0
        with tf1.Session() as session:
            fed = session.run([y, middle], {middle: np.array([5, 6], np.float32)})
            return fed, session.run({"all": (x, [middle, y])}, {x: [1, 2]})["all"][1]

    on_both(program)


def test_sessions_have_variables_of_their_own() -> None:
    def program() -> Any:
        x, y, train, loss = model(tf1.train.AdamOptimizer(0.05))
        feed = {x: X, y: Y}
        results = []
        with tf1.Session() as one, tf1.Session() as two:
            for session in (one, two):
                session.run(tf1.global_variables_initializer())
            for session in (one, one, two, one, two):
                results.append(session.run([loss, train], feed)[0])
        return results

    losses = on_both(program)
    np.testing.assert_allclose([losses[2], losses[4]], losses[:2], rtol=1e-5)


def test_variables_shared_by_name() -> None:
    def program() -> Any:
        with tf1.variable_scope("tower"):
            first = tf1.get_variable("w", [3], initializer=tf1.ones_initializer())
        with tf1.variable_scope("tower", reuse=True):
            again = tf1.get_variable("w", [3])
        assert first is again
        add = tf1.assign_add(first, [1.0, 2.0, 3.0])
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(add)
            # In separate runs, because no dependency orders a read and an assignment of the same run.
            return session.run(again * 2.0), session.run(tf1.assign(again, first * 3.0)), session.run(first)

    on_both(program)


def test_control_dependencies() -> None:
    def program() -> Any:
        variable = tf1.get_variable("v", initializer=tf.constant([1.0, 2.0]))
        before = variable.read_value() * 1.0
        with tf.control_dependencies([before]):
            double = tf1.assign(variable, variable.read_value() * 2.0)
        with tf.control_dependencies([double]):
            between = tf.identity(variable.read_value()) + 0.5
        with tf.control_dependencies([between]):
            add = tf1.assign_add(variable, [10.0, 10.0])
        with tf.control_dependencies([add]):
            after = variable.read_value() + 0.25
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            return [session.run([before, between, after]) for _ in range(3)]

    results = on_both(program)
    np.testing.assert_array_equal(results[0], np.array([[1, 2], [2.5, 4.5], [12.25, 14.25]]))


@pytest.mark.parametrize(
    "step",
    [
        lambda state, item: state - 2 * item,
        lambda state, item: state - 2 * tf.strings.to_number(tf.strings.as_string(item), tf.int32),
    ],
    ids=["in_a_cluster", "with_strings"],
)
def test_a_loop_that_indexes_its_elements(step: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]) -> None:
    """TensorFlow lowers the loop on the CPU, and the loop with strings on both devices."""

    def program() -> Any:
        x = tf1.placeholder(tf.int32, [4])
        y = tf.scan(step, x)
        with tf1.Session(config=SOFT) as session:
            return session.run(y, {x: [1, 2, 3, 4]})

    np.testing.assert_array_equal(on_both(program), [1, -3, -9, -17])


def test_partial_runs() -> None:
    def program() -> Any:
        a, b, c = (tf1.placeholder(tf.float32, []) for _ in range(3))
        first = tf.sin(a) + b
        second = first * c * 2.0
        with tf1.Session() as session:
            handle = session.partial_run_setup([first, second], [a, b, c])
            one = session.partial_run(handle, first, {a: 1, b: 2})
            return one, session.partial_run(handle, second, {c: one * 17})

    on_both(program)


def test_savers(tmp_path: Any) -> None:
    def program() -> Any:
        x, y, train, _ = model(tf1.train.AdamOptimizer(0.05))
        saver = tf1.train.Saver()
        path = str(tmp_path / "model")
        with tf1.Session(config=SOFT) as session:
            session.run(tf1.global_variables_initializer())
            session.run(train, {x: X, y: Y})
            saver.save(session, path)
            kept = session.run(tf1.global_variables())
        with tf1.Session(config=SOFT) as session:
            saver.restore(session, path)
            for actual, expected in zip(session.run(tf1.global_variables()), kept):
                np.testing.assert_array_equal(actual, expected)
        return kept

    on_both(program)


def test_monitored_sessions(tmp_path: Any) -> None:
    def program() -> Any:
        x, y, train, loss = model(tf1.train.MomentumOptimizer(0.1, 0.9))
        folder = str(tmp_path / tf1.get_default_graph().unique_name("logs") / str(x.device).replace("/", "_"))
        losses = []
        with tf1.train.MonitoredTrainingSession(
            checkpoint_dir=folder, hooks=[tf1.train.StopAtStepHook(4)], save_checkpoint_steps=2, config=SOFT
        ) as session:
            while not session.should_stop():
                losses.append(session.run([train, loss], {x: X, y: Y})[1])
        return losses

    assert len(on_both(program)) == 4


def test_errors_name_the_op() -> None:
    with tf.Graph().as_default(), tf.device(HPU):
        ids = tf1.placeholder(tf.int32, [None])
        picked = tf.gather(tf.constant(X) * 2.0, ids, name="pick") + 1.0
        with tf1.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match="pick"):
                session.run(picked, {ids: [100]})
            np.testing.assert_allclose(session.run(picked, {ids: [2]}), 2 * X[[2]] + 1, rtol=1e-6)


def test_a_variable_that_is_not_initialised() -> None:
    with tf.Graph().as_default(), tf.device(HPU):
        variable = tf1.get_variable("never", [2], use_resource=True)
        result = variable * 2.0 + 1.0  # the line that the error names
        with tf1.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="variable never") as info:
            session.run(result)
        assert "ReadVariableOp" in str(info.value)
        assert re.search(r"test_session.py\", line \d+, in test_a_variable_that_is_not_initialised", str(info.value))


def test_reference_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of TensorFlow 1 without resources, which live on the CPU."""
    monkeypatch.setenv("TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU", "true")

    def program() -> Any:
        variable = tf1.Variable([1.0, 2.0], use_resource=False)
        add = tf1.assign_add(variable, tf.sin(variable) * 2.0)
        with tf1.Session(config=SOFT) as session:
            session.run(tf1.global_variables_initializer())
            return [session.run(add) for _ in range(3)]

    on_both(program)
