"""Horovod's ops with tensors and variables on the HPU, while TensorFlow may place nothing softly."""

from __future__ import annotations

import pathlib
import textwrap

import numpy as np

from tests.hvd.jobs import run_code

LOAD = """
from habana_frameworks.tensorflow import load_habana_module, statistics
from habana_frameworks.tensorflow.explanation import passes
load_habana_module()
own_sets = [hvd.ProcessSet([0]), hvd.ProcessSet([1])]
hvd.init(process_sets=own_sets)
tf.config.set_soft_device_placement(False)
rank = hvd.rank()
mine = np.arange(4, dtype=np.float32) + 10 * rank
"""


def test_eager_ops(tmp_path: pathlib.Path) -> None:
    code = """
        with tf.device("/HPU:0"):
            x = tf.constant(mine) * 1.0
            assert x.device.endswith("HPU:0"), x.device
            total = hvd.allreduce(x, op=hvd.Sum)
            assert total.device.endswith("CPU:0"), total.device
            after = total + 1.0
            assert after.device.endswith("HPU:0"), after.device
            first, second = hvd.grouped_allreduce([x, x * 2.0], op=hvd.Average)
            table = tf.Variable(tf.ones([4, 2]))
            with tf.GradientTape() as tape:
                picked = tf.reduce_sum(tf.gather(table, [rank, rank + 1]))
            (sparse,) = hvd.DistributedGradientTape(tape).gradient(picked, [table])
            assert isinstance(sparse, tf.IndexedSlices), sparse
            result(
                sum=total, after=after, first=first, second=second, sparse=tf.convert_to_tensor(sparse),
                largest=hvd.allreduce(x, op=hvd.Max),
                half=hvd.allreduce(x, op=hvd.Sum, compression=hvd.Compression.fp16),
                gathered=hvd.allgather(x[: rank + 1]),
                broadcast=hvd.broadcast(x, root_rank=1),
                exchanged=hvd.alltoall(x),
                scattered=hvd.reducescatter(x, op=hvd.Sum),
                alone=hvd.allreduce(x, op=hvd.Sum, process_set=own_sets[rank]),
                int32=hvd.allreduce(tf.constant([rank, 7]), op=hvd.Sum),
                object=hvd.broadcast_object({"root": rank}, root_rank=1)["root"],
            )
            rules = {r.op: r.rule for report in passes.recent_reports() for r in report.refusals}
            assert rules["HorovodAllreduce"] == "horovod", rules
    """
    results = run_code(tmp_path, LOAD + textwrap.dedent(code))
    zero, one = np.arange(4.0), np.arange(4.0) + 10
    assert len(results) == 2
    for rank, got in enumerate(results):
        np.testing.assert_array_equal(got["sum"], zero + one)
        np.testing.assert_array_equal(got["after"], zero + one + 1)
        np.testing.assert_array_equal(got["first"], (zero + one) / 2)
        np.testing.assert_array_equal(got["second"], zero + one)
        np.testing.assert_array_equal(got["sparse"][:, 0], [0.5, 1.0, 0.5, 0.0])
        np.testing.assert_array_equal(got["largest"], one)
        np.testing.assert_array_equal(got["half"], zero + one)
        np.testing.assert_array_equal(got["gathered"], [0, 10, 11])
        np.testing.assert_array_equal(got["broadcast"], one)
        np.testing.assert_array_equal(got["exchanged"], [[0, 1, 10, 11], [2, 3, 12, 13]][rank])
        np.testing.assert_array_equal(got["scattered"], (zero + one)[2 * rank : 2 * rank + 2])
        np.testing.assert_array_equal(got["alone"], [zero, one][rank])
        np.testing.assert_array_equal(got["int32"], [1, 14])
        assert got["object"] == 1


def test_ops_in_functions(tmp_path: pathlib.Path) -> None:
    code = """
        variable = tf.Variable(mine)
        assert variable.device.endswith("HPU:0"), variable.device

        @tf.function
        def step(x):
            with tf.device("/HPU:0"), tf.GradientTape() as tape:
                y = hvd.allreduce(x * variable, op=hvd.Sum) * 2.0
            return y, tape.gradient(y, variable), hvd.allgather(x), hvd.size_op(), hvd.rank_op()

        y, gradient, gathered, size, number = step(tf.constant(mine))
        result(y=y, gradient=gradient, gathered=gathered, size=size, rank=number)
        assert statistics.get().fallbacks == 0
        clusters = [c.name for c in statistics.get().launched_clusters]
        assert clusters and all("step" in name for name in clusters), clusters
        refused = {r.op: r.rule for r in passes.recent_reports()[-1].refusals}
        assert refused["HorovodAllreduce"] == refused["HorovodAllgather"] == "horovod", refused
    """
    results = run_code(tmp_path, LOAD + textwrap.dedent(code))
    zero, one = np.arange(4.0), np.arange(4.0) + 10
    for rank, got in enumerate(results):
        np.testing.assert_array_equal(got["y"], (zero**2 + one**2) * 2)
        # The gradient of a sum over ranks is the sum of their gradients.
        np.testing.assert_array_equal(got["gradient"], [zero, one][rank] * 4)
        np.testing.assert_array_equal(got["gathered"], np.concatenate([zero, one]))
        assert got["size"] == 2 and got["rank"] == rank


def test_broadcast_of_variables(tmp_path: pathlib.Path) -> None:
    code = """
        one = tf.Variable(mine, name="one")
        half = tf.Variable(tf.cast(mine, tf.float16), name="half")
        whole = tf.Variable([rank, 5], dtype=tf.int32, name="whole")
        variables = [one, half, whole]

        def differ():
            one.assign(mine)
            half.assign(tf.cast(mine, tf.float16))
            whole.assign([rank, 5])

        def check():
            assert one.device.endswith("HPU:0"), one.device
            np.testing.assert_array_equal(one.numpy(), np.arange(4) + 10)
            np.testing.assert_array_equal(half.numpy(), np.arange(4) + 10)
            np.testing.assert_array_equal(whole.numpy(), [1, 5])

        hvd.broadcast_variables(variables, root_rank=1)
        check()
        differ()
        hvd.broadcast_variables(variables, root_rank=1, inplace=True)
        check()
        differ()

        @tf.function
        def in_place():
            hvd.broadcast_(variables, root_rank=1)

        in_place()
        check()
        # The variable is one of the device's again: its value takes part in a cluster.
        doubled = tf.function(lambda: one * 2.0 + 1.0)()
        assert doubled.device.endswith("HPU:0"), doubled.device
        result(doubled=doubled)
    """
    for got in run_code(tmp_path, LOAD + textwrap.dedent(code)):
        np.testing.assert_array_equal(got["doubled"], (np.arange(4) + 10) * 2 + 1)


def test_sessions(tmp_path: pathlib.Path) -> None:
    code = """
        tf1 = tf.compat.v1
        with tf.Graph().as_default():
            with tf.device("/HPU:0"):
                variable = tf1.get_variable("v", initializer=mine, use_resource=True)
                x = tf1.placeholder(tf.float32, [4])
                total = hvd.allreduce(x * 2.0, op=hvd.Sum) + 1.0
                optimizer = hvd.DistributedOptimizer(tf1.train.GradientDescentOptimizer(0.5))
                train = optimizer.minimize(tf.reduce_sum(x * variable))
            hooks = [hvd.BroadcastGlobalVariablesHook(0)]
            config = tf1.ConfigProto(allow_soft_placement=False)
            with tf1.train.MonitoredTrainingSession(hooks=hooks, config=config) as session:
                start = session.run(variable)
                session.run(train, {x: mine})
                result(start=start, total=session.run(total, {x: mine}), trained=session.run(variable))
    """
    zero, one = np.arange(4.0), np.arange(4.0) + 10
    for got in run_code(tmp_path, LOAD + textwrap.dedent(code)):
        np.testing.assert_array_equal(got["start"], zero)
        np.testing.assert_array_equal(got["total"], (zero + one) * 2 + 1)
        np.testing.assert_array_equal(got["trained"], zero - 0.5 * (zero + one) / 2)
