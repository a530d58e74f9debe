"""htf.explain(), and explanations built from records."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

import pytest
import tensorflow as tf

import habana_frameworks.tensorflow as htf
from habana_frameworks.tensorflow import explanation, statistics
from habana_frameworks.tensorflow._internal.messages import report_pb2
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.explanation import collect
from tests.explain import explain_programs as programs
from tests.support.processes import ROOT, call_to, run_with_tensorflow


def test_one_call_is_explained(hpu: str) -> None:
    weights = tf.Variable(tf.ones([3, 3]))

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        weights.assign_add(x * 0.5)
        return tf.cast(tf.reduce_sum(tf.tanh(x)), tf.bfloat16)

    with tf.device(hpu):
        x = tf.ones([3, 3])
    for _ in range(2):  # at the second call, TensorFlow has already placed the function
        graph = htf.explain(step, x).graph("step")
        (cluster,) = graph.clusters
        assert cluster.launches == 1 and graph.clustered_ops > 4 and not graph.splits
        assert next(op.dtypes for op in graph.ops if op.type == "Cast") == ("bfloat16",)
        assert [op.device for op in graph.ops if op.type == "Tanh"] == ["HPU:0"]
        inputs = {graph.ops[position].type for op in graph.ops if op.type == "Cast" for position in op.inputs}
        assert inputs == {"Sum"}
    assert weights.numpy()[0, 0] == 2.0  # two calls ran
    assert htf.explain(lambda a: tf.tanh(a) * 2.0, x).clustered_ops > 0  # a plain Python function


def test_a_compiled_function_called_directly_is_one_cluster(hpu: str) -> None:
    """No graph contains the call of a function with jit_compile=True outside other functions."""
    weights = tf.Variable(tf.ones([3, 3]))

    @tf.function(jit_compile=True)
    def compiled_step(x: tf.Tensor) -> tf.Tensor:
        weights.assign_add(x)
        return tf.reduce_sum(tf.tanh(x))

    def twice(x: tf.Tensor) -> None:
        compiled_step(x)
        compiled_step(x)

    collector = explanation.Collector()
    collector.start()
    twice(tf.ones([3, 3]))
    found = collector.stop()
    (graph,) = found.graphs
    (cluster,) = graph.clusters
    assert graph.name == "compiled_step" and graph.function == cluster.name
    assert (cluster.launches, cluster.must_compile, cluster.arguments, cluster.resources) == (2, True, 2, 1)
    assert {op.cluster for op in graph.ops} == {cluster.name} and len(graph.ops) == cluster.ops
    (total,) = (op for op in graph.ops if op.type == "Sum")
    assert {graph.ops[position].type for position in total.inputs} == {"Const", "Tanh"}
    assert total.dtypes == ("float32",) and (total.source_line or "").startswith(__file__)
    assert "1 graph:" in found.summary() and explanation.from_json(found.to_json()) == found


def test_a_compiled_function_in_another_is_listed_once(hpu: str) -> None:
    inner = tf.function(lambda x: tf.tanh(x) * 2.0, jit_compile=True)
    found = htf.explain(lambda x: inner(x) + 1.0, tf.ones([2]))
    (graph,) = found.graphs
    (cluster,) = graph.clusters
    inside = {op.cluster for op in graph.ops if op.type not in ("_Arg", "_Retval")}
    assert not cluster.must_compile and inside == {cluster.name}


def test_traces_of_a_function_are_one_row(hpu: str) -> None:
    """Clusters of two traces share their counters, so the launches of both are shown once."""

    @tf.function
    def traced_twice(x: tf.Tensor) -> tf.Tensor:
        with tf.device("/CPU:0"):
            x = tf.exp(x, name="on_cpu")
        return tf.reduce_sum(tf.tanh(x) * 2.0)

    collector = explanation.Collector()
    collector.start()
    for size in (8, 8, 8, 3, 3):
        traced_twice(tf.ones([size]))
    found = collector.stop()
    assert len(found.graphs) == 2 and len(found.traces) == 1
    assert (found.ops, found.clusters) == (len(found.graphs[0].ops), 1)
    summary = found.summary()
    assert summary.startswith("1 graph:") and "in 1 cluster\n" in summary
    (row,) = [line.split() for line in summary.splitlines() if "traced_twice" in line]
    assert row[:3] == ["traced_twice", "(2", "traces)"] and row[-1] == "5"
    (pinned,) = [total for total in found.rules() if total.rule.value == "pinned"]
    assert (pinned.ops, len(pinned.examples)) == (1, 1)
    assert pinned.copied_bytes == sum(graph.op("on_cpu").copied_bytes for graph in found.graphs) > 0


def test_graphs_that_differ_show_their_shared_counters_once() -> None:
    cluster = explanation.Cluster(
        "habana_cluster_f_0",
        "HPU:0",
        ops=2,
        arguments=0,
        constants=0,
        resources=0,
        results=1,
        must_compile=False,
        launches=7,
        fallbacks=2,
        fallback_bytes=4_000_000,
        rule="fallback",
        reason="no luck",
    )
    ops = tuple(explanation.Op(f"op_{i}", "Tanh", "HPU:0", cluster.name, (), ()) for i in range(3))
    graphs = (
        explanation.Graph("f", "__inference_f_1", ops, (cluster,)),
        explanation.Graph("f", "__inference_f_2", ops[:2], (cluster,)),
    )
    found = explanation.Explanation(graphs, statistics.Eager(0, 0.0, 0, 0, 0))
    rows = [line.split() for line in found.summary().splitlines() if line.startswith("  f ")]
    assert [row[5:] for row in rows] == [["7"], ["see", "above"]]
    assert "\n2 runs of clusters on the CPU: " in found.summary()
    assert [(total.rule.value, total.copied_bytes) for total in found.rules()] == [("fallback", 4_000_000)]


def test_the_summary_has_the_line_and_the_whole_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.chdir(tmp_path)
    reason = "is refused " + " ".join(f"because_of_{i}" for i in range(20))
    cluster = explanation.Cluster("c_0", "HPU:0", 1, 0, 0, 0, 1, False, rule="fallback", reason="ran out of luck")
    ops = (
        explanation.Op("bad", "Tanh", "HPU:0", None, (), (), "uncompilable", reason, source_line=f"{tmp_path}/a.py:7"),
        explanation.Op("worse", "Tan", "HPU:0", None, (), (), "uncompilable", "is worse"),
        explanation.Op("good", "Exp", "HPU:0", "c_0", (), (), source_line="/elsewhere/b.py:8"),
    )
    graph = explanation.Graph("f", "f", ops, (cluster,))
    summary = explanation.Explanation((graph,), statistics.Eager(0, 0.0, 0, 0, 0)).summary()
    assert f" a.py:7: bad (Tanh): {reason} worse (Tan): is worse " in " ".join(summary.split())
    assert " /elsewhere/b.py:8: c_0 (cluster): ran out of luck\n" in summary
    assert all(len(line) <= 110 for line in summary.splitlines())


@pytest.mark.parametrize("prefetched", [False, True])
def test_batches_of_the_input_pipeline(prefetched: bool, hpu: str) -> None:
    """The op that reads a dataset has the rule whose remedy is prefetch_to_device, until the remedy is followed."""
    dataset = tf.data.Dataset.from_tensors(tf.ones([4, 4])).repeat()
    if prefetched:
        dataset = dataset.apply(tf.data.experimental.prefetch_to_device(hpu))
    iterator = iter(dataset)

    @tf.function
    def step() -> tf.Tensor:
        return tf.reduce_sum(tf.tanh(next(iterator)) * 2.0)

    found = htf.explain(step)
    (op,) = (op for op in found.graph("step").ops if op.type == "IteratorGetNext")
    assert (op.rule == "input-pipeline") == (not prefetched)
    assert ("prefetch_to_device" in found.summary()) == (not prefetched)
    assert (op.copied_bytes > 0) == (not prefetched)
    assert [graph.name for graph in found.graphs] == ["step"]
    assert prefetched == all(total.rule.expected for total in found.rules())


def test_variables_of_a_session_are_no_exception(hpu: str) -> None:
    def train() -> None:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            weights = tf.compat.v1.get_variable("weights", [8, 8], use_resource=True)
            session.run(weights.initializer)
            session.run(weights.assign_sub(0.1 * tf.tanh(tf.matmul(weights, weights))))

    found = htf.explain(train)
    variables = [op for graph in found.graphs for op in graph.ops if op.type == "VarHandleOp"]
    assert variables and {op.rule for op in variables} <= {None, "border"}


def test_messages_of_assertions_are_no_exception(hpu: str) -> None:
    """The lengths are checked by assertions of TensorFlow, whose messages are string constants."""

    @tf.function
    def padded(values: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.RaggedTensor.from_row_lengths(values, lengths).to_tensor() * 2.0)

    found = htf.explain(padded, tf.ones([6, 2]), tf.constant([1, 3, 2]))
    strings = [op for op in found.graph("padded").ops if op.type == "Const" and "string" in op.dtypes]
    assert strings and {op.rule for op in strings} == {"constant"}
    assert found.graph("padded").op("RaggedToTensor/RaggedTensorToTensor").rule == "no-kernel"


def test_checks_of_values_in_host_memory_are_work_of_clusters(hpu: str) -> None:
    """The argument is in host memory, so a pass adds a check on the host. The program is not to blame."""
    with tf.device("/CPU:0"):
        counted = tf.constant([1, 2, 2])
    found = htf.explain(lambda values: tf.math.bincount(values, minlength=4, maxlength=4, axis=-1), counted)
    checks = [op for graph in found.graphs for op in graph.ops if "/habana_check/" in op.name and op.type != "Const"]
    assert len(checks) > 1 and {op.rule for op in checks} == {"host"}


def test_a_function_that_must_compile_and_does_not(hpu: str) -> None:
    """The program receives the error and continues; the failure is recorded."""

    @tf.function(jit_compile=True)
    def inner(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(
            lambda i, _: i < 4, lambda i, total: (i + 1, total + tf.reduce_sum(tf.fill([i], 1.0))), [1, x[0]]
        )[1]

    plugin = plugin_library.handle()
    c_api.function(plugin, "hpu_collect_op_records")(True)
    try:
        for _ in range(2):
            with tf.device("/device:HPU:0"), pytest.raises(tf.errors.OpError, match="jit_compile=True"):
                inner(tf.ones([8]))
        records = c_api.read_message(plugin, "hpu_op_records", "OpRecords")
    finally:
        c_api.function(plugin, "hpu_collect_op_records")(False)
    (failure,) = records.failures
    assert "inner" in failure.cluster and failure.rule == "compile-error" and not failure.nodes
    assert "compile-time constant" in failure.reason


def test_ops_that_do_not_compile(hpu: str) -> None:
    """TensorFlow's compiler supports Fill, but not with a size that a loop computes."""

    def looping(x: tf.Tensor) -> tf.Tensor:
        y = tf.tanh(x * 2.0)
        total = tf.while_loop(
            lambda i, _: i < 4,
            lambda i, total: (i + 1, total + tf.reduce_sum(tf.fill([i], 1.0)) + tf.reduce_sum(y)),
            [tf.constant(1), tf.constant(0.0)],
        )[1]
        return tf.cos(y * total)

    graph = htf.explain(looping, tf.ones([8])).graph("looping")
    (loop,) = (op for op in graph.ops if "While" in op.type)
    assert (loop.rule, loop.cluster) == ("compile-error", None)
    assert loop.reason and "`while/Fill` with op Fill must be a compile-time constant" in loop.reason
    others = [op for op in graph.ops if op.type in ("Tanh", "Mul", "Cos")]
    assert len(others) == 4 and all(op.cluster and op.rule is None for op in others)


def test_normal_runs_record_nothing(hpu: str) -> None:
    htf.explain(tf.function(lambda x: tf.tanh(x) * 2.0), tf.ones([2]))
    before = c_api.read_message(plugin_library.handle(), "hpu_op_records", "OpRecords")
    tf.function(lambda x: tf.tanh(x) * 3.0)(tf.ones([2]))
    assert c_api.read_message(plugin_library.handle(), "hpu_op_records", "OpRecords") == before


def test_errors_of_the_function_propagate(hpu: str) -> None:
    def bad(x: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_equal(x, 0.0, message="not zero")
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="not zero"):
        htf.explain(bad, tf.ones([2]))
    assert htf.explain(lambda x: tf.tanh(x) * 2.0, tf.ones([2])).clustered_ops


def test_an_explanation_survives_json(hpu: str) -> None:
    explained = htf.explain(lambda x: tf.tanh(x) * 2.0, tf.ones([2]))
    assert explanation.from_json(explained.to_json()) == explained
    with pytest.raises(ValueError, match="not an explanation of format"):
        explanation.from_json('{"format": 99}')
    with pytest.raises(LookupError, match="similar: "):
        explained.graphs[0].op("TAN")
    with pytest.raises(LookupError, match="no graph name contains 'nothing'"):
        explained.graph("nothing")


FAULTS = {
    "compile@1+": "fallback",
}


@pytest.mark.cpu_fallback("the test is about the fallback")
@pytest.mark.parametrize("fault", FAULTS)
def test_failures_at_run_time_are_reported(fault: str) -> None:
    done = run_with_tensorflow(call_to(programs.explain), {"HPU_FAULTS": fault})
    assert done.stdout.split() == [FAULTS[fault], "1", "32", FAULTS[fault]], done.stderr


def test_fallbacks_by_policy_are_reported(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_COMPILE_MODE", "never")

    # Counters are per cluster name, which contains the function's name.
    def never_compiled(x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x) * 2.0

    explained = htf.explain(never_compiled, tf.ones([2]))
    (cluster,) = explained.graphs[-1].clusters
    assert (cluster.rule, cluster.reason, cluster.fallback_reasons) == ("never", None, {"never": 1})
    assert explanation.from_json(explained.to_json()) == explained


def test_clustering_off_is_a_rule(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_CLUSTERING", "off")
    graph = htf.explain(lambda x: tf.tanh(x) * 2.0, tf.ones([2])).graphs[-1]
    assert graph.op("Tanh").rule == "user-setting" and not graph.clusters


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HPU_MAX_CLUSTER_SIZE", "4")
    yield


def test_limits_of_size_split_clusters(hpu: str, limited: None) -> None:
    def chain(x: tf.Tensor) -> tf.Tensor:
        for _ in range(4):
            x = tf.tanh(x) * 2.0
        return x

    graph = htf.explain(chain, tf.ones([2])).graphs[-1]
    assert len(graph.clusters) > 1 and {split.rule for split in graph.splits} == {"size-limit"}


def test_compile_errors_name_the_op() -> None:
    ops = [
        report_pb2.OpRecord(node=name, op="Tanh", device="/job:a/device:HPU:0", cluster="c_0", dtypes=["float"])
        for name in ("good", "bad")
    ]
    cluster = report_pb2.Cluster(name="c_0", device="/device:HPU:0", ops=2, arguments=1, results=1)
    report = report_pb2.GraphReport(
        graph="f", function="__inference_f_1", record=4, nodes=2, hpu_nodes=2, clusters=[cluster], ops=ops
    )
    failure = report_pb2.ClusterFailure(
        record=4, cluster="c_0", rule="compile-error", nodes=["bad"], reason="no\nlowering"
    )
    records = report_pb2.OpRecords(graphs=[report], failures=[failure])
    counts = statistics.Statistics((), statistics.Eager(0, 0.0, 0, 0, 0), 0.0, 0, 0, 0)
    explained = collect.build(records, counts)
    assert (explained.graphs[0].op("bad").rule, explained.graphs[0].op("bad").cluster) == ("compile-error", None)
    assert explained.graphs[0].op("bad").reason == "was moved out of c_0: no lowering"
    assert explained.graphs[0].op("good").rule is None
    assert "compile-error (1 op): " in explained.summary()


def test_the_page_of_the_passes_names_their_rules() -> None:
    source = "".join(path.read_text() for path in sorted((ROOT / "plugin" / "passes").rglob("*.cc")))
    named = {re.sub(r"\B([A-Z])", r"-\1", name).lower() for name in re.findall(r"OpRefusal\{Rule::k(\w+)", source)}
    assert {"uncompilable", "random", "dtype"} <= named <= set(explanation.RULES)
    pamsen = pathlib.Path(ROOT, "docs", "developer", "pamsen.md").read_text()
    assert {name for name in named if f"`{name}`" not in pamsen} <= {"recursion"}
