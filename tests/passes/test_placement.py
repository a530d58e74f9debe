"""Ops that leave the HPU, with their rules, and unchanged results."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from habana_frameworks.tensorflow import statistics
from tests.passes import placement_programs as programs
from tests.support.clusters import report_of
from tests.support.keras_package import TRAIN_FUNCTION
from tests.support.processes import call_to, run_with_tensorflow

tf1 = tf.compat.v1
pytestmark = pytest.mark.usefixtures("hpu")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TF_PLACE_ON_CPU", "TF_DONT_CLUSTER", "HPU_OP_LIST", "HPU_OP_LIST_UNKNOWN"):
        monkeypatch.delenv(name, raising=False)
    tf.config.set_soft_device_placement(True)  # a context that starts inside a graph disables it


def rules(name: str) -> dict[str, str]:
    """Returns rules by op type for the latest graph of that name, without arguments and results."""
    refusals = report_of(name).refusals
    return {refusal.op: refusal.rule for refusal in refusals if not refusal.op.startswith("_")}


def reason(name: str, op: str) -> str:
    return next(refusal.reason for refusal in report_of(name).refusals if refusal.op == op)


def check(function: Any, *args: Any) -> None:
    """Checks that the function's results equal those of the same Python function on the CPU."""
    with tf.device("/CPU:0"):
        expected = function.python_function(*args)
    for actual, wanted in zip(tf.nest.flatten(function(*args)), tf.nest.flatten(expected)):
        assert actual.dtype == wanted.dtype
        np.testing.assert_allclose(actual.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def test_listed_op_types_of_a_function_go_to_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_PLACE_ON_CPU", " [Tanh] , MatMul,[ Asinh]")

    @tf.function
    def listed(x: tf.Tensor) -> tf.Tensor:
        y = tf.tanh(x * 2.0 + 1.0)
        return tf.sin(tf.matmul(y, y, transpose_b=True)) * 2.0

    check(listed, tf.constant(X))
    assert rules("listed") == {"Tanh": "user-setting", "MatMul": "user-setting"}
    assert reason("listed", "MatMul") == "TF_PLACE_ON_CPU lists MatMul"
    assert len(report_of("listed").clusters) == 2


def test_the_setting_is_a_later_word_than_the_programs_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_PLACE_ON_CPU", "Tanh")

    @tf.function
    def pinned(x: tf.Tensor) -> tf.Tensor:
        with tf.device("/HPU:0"):
            return tf.tanh(x * 2.0 + 1.0)

    check(pinned, tf.constant(X))
    assert rules("pinned")["Tanh"] == "user-setting"
    with tf.device("/HPU:0"):
        assert tf.tanh(tf.constant(X)).device.endswith("CPU:0")


def test_ops_that_the_program_pins_to_the_cpu_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    @tf.function
    def split(x: tf.Tensor) -> tf.Tensor:
        with tf.device("/CPU:0"):
            y = tf.tanh(x)
        return y * 2.0 + 1.0

    check(split, tf.constant(X))
    assert rules("split") == {"Tanh": "pinned"}


def test_ops_without_a_kernel_have_a_reason() -> None:
    @tf.function
    def strings(x: tf.Tensor) -> tf.Tensor:
        return tf.strings.length(tf.strings.as_string(x)), x * 2.0 + 1.0

    check(strings, tf.constant(X))
    assert rules("strings")["AsString"] == rules("strings")["StringLength"] == "no-kernel"
    assert reason("strings", "AsString") == "the HPU has no kernel for AsString"


def test_eager_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.constant(X)
    monkeypatch.setenv("TF_PLACE_ON_CPU", "Asinh")
    y = tf.asinh(x)
    assert y.device.endswith("CPU:0")
    assert tf.sin(y).device.endswith("HPU:0")
    np.testing.assert_allclose(tf.sin(y).numpy(), np.sin(np.arcsinh(X)), rtol=1e-5)
    assert rules("eager") == {"Asinh": "user-setting"}
    monkeypatch.delenv("TF_PLACE_ON_CPU")
    assert tf.asinh(x).device.endswith("HPU:0")


def test_eager_ops_follow_each_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of any setting of the placement policy has an effect on the next eager op."""

    def places() -> list[str]:
        """Places of an op that the card's list lacks: in float32, and in float16, which the first Gaudi lacks."""
        return [tf.math.lgamma(tf.constant(X, dtype)).device[-5:] for dtype in (tf.float32, tf.float16)]

    for name in ("HPU_CARD_RULES", "HPU_OP_LIST", "HPU_OP_LIST_UNKNOWN", "HPU_DEVICE_TYPE"):
        monkeypatch.delenv(name, raising=False)
    assert places() == ["HPU:0", "HPU:0"]
    monkeypatch.setenv("HPU_CARD_RULES", "on")
    assert places() == ["CPU:0", "CPU:0"]
    monkeypatch.setenv("HPU_OP_LIST_UNKNOWN", "allow")
    assert places() == ["HPU:0", "HPU:0"]
    monkeypatch.setenv("HPU_DEVICE_TYPE", "GAUDI")
    assert places() == ["HPU:0", "CPU:0"]
    monkeypatch.setenv("HPU_OP_LIST", "emulator")
    assert places() == ["HPU:0", "HPU:0"]


def test_all_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_PLACE_ON_CPU", "all_nodes")
    statistics.reset()
    variable = tf.Variable(X)
    assert variable.device.endswith("CPU:0")

    @tf.function
    def everything(x: tf.Tensor) -> tf.Tensor:
        variable.assign_add(x)
        return tf.tanh(x * variable) + 1.0

    np.testing.assert_allclose(everything(tf.constant(X)).numpy(), np.tanh(X * 2 * X) + 1.0, rtol=1e-6)
    assert set(rules("everything").values()) == {"user-setting"}
    assert report_of("everything").clusters == []
    counts = statistics.get()
    assert not counts.launched_clusters and counts.eager.launches == 0


def test_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_PLACE_ON_CPU", "Tanh,AssignAddVariableOp")
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [3, 4])
        variable = tf1.get_variable("v", initializer=X, use_resource=True)
        with tf1.colocate_with(x), tf.device("/HPU:0"):
            y = tf.tanh(tf.tanh(x * 2.0) + variable)
        update = tf1.assign_add(variable, y)
        session.run(tf1.global_variables_initializer())
        expected = np.tanh(np.tanh(X * 2.0) + X)
        np.testing.assert_allclose(session.run(update, {x: X}), X + expected, rtol=1e-5)
        assert rules("session_")["Tanh"] == rules("session_")["AssignAddVariableOp"] == "user-setting"
        np.testing.assert_allclose(session.run(variable), X + expected, rtol=1e-5)


def test_a_variable_is_placed_with_its_creating_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_PLACE_ON_CPU", "VarHandleOp")
    with tf.Graph().as_default(), tf1.Session() as session:
        variable = tf1.get_variable("w", initializer=X, use_resource=True)
        update = tf1.assign_add(variable, variable * 2.0)
        session.run(tf1.global_variables_initializer())
        np.testing.assert_allclose(session.run(update), X * 3.0, rtol=1e-6)
        assert "uses w, which is on the CPU: TF_PLACE_ON_CPU lists VarHandleOp" in reason("session_", "ReadVariableOp")


def test_updates_of_a_variable_on_the_hpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The updates stay on the HPU, outside clusters, and run with the CPU kernel."""
    monkeypatch.setenv("TF_PLACE_ON_CPU", "AssignAddVariableOp,ResourceApplyGradientDescent")
    variable = tf.Variable(X)
    assert variable.device.endswith("HPU:0")

    @tf.function
    def update(x: tf.Tensor) -> tf.Tensor:
        variable.assign_add(x * 2.0 + 1.0)
        tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=0.5, delta=x)
        return variable * 3.0

    value = X
    for _ in range(4):
        value = value + (X * 2.0 + 1.0) - 0.5 * X
        np.testing.assert_allclose(update(tf.constant(X)).numpy(), value * 3.0, rtol=1e-5)
    assert rules("update")["AssignAddVariableOp"] == "user-setting"
    assert "its variable is on the HPU" in reason("update", "ResourceApplyGradientDescent")
    for _ in range(4):  # more calls than an eager op needs to be compiled
        variable.assign_add(tf.constant(X))
    np.testing.assert_allclose(variable.numpy(), value + 4 * X, rtol=1e-5)


def test_bodies_of_loops_branches_and_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_PLACE_ON_CPU", "Tanh")

    @tf.function
    def called(x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x) + 1.0

    @tf.function(experimental_attributes={"_noinline": True})
    def kept(x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x * 3.0) + 1.0

    @tf.function
    def nested(x: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(3):
            x = x * 0.5 + tf.tanh(x)
        return tf.cond(tf.reduce_sum(x) > 100.0, lambda: x, lambda: called(x) - tf.tanh(kept(x)))

    check(nested, tf.constant(X))
    reports = [refusal for refusal in report_of("nested").refusals if refusal.op == "Tanh"]
    assert len(reports) >= 3 and {refusal.rule for refusal in reports} == {"user-setting"}
    assert rules("kept")["Tanh"] == "user-setting"


def test_a_function_that_must_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_PLACE_ON_CPU", "Tanh")

    @tf.function(jit_compile=True)
    def whole(x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x * 2.0, name="here")

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"op here \(Tanh\).*rule user-setting: TF_PLACE_ON_CPU"):
        whole(tf.constant(X))

    @tf.function
    def outer(x: tf.Tensor) -> tf.Tensor:
        return whole(x) + 1.0

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"op here \(Tanh\).*rule user-setting"):
        outer(tf.constant(X))


def test_nodes_that_must_not_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matches whole names, or the part after the last scope, also in function bodies."""
    monkeypatch.setenv("TF_DONT_CLUSTER", "last, a/whole ,inside")

    @tf.function
    def named(x: tf.Tensor) -> tf.Tensor:
        with tf.name_scope("a"):
            x = tf.multiply(x, 2.0, name="whole") + tf.tanh(x, name="other")
            x = tf.sin(x, name="last") * 0.5 + 1.0
        for _ in tf.range(2):
            x = tf.exp(tf.negative(tf.abs(x)), name="inside") * 0.5 + tf.tanh(x)
        return tf.tanh(x, name="whole") * 2.0

    check(named, tf.constant(X))
    found = {r.node: r for r in report_of("named").refusals if "TF_DONT_CLUSTER" in r.reason}
    assert {"a/whole", "a/last"} < found.keys() and any(name.endswith("/inside") for name in found)
    assert "whole" not in found and "a/other" not in found
    assert {refusal.rule for refusal in found.values()} == {"user-setting"}
    assert report_of("named").clusters


def test_unknown_op_names_are_warned_about_once() -> None:
    environment = {"TF_PLACE_ON_CPU": "Matmull,MatMul,Nothing_at_all", "TF_CPP_MIN_LOG_LEVEL": "1"}
    errors = run_with_tensorflow(call_to(programs.products), environment).stderr
    assert errors.count("unknown op type Matmull; did you mean MatMul?") == 1
    assert errors.count("unknown op type Nothing_at_all; correct or remove it") == 1


def test_unknown_op_names_of_a_bf16_file_are_warned_about_once(tmp_path: pathlib.Path) -> None:
    lists = tmp_path / "bf16.json"
    lists.write_text('{"allowlist": ["Matmull"]}')
    environment = {"TF_BF16_CONVERSION": str(lists), "TF_CPP_MIN_LOG_LEVEL": "1"}
    errors = run_with_tensorflow(call_to(programs.products), environment, check=False).stderr
    assert errors.count(f"TF_BF16_CONVERSION={lists}: unknown op type Matmull; did you mean MatMul?") == 1


@pytest.fixture
def gaudi(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.setenv("HPU_OP_LIST", "gaudi")

    def choose(unknown: str) -> None:
        monkeypatch.setenv("HPU_OP_LIST_UNKNOWN", unknown)

    choose("allow")
    return choose


def test_ops_that_the_list_does_not_know(gaudi: Callable[[str], None]) -> None:
    def unknown(x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(tf.math.erfinv(x * 0.5)) * 2.0

    check(tf.function(unknown), tf.constant(X))
    assert rules("unknown") == {}
    gaudi("cpu")
    check(tf.function(unknown), tf.constant(X))
    assert rules("unknown")["Erfinv"] == "op-list"
    assert "does not cover Erfinv, and HPU_OP_LIST_UNKNOWN=cpu" in reason("unknown", "Erfinv")


def test_types_that_the_list_excludes(gaudi: Callable[[str], None]) -> None:
    @tf.function
    def types(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        whole = tf.cast(x * 4.0, tf.int8)
        return tf.acosh(2.0 + tf.abs(x)), tf.cast(x, tf.float64) * 2.0, tf.abs(whole), n + 1

    check(types, tf.constant(X), tf.constant([1, 2], tf.int64))
    found = report_of("types").refusals
    assert {(r.op, r.rule) for r in found if not r.op.startswith("_")} == {
        ("Cast", "dtype"),  # cast to float64
        ("Mul", "dtype"),
        ("Abs", "dtype"),  # documented only for bfloat16, float32 and int32
        ("AddV2", "dtype"),
    }
    assert reason("types", "Abs") == "the op list gaudi does not support Abs with T=int8"
    double = tf.constant([1.0, 2.0], tf.float64)
    assert (double * 2.0).device.endswith("CPU:0")
    assert (tf.constant([1.0, 2.0]) * 2.0).device.endswith("HPU:0")


def test_ranks_that_the_list_excludes(gaudi: Callable[[str], None]) -> None:
    @tf.function
    def ranks(x: tf.Tensor) -> tf.Tensor:
        deep = tf.reshape(x, [1, 1, 3, 1, 4, 1])
        return tf.reshape(tf.tanh(deep), [3, 4]) * 2.0 + tf.tanh(x)

    check(ranks, tf.constant(X))
    assert [r.op for r in report_of("ranks").refusals if r.rule == "rank"] == ["Tanh"]
    assert reason("ranks", "Tanh") == "Tanh has a tensor of rank 6; the maximum in the op list is 5"
    assert tf.tanh(tf.ones([1] * 6)).device.endswith("CPU:0")
    assert tf.tanh(tf.ones([1] * 5)).device.endswith("HPU:0")


def test_ops_outside_the_list_are_named_in_one_warning_of_each_graph() -> None:
    """Each op is named once: two ops of a graph together, and at the end an op that ran eagerly afterwards."""
    environment = {"HPU_OP_LIST": "gaudi", "HPU_OP_LIST_UNKNOWN": "warn", "TF_CPP_MIN_LOG_LEVEL": "1"}
    errors = run_with_tensorflow(call_to(programs.unknown_op), environment).stderr
    warnings = [line for line in errors.splitlines() if "HPU_OP_LIST=gaudi does not cover ops" in line]
    named = [line.partition("run on the HPU: ")[2].partition(". Set HPU_OP_LIST_UNKNOWN=cpu")[0] for line in warnings]
    assert [sorted(names.split(", ")) for names in named] == [["Erfinv", "Ndtri"], ["Lgamma"]]


@pytest.mark.parametrize("unknown", ["allow", "cpu"])
def test_a_keras_step(gaudi: Callable[[str], None], unknown: str) -> None:
    gaudi(unknown)
    labels = np.array([0, 1, 2, 1, 0, 2], np.int64)
    data = np.random.default_rng(3).standard_normal((6, 4), dtype=np.float32)

    def losses(device: str) -> list[float]:
        tf.keras.utils.set_random_seed(1)
        with tf.device(device):
            model = tf.keras.Sequential(
                [tf.keras.layers.Dense(8, activation="gelu", input_shape=(4,)), tf.keras.layers.Dense(3)]
            )
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(tf.keras.optimizers.Adam(0.05), loss, metrics=["accuracy"])
            history = model.fit(data, labels, epochs=3, batch_size=3, shuffle=False, verbose=0)
        return history.history["loss"]

    np.testing.assert_allclose(losses("/HPU:0"), losses("/CPU:0"), rtol=1e-4)
    # The variable `iterations` is int64.
    assert "dtype" in {refusal.rule for refusal in report_of(TRAIN_FUNCTION).refusals}
    assert report_of(TRAIN_FUNCTION).clusters


def test_legacy_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(device: str | None) -> np.ndarray:
        with tf.Graph().as_default(), tf.device(device), tf1.Session() as session:
            variable = tf1.get_variable("old", initializer=X, use_resource=False)
            with tf.device(None):
                update = tf1.assign_add(variable, tf.tanh(variable * 2.0 + 1.0))
            session.run(tf1.global_variables_initializer())
            return session.run(update)

    expected = X + np.tanh(X * 2.0 + 1.0)
    monkeypatch.delenv("TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU", raising=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"variable old.*enable_resource_variables\(\)"):
        run(None)
    np.testing.assert_allclose(run("/CPU:0"), expected, rtol=1e-5)
    monkeypatch.setenv("TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU", "true")
    np.testing.assert_allclose(run(None), expected, rtol=1e-5)
    assert rules("session_")["VariableV2"] == rules("session_")["AssignAdd"] == "legacy-variable"


OPS: dict[str, Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = {
    "AddV2": lambda x, y: x + y,
    "Mul": lambda x, y: x * y,
    "Tanh": lambda x, y: tf.tanh(x),
    "MatMul": lambda x, y: tf.matmul(x, y),
    "Transpose": lambda x, y: tf.transpose(x),
    "Sum": lambda x, y: x * 0.1 + tf.reduce_sum(y, axis=0),
    "ArgMax": lambda x, y: x + tf.cast(tf.argmax(y, axis=1), tf.float32) * 0.1,
    "AssignAddVariableOp": lambda x, y: x,
}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    plan=st.lists(st.tuples(st.sampled_from([*OPS]), st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=8),
    listed=st.sets(st.sampled_from([*sorted(OPS), "ReadVariableOp", "Cast"]), min_size=1, max_size=4),
    gaudi=st.booleans(),
)
def test_any_list_gives_the_same_numbers(plan: Any, listed: set[str], gaudi: bool) -> None:
    def program(x: tf.Tensor, variable: tf.Variable) -> Any:
        values = [x]
        for op, left, right in plan:
            a, b = (values[-1 - min(index, len(values) - 1)] for index in (left, right))
            if op == "AssignAddVariableOp":
                variable.assign_add(tf.tanh(a))
            values.append(tf.tanh(OPS[op](a, b)))
        return values[-1], variable + values[len(values) // 2]

    square = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TF_PLACE_ON_CPU", ",".join(listed))
        patch.setenv("HPU_OP_LIST", "gaudi" if gaudi else "emulator")
        patch.setenv("HPU_OP_LIST_UNKNOWN", "cpu")
        results = {}
        for device in ("/HPU:0", "/CPU:0"):
            with tf.device(device):
                variable = tf.Variable(square)
                results[device] = tf.function(program)(tf.constant(square), variable)
    for actual, expected in zip(results["/HPU:0"], results["/CPU:0"]):
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)
