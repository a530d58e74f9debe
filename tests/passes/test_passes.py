"""Single passes on purpose-built graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.errors import DeviceError
from habana_frameworks.tensorflow.explanation import passes
from habana_frameworks.tensorflow.explanation.passes import CPU, HPU
from tests.passes import random_graphs


def graph_of(build: Callable[[], object]) -> tf.compat.v1.GraphDef:
    """Returns the graph of `build`, on the HPU by default."""
    with tf.Graph().as_default() as graph, tf.device(HPU):
        build()
    return graph.as_graph_def()


def on_cpu(tensor: tf.Tensor, name: str = "out") -> tf.Tensor:
    """Uses the tensor outside every cluster."""
    with tf.device(CPU):
        return tf.identity(tensor, name=name)


def placeholder(shape: list[int | None], dtype: tf.DType = tf.float32, name: str = "x") -> tf.Tensor:
    with tf.device(CPU):
        return tf.compat.v1.placeholder(dtype, shape, name=name)


def refusals(result: passes.PassResult) -> dict[str, str]:
    return {refusal.node: refusal.rule for refusal in result.report.refusals}


def launches(graph: tf.compat.v1.GraphDef) -> list[tf.compat.v1.NodeDef]:
    return [node for node in graph.node if node.op == "HabanaLaunch"]


def run_on_cpu(graph: tf.compat.v1.GraphDef, feeds: Mapping[str, object], fetch: str = "out:0") -> np.ndarray:
    with tf.Graph().as_default() as own:
        tf.import_graph_def(random_graphs.on_cpu(graph), name="")
        with tf.compat.v1.Session() as session:
            return session.run(own.get_tensor_by_name(fetch), {own.get_tensor_by_name(k): v for k, v in feeds.items()})


def test_an_unknown_pass_is_refused_with_a_list_of_known_passes() -> None:
    with pytest.raises(
        DeviceError, match="unknown graph pass fuse; expected one of results, handles, fold, patterns, bf16, fp32_math"
    ):
        passes.run(tf.compat.v1.GraphDef(), "fuse")


def test_a_graph_without_hpu_nodes_stays() -> None:
    def build() -> None:
        on_cpu(placeholder([2]) * 2.0)

    graph = graph_of(build)
    for node in graph.node:
        node.device = CPU
    assert launches(passes.run(graph).graph) == []


def test_clusters_are_named_after_the_function_without_its_number() -> None:
    graph = graph_of(lambda: on_cpu(tf.tanh(placeholder([2]) * 2.0)))
    for function, name in [
        ("__inference_train_function_1234", "train_function"),
        ("__backward_step_7", "backward_step"),
        ("", "session"),
    ]:
        (cluster,) = passes.run(graph, function=function).report.clusters
        assert cluster.name == f"habana_cluster_{name}_0"


def test_launches_keep_int32_on_the_host_and_order_arguments() -> None:
    def build() -> None:
        x, n = placeholder([4, 3]), placeholder([2], tf.int32, "n")
        k = placeholder([], tf.int32, "k")
        y = tf.reshape(tf.tanh(x), n) * tf.cast(k, tf.float32)
        on_cpu(y)
        on_cpu(k * tf.size(y), "size")

    # Placeholders feed an op that needs a constant, like function arguments in real graphs.
    graph = graph_of(build)
    for node in graph.node:
        if node.op == "Placeholder" and node.name in ("n", "k"):
            node.op = "_Arg"
            node.attr["T"].CopyFrom(node.attr["dtype"])
            node.attr["index"].i = 0 if node.name == "n" else 1
            del node.attr["dtype"], node.attr["shape"]
    (launch,) = launches(passes.run(graph).graph)
    assert launch.input[0] == "n" and launch.attr["num_constant_args"].i == 1
    types = launch.attr["Targs"].list.type
    int32 = tf.int32.as_datatype_enum
    assert sorted(launch.attr["_input_hostmem"].list.i) == [i for i, kind in enumerate(types) if kind == int32]
    results = launch.attr["Tresults"].list.type
    assert list(launch.attr["_output_hostmem"].list.i) == [i for i, kind in enumerate(results) if kind == int32] != []


@pytest.mark.parametrize(
    ("rule", "op"),
    [
        ("lost-error", lambda x: tf.debugging.check_numerics(x, "bad")),
        ("dynamic-size", lambda x: tf.where(x > 0)),
        ("string", lambda x: tf.strings.as_string(x)),
        ("control-flow", lambda x: tf.raw_ops.Switch(data=x, pred=tf.reduce_all(x > 0))[1]),
        ("random", lambda x: tf.random.truncated_normal(tf.shape(x), seed=1)),
    ],
)
def test_unclustered_ops_have_a_reason(rule: str, op: Callable[[tf.Tensor], tf.Tensor]) -> None:
    result = passes.run(graph_of(lambda: on_cpu(op(tf.tanh(placeholder([2, 2]) * 2.0)))))
    assert rule in refusals(result).values()
    assert all(refusal.reason for refusal in result.report.refusals)


def test_a_value_that_depends_on_data_is_no_constant_of_a_cluster() -> None:
    def build() -> None:
        x = placeholder([8])
        on_cpu(tf.reshape(tf.tanh(x), tf.cast(tf.stack([x[0], x[1]]), tf.int32), name="reshape"))

    assert refusals(passes.run(graph_of(build)))["reshape"] == "changing-constant"


def test_fuel_bounds_the_clusters_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(lambda: on_cpu(tf.tanh(placeholder([2]) * 2.0)))
    monkeypatch.setenv("HPU_CLUSTER_FUEL", "0")
    result = passes.run(graph)
    assert launches(result.graph) == [] and "fuel" in refusals(result).values()


def test_small_groups_and_shape_arithmetic_get_no_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    one = graph_of(lambda: on_cpu(tf.tanh(placeholder([2]))))
    assert len(launches(passes.run(one).graph)) == 1
    monkeypatch.setenv("HPU_MIN_CLUSTER_SIZE", "2")
    assert launches(passes.run(one).graph) == []
    monkeypatch.delenv("HPU_MIN_CLUSTER_SIZE")
    sizes = graph_of(lambda: on_cpu(tf.reduce_prod(tf.shape(placeholder([None, 3]))[1:]) * 2))
    assert launches(passes.run(sizes).graph) == []


def jit_call_graph(function: Callable[[tf.Tensor], tf.Tensor]) -> tf.compat.v1.GraphDef:
    def build() -> None:
        call = tf.function(function, jit_compile=True)
        on_cpu(tf.exp(call(tf.sin(placeholder([2]) * 3.0, name="inner")) * 2.0))

    return graph_of(build)


def must_compile(graph: tf.compat.v1.GraphDef) -> list[bool]:
    """Returns the launches' values of must_compile after all passes."""
    return sorted(launch.attr["must_compile"].b for launch in launches(passes.run(graph).graph))


def test_a_jit_compiled_call_shares_the_cluster_of_other_ops() -> None:
    graph = passes.run(jit_call_graph(lambda x: tf.tanh(x) + tf.gather(x, [5]))).graph
    (launch,) = launches(graph)
    assert not launch.attr["must_compile"].b
    assert not any(node.op.startswith("HabanaCheck") for node in graph.node), "its indices are not checked"


def test_a_jit_compiled_call_is_a_cluster_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    alone: list[Callable[[tf.Tensor], tf.Tensor]] = [
        lambda x: tf.boolean_mask(x, x > 0.0),
        lambda x: tf.tanh(x) + tf.random.normal([2]),
    ]
    for function in alone:
        assert must_compile(jit_call_graph(function)) == [False, False, True]
    graph = jit_call_graph(lambda x: tf.tanh(x))
    for setting, value, kinds in [
        ("HPU_COMPILE_MODE", "lazy", [False, False, True]),
        ("HPU_CLUSTERING", "lite", [False, False, True]),
        ("TF_DONT_CLUSTER", "inner,mul,mul_1,Exp", [True]),
    ]:
        monkeypatch.setenv(setting, value)
        assert must_compile(graph) == kinds, setting
        monkeypatch.delenv(setting)


@pytest.mark.parametrize("refused", ["in_function", "unknown", "inner"])
def test_a_cluster_that_fails_is_split_around_its_jit_compiled_call(refused: str) -> None:
    """The call must compile by itself, unless the error names another op."""
    graph = passes.run(jit_call_graph(lambda x: tf.tanh(x, name="in_function"))).graph
    (launch,) = launches(graph)
    split, name = passes.split(graph, launch.name, [refused])
    (function,) = (f for f in split.library.function if f.signature.name == name)
    kinds = [node.attr["must_compile"].b for node in function.node_def if node.op == "HabanaLaunch"]
    assert sorted(kinds) == ([False, False] if refused == "inner" else [False, False, True])


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.float16])
@pytest.mark.parametrize("name", ["StatelessRandomUniformV2", "StatelessRandomNormalV2"])
def test_rewritten_random_ops_draw_the_same_as_the_cpu(name: str, dtype: tf.DType) -> None:
    def build() -> None:
        key, counter = placeholder([1], tf.uint64, "key"), placeholder([2], tf.uint64, "counter")
        shape = placeholder([2], tf.int32, "shape")
        on_cpu(getattr(tf.raw_ops, name)(shape=shape, key=key, counter=counter, alg=1, dtype=dtype) * 1)

    graph = graph_of(build)
    rewritten = passes.run(graph, "random")
    assert [rewrite.op for rewrite in rewritten.report.rewrites] == [name]
    for shape in ([7, 5], [1, 1], [0, 3], [64, 33]):
        feeds = {"key:0": [123], "counter:0": [7, 1 << 63], "shape:0": shape}
        expected, got = run_on_cpu(graph, feeds), run_on_cpu(rewritten.graph, feeds)
        assert got.shape == expected.shape
        tolerance = 0 if "Uniform" in name else {tf.float32: 3e-6, tf.bfloat16: 2e-2, tf.float16: 3e-3}[dtype]
        np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), atol=tolerance, rtol=tolerance)


def test_the_state_of_a_random_op_does_not_wait_for_the_cluster() -> None:
    def build() -> None:
        x = tf.tanh(placeholder([None, 6]) * 2.0)
        hidden = tf.reshape(tf.matmul(x, tf.ones([6, 4])), [-1, 2, 2])
        on_cpu(tf.nn.dropout(hidden, 0.5, seed=3) * 2.0)

    result = passes.run(graph_of(build))
    assert len(launches(result.graph)) == 1
    (launch,) = launches(result.graph)
    assert any("state" in source for source in launch.input)
    assert any(node.op == "HabanaPhiloxState" for node in result.graph.node)


def test_indices_are_checked_before_the_cluster_where_they_are_on_the_host() -> None:
    def build() -> None:
        ids = placeholder([None], tf.int64, "ids")
        table = placeholder([10, 4], name="table")
        on_cpu(tf.gather(tf.tanh(table), tf.cast(ids, tf.int32)) * 2.0)

    result = passes.run(graph_of(build)).graph
    (check,) = (node for node in result.node if node.op == "HabanaCheckIndices")
    (launch,) = launches(result)
    assert check.input[0] == "ids" and f"^{check.name}" in launch.input
    feeds = {"ids:0": [1, 12], "table:0": np.zeros((10, 4))}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 12 is not in \[0, 10\)"):
        run_on_cpu(result, feeds)
    assert run_on_cpu(result, {**feeds, "ids:0": [9, 0]}).shape == (2, 4)


@pytest.mark.parametrize(
    ("dtype", "classes", "before"),
    [(tf.float32, 10, True), (tf.float16, 300, True), (tf.bfloat16, 10, True), (tf.bfloat16, 300, False)],
)
def test_converted_labels_are_checked_before_the_cluster_if_the_type_has_them(
    dtype: tf.DType, classes: int, before: bool
) -> None:
    """Keras 3's losses convert labels to the loss's type and back. In bfloat16, 299 becomes 300."""

    def build() -> None:
        numbers = tf.cast(placeholder([None], tf.int64, "labels"), dtype)
        labels = tf.squeeze(tf.cast(tf.expand_dims(numbers, 1), tf.int64), 1)
        logits = tf.tanh(placeholder([None, classes])) * 3.0
        on_cpu(tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)))

    result = passes.run(graph_of(build)).graph
    (check,) = (node for node in result.node if node.op == "HabanaCheckIndices")
    assert (check.input[0] == "labels") == before
    feeds = {"x:0": np.zeros((2, classes)), "labels:0": [0, classes - 1]}
    if before:
        assert np.isfinite(run_on_cpu(result, feeds))
        feeds["labels:0"] = [0, classes]
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"label value of {classes} which is outside"):
        run_on_cpu(result, feeds)


@pytest.mark.parametrize("swapped", [False, True])
def test_indices_that_count_from_the_end_are_checked_before_the_cluster(swapped: bool) -> None:
    """keras.ops.take adds the size to negative indices."""

    def build() -> None:
        ids = placeholder([None], tf.int64, "ids")
        wrapped = tf.where(ids < 0, 10 + ids if swapped else ids + 10, ids)
        on_cpu(tf.gather(tf.tanh(placeholder([10, 4])), tf.cast(wrapped, tf.int32)) * 2.0)

    result = passes.run(graph_of(build)).graph
    (check,) = (node for node in result.node if node.op == "HabanaCheckIndices")
    assert check.input[0] == "ids"
    rows = np.arange(40.0).reshape(10, 4)
    feeds = {"ids:0": [9, -10, -1, 0], "x:0": rows}
    np.testing.assert_allclose(run_on_cpu(result, feeds)[1:], 2 * np.tanh(rows[[0, 9, 0]]), rtol=1e-6)
    for wrong, shown in ((10, 10), (-11, -1)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[1\] = {shown} is not in \[0, 10\)"):
            run_on_cpu(result, {**feeds, "ids:0": [1, wrong]})


@pytest.mark.parametrize(
    "select",
    [
        lambda ids: tf.where(ids < 1, ids + 10, ids),
        lambda ids: tf.where(ids < 0, ids * 10, ids),
        lambda ids: tf.where(ids < 0, ids + 10, ids + 1),
        lambda ids: tf.where(ids < 0, ids + ids, ids),
        lambda ids: tf.where(ids > 0, ids + 10, ids),
    ],
)
def test_other_selected_indices_are_checked_after_the_cluster(select: Callable[[tf.Tensor], tf.Tensor]) -> None:
    def build() -> None:
        ids = placeholder([None], tf.int64, "ids")
        on_cpu(tf.gather(tf.tanh(placeholder([10, 4])), select(ids)) * 2.0)

    result = passes.run(graph_of(build)).graph
    (check,) = (node for node in result.node if node.op == "HabanaCheckIndices")
    assert check.input[0] != "ids"


def test_computed_indices_are_checked_after_the_cluster() -> None:
    def build() -> None:
        logits = placeholder([None, 4])
        labels = placeholder([None], tf.int32, "labels")
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.abs(labels) + 1, tf.tanh(logits) * 3.0)
        on_cpu(tf.reduce_sum(loss))

    result = passes.run(graph_of(build)).graph
    (check,) = (node for node in result.node if node.op == "HabanaCheckIndices")
    (launch,) = launches(result)
    assert any(source.startswith(launch.name) for source in check.input)
    with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 4 which is outside the valid range"):
        run_on_cpu(result, {"x:0": np.zeros((2, 4)), "labels:0": [1, 3]})


@pytest.mark.parametrize(
    ("flags", "find", "checks"),
    [
        ([8], lambda x, flags: tf.boolean_mask(x, flags), 0),
        ([8, 4], lambda x, flags: tf.gather_nd(x, tf.where(flags)), 0),
        ([6, 4], lambda x, flags: tf.gather_nd(x, tf.where(flags)), 0),
        ([4, 4], lambda x, flags: tf.gather(x, tf.where(flags), axis=1), 0),
        ([9], lambda x, flags: tf.gather(x, tf.where(flags)[:, 0] - 1), 1),
        ([9], lambda x, flags: tf.gather(x, tf.squeeze(tf.where(flags), 1)), 1),
        ([8, 5], lambda x, flags: tf.gather_nd(x, tf.where(flags)), 1),
        ([8], lambda x, flags: tf.gather(x, tf.where(flags), axis=1), 1),
        ([None], lambda x, flags: tf.boolean_mask(x, flags), 1),
    ],
)
def test_coordinates_of_flags_need_no_check(
    flags: list[int | None], find: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], checks: int
) -> None:
    def build() -> None:
        on_cpu(find(tf.identity(placeholder([8, 4])), tf.logical_not(placeholder(flags, tf.bool, "flags"))) * 2.0)

    result = passes.run(graph_of(build)).graph
    assert len([node for node in result.node if node.op == "HabanaCheckIndices"]) == checks
    found = run_on_cpu(result, {"x:0": np.ones((8, 4)), "flags:0": np.ones([size or 8 for size in flags])})
    assert found.size == 0


def test_ranges_are_checked_before_the_cluster_where_they_are_on_the_host() -> None:
    def build() -> None:
        high = placeholder([], tf.int32, "high")
        drawn = tf.random.uniform([4], 2, high, tf.int32, seed=1)
        on_cpu(tf.cast(drawn, tf.float32) * 2.0 + 1.0)

    result = passes.run(graph_of(build)).graph
    (check,) = (node for node in result.node if node.op == "HabanaCheckRange")
    (launch,) = launches(result)
    assert check.input[1] == "high" and f"^{check.name}" in launch.input
    assert run_on_cpu(result, {"high:0": 3}).tolist() == [5] * 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 2 >= 2"):
        run_on_cpu(result, {"high:0": 2})


@pytest.mark.parametrize(
    ("use", "check"),
    [
        (lambda number: tf.gather(tf.exp(placeholder([10, 4])), number), "HabanaCheckIndices"),
        (lambda number: tf.cast(placeholder([4], tf.int32) // number, tf.float32), "HabanaCheckValues"),
        (lambda number: tf.cast(tf.random.uniform([4], 2, number, tf.int32, seed=1), tf.float32), "HabanaCheckRange"),
    ],
    ids=["index", "divisor", "range"],
)
def test_values_from_the_host_are_checked_before_the_cluster_beside_lowered_branches(
    use: Callable[[tf.Tensor], tf.Tensor], check: str
) -> None:
    def build() -> None:
        taken = tf.raw_ops.Switch(data=placeholder([4], name="y"), pred=placeholder([], tf.bool, "pred"))
        with tf.device(CPU):
            number = tf.cast(tf.identity(taken.output_true[0] + 1.0), tf.int32)
        on_cpu(tf.tanh(use(number)) * 2.0)

    result = passes.run(graph_of(build)).graph
    (node,) = (node for node in result.node if node.op == check)
    assert any(f"^{node.name}" in launch.input for launch in launches(result))
    assert not any(source.startswith(launch.name) for launch in launches(result) for source in node.input)


@pytest.mark.parametrize(("high", "inside"), [(3, True), (2, False)])
def test_constant_ranges_need_no_check(high: int, inside: bool) -> None:
    def build() -> None:
        drawn = tf.random.uniform([4], 2, high, tf.int32, seed=1)
        on_cpu(tf.tanh(tf.cast(drawn, tf.float32)) * 2.0)

    result = passes.run(graph_of(build))
    assert launches(result.graph)
    assert not any(node.op == "HabanaCheckRange" for node in result.graph.node)
    assert any(node.op == "StatelessRandomUniformIntV2" for node in result.graph.node) != inside


def test_a_split_cluster_computes_the_same_with_the_refused_op_outside() -> None:
    def build() -> None:
        x = placeholder([3])
        on_cpu(tf.tanh(tf.sinh(tf.exp(x) * 0.1, name="refused") + x) * 2.0)

    graph = passes.run(graph_of(build)).graph
    (launch,) = launches(graph)
    split, name = passes.split(graph, launch.name, ["refused"])
    assert name == f"{launch.name}_split_0"
    functions = {function.signature.name: function for function in split.library.function}
    ops = [node.op for node in functions[name].node_def]
    assert ops.count("HabanaLaunch") == 2 and "Sinh" in ops
    expected = run_on_cpu(graph, {"x:0": [0.5, -1.0, 2.0]})
    for node in split.node:
        if node.op == "HabanaLaunch":
            node.attr["function"].func.name = name
    np.testing.assert_allclose(run_on_cpu(split, {"x:0": [0.5, -1.0, 2.0]}), expected, rtol=1e-6)
    with pytest.raises(DeviceError, match="contains none of the ops"):
        passes.split(graph, launch.name, ["nothing"])


def test_stateful_ops_of_a_cluster_wait_for_their_inputs_calls() -> None:
    def build() -> None:
        v = tf.compat.v1.get_variable("v", [2], use_resource=True)

        @tf.function
        def inner(x: tf.Tensor) -> tf.Tensor:
            v.assign(x)
            return x * 2

        @tf.function
        def outer(x: tf.Tensor) -> tf.Tensor:
            return inner(inner(x) + 1)

        on_cpu(outer(tf.tanh(outer(placeholder([2])))))

    graph = graph_of(build)
    for function in graph.library.function:
        for node in function.node_def:  # Grappler leaves such edges if a data edge has the same direction
            data = [name for name in node.input if not name.startswith("^")]
            node.ClearField("input")
            node.input.extend(data)
    for node in graph.node:
        if node.op in ("StatefulPartitionedCall", "Tanh"):
            node.attr["_habana_cluster"].s = b"cluster"
    result = passes.run(graph, "calls").graph
    first, second = [node for node in result.node if node.op == "StatefulPartitionedCall"]
    assert f"^{first.name}" in second.input
    functions = {function.signature.name: function for function in result.library.function}
    body = functions[second.attr["f"].func.name]
    calls = [node for node in body.node_def if node.op == "StatefulPartitionedCall"]
    assert [f"^{calls[0].name}" in call.input for call in calls] == [False, True]


def test_reports_of_odd_names() -> None:
    graph = graph_of(lambda: on_cpu(tf.tanh(placeholder([2]) * 2.0)))
    report = passes.run(graph, function='a"b\\c').report
    assert (report.graph, report.function) == ("a_b_c", 'a"b\\c')
