"""Guards of variables against checks that run after clusters."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes
from tests.passes.test_passes import graph_of, launches, on_cpu, placeholder

GUARDS = ("HabanaRevertUpdate", "HabanaIndicesInRange")


def guarded(build: Callable[[], object]) -> passes.PassResult:
    return passes.run(graph_of(build))


def body_of(graph: tf.compat.v1.GraphDef, launch: tf.compat.v1.NodeDef) -> list[tf.compat.v1.NodeDef]:
    name = launch.attr["function"].func.name
    (function,) = (function for function in graph.library.function if function.signature.name == name)
    return list(function.node_def)


def names_of_ops(graph: tf.compat.v1.GraphDef) -> list[str]:
    return sorted(node.op for launch in launches(graph) for node in body_of(graph, launch) if node.op in GUARDS)


def computed_row(rows: int = 10) -> tf.Tensor:
    """A row of a table, at an index that the cluster computes."""
    index = tf.cast(tf.reduce_sum(tf.tanh(placeholder([4]))) * 3.0, tf.int32)
    return tf.gather(tf.exp(placeholder([rows, 4], name="table")), index)


def new_variable(*shape: int) -> tf.Tensor:
    """The handle of a variable that no op initialises."""
    return tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=shape or (4,))


def add(variable: tf.Tensor, value: tf.Tensor) -> tf.Operation:
    return tf.raw_ops.AssignAddVariableOp(resource=variable, value=value)


def scatter(table: tf.Tensor, rows: tf.Tensor, ids: tf.Tensor) -> tf.Operation:
    return tf.raw_ops.ResourceScatterAdd(resource=table, indices=ids, updates=rows)


def index_after(update: tf.Operation, variable: tf.Tensor) -> tf.Tensor:
    with tf.control_dependencies([update]):
        return tf.cast(tf.reduce_sum(tf.raw_ops.ReadVariableOp(resource=variable, dtype=tf.float32)), tf.int32)


def with_updates(*updates: tf.Operation) -> None:
    with tf.control_dependencies(list(updates)):
        on_cpu(tf.constant(1.0))


def test_a_step_without_late_checks_has_no_guards() -> None:
    def build() -> None:
        table = new_variable(10, 4)
        ids = placeholder([3], tf.int32, "ids")
        rows = tf.tanh(tf.gather(tf.exp(placeholder([10, 4])), ids))
        with_updates(scatter(table, rows, ids), add(new_variable(), rows[0]))

    graph = guarded(build).graph
    assert [node.op for node in graph.node].count("HabanaCheckIndices") == 2
    assert names_of_ops(graph) == []


def test_checks_without_updates_have_no_guards() -> None:
    graph = guarded(lambda: on_cpu(computed_row() * 2.0)).graph
    assert any(node.op == "HabanaCheckIndices" for node in graph.node)
    assert names_of_ops(graph) == []


def test_one_test_guards_all_updates() -> None:
    def build() -> None:
        row = computed_row()
        scattered = scatter(new_variable(10, 4), row[None], tf.constant([3]))
        with_updates(add(new_variable(), row), add(new_variable(), row * 2.0), scattered)

    result = guarded(build)
    assert names_of_ops(result.graph) == ["HabanaIndicesInRange", "HabanaRevertUpdate", "HabanaRevertUpdate"]
    (launch,) = launches(result.graph)
    nodes = {node.name: node for node in body_of(result.graph, launch)}
    (update,) = (node for node in nodes.values() if node.op == "ResourceScatterAdd")
    assert nodes[update.input[1].partition(":")[0]].op == "Minimum"
    reports = [rewrite for rewrite in result.report.rewrites if rewrite.pass_name == "guards"]
    assert len(reports) == 3 and all("habana_check/indices" in rewrite.what for rewrite in reports)


def test_guards_of_sparse_updates_copy_no_table() -> None:
    def build() -> None:
        numbers = {"lr": tf.constant(0.1), "momentum": tf.constant(0.9)}
        ids = tf.cast(placeholder([1]) * 3.0, tf.int64)
        update = tf.raw_ops.ResourceSparseApplyMomentum(
            var=new_variable(10, 4), accum=new_variable(10, 4), grad=tf.exp(placeholder([1, 4])), indices=ids, **numbers
        )
        with_updates(update)

    result = guarded(build)
    assert names_of_ops(result.graph) == ["HabanaIndicesInRange"]
    (launch,) = launches(result.graph)
    nodes = {node.name: node for node in body_of(result.graph, launch)}
    (update,) = (node for node in nodes.values() if node.op == "ResourceSparseApplyMomentum")
    assert nodes[update.input[4].partition(":")[0]].op == "Minimum"


def test_updates_before_the_checked_op_have_no_guards() -> None:
    def build() -> None:
        before = new_variable()
        index = index_after(add(before, tf.tanh(placeholder([4], name="y"))), before)
        with_updates(add(new_variable(), tf.gather(tf.exp(placeholder([10, 4])), index)))

    result = guarded(build)
    assert names_of_ops(result.graph) == ["HabanaIndicesInRange", "HabanaRevertUpdate"]
    (rewrite,) = (rewrite for rewrite in result.report.rewrites if rewrite.pass_name == "guards")
    assert rewrite.node == "AssignAddVariableOp_1"


def test_checks_and_updates_that_cross_make_no_cycle() -> None:
    """Each of two updates is before the checked op of one branch, and independent of the other branch."""

    def build() -> None:
        rows = []
        for variable in (new_variable(), new_variable()):
            index = index_after(add(variable, tf.tanh(placeholder([4]))), variable)
            rows.append(tf.gather(tf.exp(placeholder([10, 4])), index))
        on_cpu(rows[0] + rows[1])

    graph = guarded(build).graph
    assert len(launches(graph)) == 1
    # The second update follows the first branch's test.
    assert names_of_ops(graph) == ["HabanaIndicesInRange", "HabanaRevertUpdate"]


def test_a_check_waits_for_a_check_that_guards_an_update_before_it() -> None:
    def build() -> None:
        variable = new_variable()
        index = index_after(add(variable, computed_row()), variable)
        on_cpu(tf.gather(tf.exp(placeholder([10, 4])), index))

    graph = guarded(build).graph
    first, second = sorted((node for node in graph.node if node.op == "HabanaCheckIndices"), key=lambda node: node.name)
    assert f"^{first.name}" in second.input and f"^{second.name}" not in first.input


def test_a_check_waits_for_the_checks_of_earlier_ops() -> None:
    """The step fails with the first error, as on the CPU, although one cluster computes all rows."""

    def build() -> None:
        table = tf.exp(placeholder([10, 4]))
        index = tf.cast(tf.reduce_sum(tf.tanh(placeholder([4], name="y"))), tf.int32)
        for _ in range(3):
            index += tf.cast(tf.reduce_sum(tf.gather(table, index)), tf.int32)
        on_cpu(tf.cast(index, tf.float32))

    graph = guarded(build).graph
    assert len(launches(graph)) == 1
    checks = [node for node in graph.node if node.op == "HabanaCheckIndices"]
    assert len(checks) == 3
    waits = {node.name: [source for source in node.input if "habana_check/indices" in source] for node in checks}
    first, second, third = sorted(waits, key=lambda name: len(waits[name]))
    assert waits[first] == [] and f"^{first}" in waits[second] and f"^{second}" in waits[third]


@pytest.mark.parametrize("depends", [True, False])
def test_later_clusters_with_updates_wait_for_the_check(depends: bool) -> None:
    def build() -> None:
        row = computed_row()
        other = tf.exp(placeholder([4]) * 2.0)
        with tf.device(passes.CPU):
            moved = tf.identity(row if depends else other)
            kept = tf.identity(row)
        with_updates(add(new_variable(), tf.tanh(moved) * 2.0), on_cpu(tf.tanh(kept) * 2.0, "kept").op)

    graph = guarded(build).graph
    (check,) = (node for node in graph.node if node.op == "HabanaCheckIndices")
    (updating,) = (
        launch for launch in launches(graph) if any(node.op == "AssignAddVariableOp" for node in body_of(graph, launch))
    )
    assert (f"^{check.name}" in updating.input) == depends
