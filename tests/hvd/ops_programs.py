"""Programs for test_ops.py, run by two ranks.

One job runs all programs, because each new process spends seconds on AutoGraph's conversion of Horovod's functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from habana_frameworks.tensorflow.explanation import passes
from tests.hvd.results import result

# A program's results, by name.
Values = dict[str, Any]


class Rank(NamedTuple):
    """This rank of the job, with its data and process sets."""

    number: int
    mine: np.ndarray  # its data
    own_sets: list[Any]  # process sets of one rank each


def begin() -> Rank:
    import horovod.tensorflow as hvd

    load_habana_module()
    own_sets = [hvd.ProcessSet([0]), hvd.ProcessSet([1])]
    hvd.init(process_sets=own_sets)
    tf.config.set_soft_device_placement(False)
    return Rank(hvd.rank(), np.arange(4, dtype=np.float32) + 10 * hvd.rank(), own_sets)


def eager_ops(this: Rank) -> Values:
    import horovod.tensorflow as hvd

    rank, mine, own_sets = this
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
        rules = {r.op: r.rule for report in passes.recent_reports() for r in report.refusals}
        assert rules["HorovodAllreduce"] == "horovod", rules
        return {
            "sum": total,
            "after": after,
            "first": first,
            "second": second,
            "sparse": tf.convert_to_tensor(sparse),
            "largest": hvd.allreduce(x, op=hvd.Max),
            "half": hvd.allreduce(x, op=hvd.Sum, compression=hvd.Compression.fp16),
            "gathered": hvd.allgather(x[: rank + 1]),
            "broadcast": hvd.broadcast(x, root_rank=1),
            "exchanged": hvd.alltoall(x),
            "scattered": hvd.reducescatter(x, op=hvd.Sum),
            "alone": hvd.allreduce(x, op=hvd.Sum, process_set=own_sets[rank]),
            "int32": hvd.allreduce(tf.constant([rank, 7]), op=hvd.Sum),
            "object": hvd.broadcast_object({"root": rank}, root_rank=1)["root"],
        }


def ops_in_functions(rank: Rank) -> Values:
    import horovod.tensorflow as hvd

    statistics.reset()
    mine = rank.mine
    variable = tf.Variable(mine)
    assert variable.device.endswith("HPU:0"), variable.device

    @tf.function
    def step(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        with tf.device("/HPU:0"), tf.GradientTape() as tape:
            y = hvd.allreduce(x * variable, op=hvd.Sum) * 2.0
        return y, tape.gradient(y, variable), hvd.allgather(x), hvd.size_op(), hvd.rank_op()

    y, gradient, gathered, size, number = step(tf.constant(mine))
    assert statistics.get().fallbacks == 0
    clusters = [c.name for c in statistics.get().launched_clusters]
    assert clusters and all("step" in name for name in clusters), clusters
    refused = {r.op: r.rule for r in passes.recent_reports()[-1].refusals}
    assert refused["HorovodAllreduce"] == refused["HorovodAllgather"] == "horovod", refused
    return {"y": y, "gradient": gradient, "gathered": gathered, "size": size, "rank": number}


def broadcasts_of_variables(this: Rank) -> Values:
    import horovod.tensorflow as hvd

    rank, mine, _ = this
    one = tf.Variable(mine, name="one")
    half = tf.Variable(tf.cast(mine, tf.float16), name="half")
    whole = tf.Variable([rank, 5], dtype=tf.int32, name="whole")
    variables = [one, half, whole]

    def differ() -> None:
        one.assign(mine)
        half.assign(tf.cast(mine, tf.float16))
        whole.assign([rank, 5])

    def check() -> None:
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
    def in_place() -> None:
        hvd.broadcast_(variables, root_rank=1)

    in_place()
    check()
    # The variable is on the HPU again: a cluster uses its value.
    doubled = tf.function(lambda: one * 2.0 + 1.0)()
    assert doubled.device.endswith("HPU:0"), doubled.device
    return {"doubled": doubled}


def sessions(rank: Rank) -> Values:
    import horovod.tensorflow as hvd

    mine = rank.mine
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
            return {"start": start, "total": session.run(total, {x: mine}), "trained": session.run(variable)}


PROGRAMS: tuple[Callable[[Rank], Values], ...] = (eager_ops, ops_in_functions, broadcasts_of_variables, sessions)


def all_programs() -> None:
    """Runs all programs. The names of results begin with the program's name."""
    rank = begin()
    values = {program.__name__: program(rank) for program in PROGRAMS}
    result(**{f"{program}.{name}": value for program, found in values.items() for name, value in found.items()})
