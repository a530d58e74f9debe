"""Settings and hints of docs/tuning/clustering.md, on the passes alone and on running functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow.explanation import passes
from tests.passes import clustering_controls_programs as programs
from tests.passes.test_passes import graph_of, launches, on_cpu, placeholder, refusals, run_on_cpu
from tests.support.clusters import report_of
from tests.support.processes import call_to, run_with_tensorflow

jit_scope = tf.xla.experimental.jit_scope


def chain(length: int) -> Callable[[], None]:
    """Returns a builder of a chain of ops with a second branch in between."""

    def build() -> None:
        x = placeholder([4])
        y = tf.tanh(x)
        for _ in range(length - 2):
            x, y = y, tf.add(tf.tanh(y), x)
        on_cpu(y)

    return build


def cluster_ops(result: passes.PassResult) -> list[list[str]]:
    """Returns the ops of each cluster's function, without constants."""
    functions = {function.signature.name: function for function in result.graph.library.function}
    return [
        [node.op for node in functions[cluster.name].node_def if node.op != "Const"]
        for cluster in result.report.clusters
    ]


def dense_graph() -> None:
    x = placeholder([4, 4])
    h = tf.nn.relu(tf.tanh(x) * 2.0 + x)
    h = tf.matmul(h, tf.ones([4, 4]), name="product")
    on_cpu(tf.reduce_sum(tf.exp(h) - 1.0))


class TestClustering:
    def test_off_makes_no_cluster_and_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HPU_CLUSTERING", "off")
        result = passes.run(graph_of(dense_graph))
        assert launches(result.graph) == []
        assert refusals(result)["product"] == "user-setting"
        assert any("HPU_CLUSTERING=off" in refusal.reason for refusal in result.report.refusals)

    def test_lite_clusters_only_fusible_ops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = graph_of(dense_graph)
        assert any("MatMul" in ops for ops in cluster_ops(passes.run(graph)))
        monkeypatch.setenv("HPU_CLUSTERING", "lite")
        result = passes.run(graph)
        assert refusals(result)["product"] == "lite"
        clusters = cluster_ops(result)
        assert len(clusters) == 2 and not any("MatMul" in ops for ops in clusters)
        x = np.linspace(-1, 1, 16).reshape(4, 4)
        np.testing.assert_allclose(run_on_cpu(result.graph, {"x:0": x}), run_on_cpu(graph, {"x:0": x}), rtol=1e-6)

    def test_lite_looks_into_functions_and_leaves_jit_compile_whole(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HPU_CLUSTERING", "lite")

        def build() -> None:
            product = tf.function(lambda x: tf.matmul(x, x), jit_compile=True)
            on_cpu(product(tf.tanh(placeholder([2, 2]))))

        kinds = [launch.attr["must_compile"].b for launch in launches(passes.run(graph_of(build)).graph)]
        assert sorted(kinds) == [False, True], "the tanh, and the product that must be compiled"


class TestScopes:
    def test_ops_under_false_stay_out(self) -> None:
        def build() -> None:
            x = tf.tanh(placeholder([4]) * 2.0)
            with jit_scope(False):
                y = tf.exp(x, name="out_of_it")
            on_cpu(tf.sin(y) + 1.0)

        result = passes.run(graph_of(build))
        assert refusals(result)["out_of_it"] == "jit-scope"
        assert len(launches(result.graph)) == 2

    def test_a_function_that_holds_such_ops_stays_out_whole(self) -> None:
        @tf.function
        def body(x: tf.Tensor) -> tf.Tensor:
            with jit_scope(False):
                return tf.exp(x)

        result = passes.run(graph_of(lambda: on_cpu(body(placeholder([4])))))
        assert launches(result.graph) == []
        (refusal,) = result.report.refusals
        assert (refusal.op, refusal.rule) == ("PartitionedCall", "jit-scope")


class TestSizes:
    @pytest.mark.parametrize("name", ["HPU_MAX_CLUSTER_SIZE", "TF_MAX_CLUSTER_SIZE", "TF_PRELIMINARY_CLUSTER_SIZE"])
    def test_a_maximum_cuts_into_slices_of_that_size(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = graph_of(chain(40))
        (whole,) = cluster_ops(passes.run(graph))
        monkeypatch.setenv(name, "15")
        result = passes.run(graph)
        sizes = [len(ops) for ops in cluster_ops(result)]
        assert sorted(sizes, reverse=True) == [15] * (len(whole) // 15) + [len(whole) % 15]
        assert {cut.rule for cut in result.report.slices} == {"size-limit"}
        assert [cut.cluster for cut in result.report.slices] == [c.name for c in result.report.clusters]
        assert all(f"{name}=15" in cut.reason for cut in result.report.slices)
        assert not result.report.refusals
        feeds = {"x:0": [0.1, -0.2, 0.3, 4.0]}
        np.testing.assert_allclose(run_on_cpu(result.graph, feeds), run_on_cpu(graph, feeds), rtol=1e-6)
        assert passes.run(graph).data == result.data

    def test_the_smallest_maximum_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = graph_of(chain(20))
        monkeypatch.setenv("HPU_MAX_CLUSTER_SIZE", "30")
        monkeypatch.setenv("TF_PRELIMINARY_CLUSTER_SIZE", "7")
        monkeypatch.setenv("TF_MAX_CLUSTER_SIZE", "0")
        assert max(len(ops) for ops in cluster_ops(passes.run(graph))) == 7

    def test_a_slice_may_be_smaller_than_the_minimum(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = graph_of(chain(6))
        (whole,) = cluster_ops(passes.run(graph))
        monkeypatch.setenv("HPU_MAX_CLUSTER_SIZE", str(len(whole) - 1))
        monkeypatch.setenv("HPU_MIN_CLUSTER_SIZE", "3")
        assert [len(ops) for ops in cluster_ops(passes.run(graph))] == [len(whole) - 1, 1]

    def test_indivisible_groups_are_not_split(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def build() -> None:
            x = placeholder([6, 4])
            elements = tf.raw_ops.TensorListFromTensor(tensor=tf.tanh(x) * 2.0, element_shape=[4])
            y = tf.sin(x) + tf.cos(x) * tf.exp(x)
            stacked = tf.raw_ops.TensorListStack(
                input_handle=elements, element_shape=[4], element_dtype=tf.float32, num_elements=6
            )
            on_cpu(tf.sqrt(tf.abs(stacked - y)) + 1.0)

        graph = graph_of(build)
        (whole,) = cluster_ops(passes.run(graph))
        for largest in range(1, len(whole)):
            monkeypatch.setenv("HPU_MAX_CLUSTER_SIZE", str(largest))
            result = passes.run(graph)
            clusters = cluster_ops(result)
            assert len(clusters) > 1
            assert not result.report.refusals
            assert sum(map(len, clusters)) == len(whole)
            (lists,) = (ops for ops in clusters if "TensorListFromTensor" in ops)
            assert "TensorListStack" in lists

    def test_minimum(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = graph_of(chain(5))
        (whole,) = cluster_ops(passes.run(graph))
        monkeypatch.setenv("HPU_MIN_CLUSTER_SIZE", str(len(whole) + 1))
        result = passes.run(graph)
        assert launches(result.graph) == [] and set(refusals(result).values()) == {"small"}


def test_variables_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    def build() -> None:
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[4], shared_name="v")
        value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32, name="read")
        new = tf.tanh(value) * 2.0 + placeholder([4])
        tf.raw_ops.AssignVariableOp(resource=handle, value=new, name="write")

    graph = graph_of(build)
    assert any("AssignVariableOp" in ops for ops in cluster_ops(passes.run(graph)))
    monkeypatch.setenv("TF_CLUSTER_VARIABLES", "0")
    result = passes.run(graph)
    assert refusals(result)["read"] == refusals(result)["write"] == "user-setting"
    (ops,) = cluster_ops(result)
    assert set(ops) == {"Tanh", "Mul", "AddV2"}


@pytest.fixture
def set_jit(hpu: str) -> Iterator[Callable[[object], None]]:
    """Yields tf.config.optimizer.set_jit, and restores the setting afterwards."""
    yield tf.config.optimizer.set_jit
    context.context().optimizer_jit = None


def rules_of(name: str) -> set[str]:
    return {refusal.rule for refusal in report_of(name).refusals if refusal.op not in ("_Arg", "_Retval")}


def clusters_of(name: str) -> int:
    return len(report_of(name).clusters)


class TestHints:
    """Hints in running functions, because the session's options reach the passes only there."""

    def run(self, name: str, body: Callable[[tf.Tensor], tf.Tensor] | None = None, **options: bool) -> None:
        def function(x: tf.Tensor) -> tf.Tensor:
            return tf.tanh(x) * 2.0 + tf.exp(x) if body is None else body(x)

        function.__name__ = name
        x = tf.constant([0.5, -1.0])
        result = tf.function(function, **options)(x)
        np.testing.assert_allclose(result, function(x), rtol=1e-5)

    def test_set_jit(self, set_jit: Callable[[object], None], monkeypatch: pytest.MonkeyPatch) -> None:
        self.run("hint_none")
        assert clusters_of("hint_none") == 1
        for on in (True, "autoclustering"):
            set_jit(on)
            self.run(f"hint_{on}")
            assert clusters_of(f"hint_{on}") == 1
        set_jit(False)
        self.run("hint_false")
        assert clusters_of("hint_false") == 0 and rules_of("hint_false") == {"user-setting"}
        monkeypatch.setenv("HPU_CLUSTERING", "on")
        self.run("hint_overridden")
        assert clusters_of("hint_overridden") == 1
        monkeypatch.setenv("HPU_CLUSTERING", "off")
        set_jit(True)
        self.run("hint_off")
        assert clusters_of("hint_off") == 0

    def test_a_jit_scope_overrides_the_sessions_setting(
        self, set_jit: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def body(x: tf.Tensor) -> tf.Tensor:
            if tf.executing_eagerly():
                return tf.sinh(tf.tanh(x) * 2.0) + tf.exp(x)
            with jit_scope():
                y = tf.tanh(x) * 2.0
            with jit_scope():
                z = tf.exp(x)
            return tf.sinh(y) + z

        set_jit(False)
        self.run("scoped", body)
        assert clusters_of("scoped") == 2, "one for each scope"
        assert {r.op for r in report_of("scoped").refusals if r.rule == "user-setting"} >= {"Sinh", "AddV2"}
        monkeypatch.setenv("HPU_CLUSTERING", "off")
        self.run("scoped_off", body)
        assert clusters_of("scoped_off") == 0, "HPU_CLUSTERING is above scopes"

    def test_jit_compile_is_above_them_all(
        self, set_jit: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        set_jit(False)
        monkeypatch.setenv("HPU_CLUSTERING", "off")
        statistics.reset()
        self.run("compiled_whole", jit_compile=True)
        assert statistics.get().cluster("compiled_whole").launches == 1

    def test_a_loop_in_a_scope(self, hpu: str) -> None:
        def body(x: tf.Tensor) -> tf.Tensor:
            def step(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
                return i + 1, tf.sinh(tf.tanh(y) * 1.5)

            def loop() -> tf.Tensor:
                return tf.while_loop(lambda i, y: i < 3, step, (0, x))[1]

            if tf.executing_eagerly():
                return loop()
            with jit_scope(False):
                return loop()

        self.run("loop_outside", body)
        report = next(r for r in reversed(passes.recent_reports()) if r.graph == "loop_outside" and r.nodes)
        assert {r.op for r in report.refusals if r.rule == "jit-scope"} >= {"Sinh", "Tanh"}

    @pytest.mark.parametrize("level", ["OFF", "DEFAULT", "ON_1"])
    def test_a_sessions_level_changes_nothing(self, level: str, hpu: str) -> None:
        """ON_1 changes nothing, because HPU nodes are in clusters anyway. OFF is for the clusters of TensorFlow."""
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, [2])
            y = tf.tanh(x, name=f"level_{level}") * 2.0 + tf.exp(x)
            config = tf.compat.v1.ConfigProto()
            config.graph_options.optimizer_options.global_jit_level = getattr(tf.compat.v1.OptimizerOptions, level)
            with tf.compat.v1.Session(config=config) as session:
                got = session.run(y, {x: [0.5, -1.0]})
        np.testing.assert_allclose(got, np.tanh([0.5, -1]) * 2 + np.exp([0.5, -1]), rtol=1e-5)
        assert [cluster.ops for cluster in report_of("session_").clusters] == [5]  # with the constant

    def test_a_session_of_tensor2tensor_trains_in_one_cluster(
        self, hpu: str, set_jit: Callable[[object], None]
    ) -> None:
        """Its default config has global_jit_level=OFF. set_jit(False) keeps its meaning, also for Sessions."""
        config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
        config.graph_options.optimizer_options.global_jit_level = tf.compat.v1.OptimizerOptions.OFF
        losses, names = self.train_in_a_session(config)
        assert losses[2] < losses[1] < losses[0] and len(names) == 1
        set_jit(False)
        plain, names = self.train_in_a_session(config)
        np.testing.assert_allclose(plain, losses, rtol=1e-5)
        assert not names

    def train_in_a_session(self, config: tf.compat.v1.ConfigProto) -> tuple[list[float], list[str]]:
        """Trains three steps. Returns the losses, and the names of the clusters that ran three times."""
        statistics.reset()
        with tf.Graph().as_default(), tf.compat.v1.variable_scope("t2t", use_resource=True):
            x = tf.compat.v1.placeholder(tf.float32, [4, 3])
            weights = tf.compat.v1.get_variable("weights", [3, 2], initializer=tf.compat.v1.ones_initializer())
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ weights) - 0.5))
            step = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss)
            with tf.compat.v1.Session(config=config) as session:
                session.run(tf.compat.v1.global_variables_initializer())
                feed = np.arange(12, dtype=np.float32).reshape(4, 3) / 12
                losses = [float(session.run([loss, step], {x: feed})[0]) for _ in range(3)]
        return losses, [cluster.name for cluster in statistics.get().launched_clusters if cluster.launches == 3]


def test_fuel_is_used_up_cluster_by_cluster() -> None:
    done = run_with_tensorflow(call_to(programs.three_clusters), {"HPU_CLUSTER_FUEL": "2"})
    assert "LAUNCHES 2\n" in done.stdout
