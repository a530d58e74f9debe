"""HPU_COMPILE_MODE: what runs on the CPU and why, and that results stay the same across the switch to the HPU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.processes import run_with_tensorflow

PREAMBLE = """
    import json, os, threading, time
    import numpy as np
    import habana_frameworks.tensorflow as htf
    htf.load_habana_module()
    import tensorflow as tf
    from habana_frameworks.tensorflow import statistics
    from habana_frameworks.tensorflow._internal.native import plugin_library

    def counts(name="step"):
        found = [cluster for cluster in statistics.clusters() if name in cluster.name]
        return {"launches": sum(c.launches for c in found), "recipes": sum(c.recipes for c in found),
                "reasons": {key: n for c in found for key, n in c.fallback_reasons.items()}}

    def wait_for_recipes(n=1, name="step"):
        end = time.monotonic() + 60
        while counts(name)["recipes"] < n:
            assert time.monotonic() < end, counts(name)
            time.sleep(0.005)
"""

# Trains by Adam; what it gives holds the losses, and all variables with the optimizer's.
TRAINING = """
    def train(device, steps, after_step=lambda i: None):
        with tf.device(device):
            tf.keras.utils.set_random_seed(5)
            model = tf.keras.Sequential([tf.keras.layers.Dense(16, "tanh", input_shape=(8,)), tf.keras.layers.Dense(3)])
            optimizer = tf.keras.optimizers.Adam(0.01)
            optimizer.build(model.trainable_variables)
            images = tf.random.stateless_normal([32, 8], [1, 2])

            @tf.function
            def step(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(x) - 1.0) ** 2)
                weights = model.trainable_variables
                optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
                return loss

            losses = []
            for i in range(steps):
                losses.append(float(step(images)))
                after_step(i)
        return losses, [v.numpy() for v in model.variables + optimizer.variables]

    def compare(ours, theirs):
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)
        for one, other in zip(ours[1], theirs[1]):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
"""


def run(code: str, mode: str, environment: Mapping[str, str | None] | None = None) -> Any:
    """Runs the code after the preamble; what it gives to `print(json.dumps(…))`, and stderr as "messages"."""
    done = run_with_tensorflow(
        PREAMBLE + TRAINING + code, {"HPU_COMPILE_MODE": mode, "TF_CPP_MIN_LOG_LEVEL": "1", **(environment or {})}
    )
    return {**json.loads(done.stdout.splitlines()[-1]), "messages": done.stderr}


STEPS = """
    ours, theirs = train("/device:HPU:0", 6), train("/device:CPU:0", 6)
    compare(ours, theirs)
    print(json.dumps(counts()))
"""


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("strict", {"launches": 6, "recipes": 1, "reasons": {}}),
        ("lazy", {"launches": 4, "recipes": 1, "reasons": {"lazy": 2}}),
        ("never", {"launches": 0, "recipes": 0, "reasons": {"never": 6}}),
    ],
)
def test_where_a_train_step_runs(mode: str, expected: Mapping[str, Any]) -> None:
    done = run(STEPS, mode)
    assert {name: done[name] for name in expected} == expected


def test_the_threshold_of_lazy() -> None:
    assert run(STEPS, "lazy", {"HPU_LAZY_COMPILE_AFTER": "4"})["reasons"] == {"lazy": 4}


def test_async_switches_with_equal_numbers() -> None:
    done = run(
        """
    # The switch falls into the middle: the CPU's steps before it, the HPU's after.
    ours = train("/device:HPU:0", 50, lambda i: wait_for_recipes() if i == 20 else None)
    compare(ours, train("/device:CPU:0", 50))
    print(json.dumps(counts()))
        """,
        "async",
    )
    (on_cpu,) = done["reasons"].values()
    assert list(done["reasons"]) == ["compiling"] and done["recipes"] == 1
    assert 1 <= on_cpu <= 21 and on_cpu + done["launches"] == 50


def test_async_while_nothing_is_compiled_yet() -> None:
    # The queue's one thread has other work first, so that all steps run on the CPU.
    done = run(
        """
    @tf.function
    def slow(x):
        for i in range(60):
            x = tf.nn.softmax(x * (i + 1.0)) @ x
        return x
    slow(tf.ones([4, 4]))
    ours = train("/device:HPU:0", 2)
    compare(ours, train("/device:CPU:0", 2))
    print(json.dumps(counts()))
        """,
        "async",
    )
    assert done["reasons"] == {"compiling": 2} and done["launches"] == 0


SMALL = """
    with tf.device("/device:HPU:0"):
        total = tf.Variable(tf.zeros([2]))

    @tf.function
    def step(x):
        total.assign_add(tf.sin(x) * 2.0)
        return total * 2.0

    def try_step(x=tf.constant([1.0, 2.0])):
        with tf.device("/device:HPU:0"):
            return step(x).numpy()
"""


def test_a_background_compile_that_fails_is_a_fallback() -> None:
    done = run(
        SMALL
        + """
    try_step()
    end = time.monotonic() + 60
    while "fallback" not in counts()["reasons"] and time.monotonic() < end:
        try_step()
    before = total.numpy()
    np.testing.assert_allclose(try_step(), 2 * (before + 2 * np.sin([1, 2])), rtol=1e-5)
    print(json.dumps(counts()))
        """,
        "async",
        {"HPU_FAULTS": "compile@1+"},
    )
    assert done["launches"] == 0 and done["reasons"]["compiling"] >= 1 and done["reasons"]["fallback"] >= 2
    assert done["messages"].count("Computation on HPU failed: node=habana_cluster_step_0") == 1


def test_a_background_compile_that_fails_is_an_error_where_fallbacks_are_forbidden() -> None:
    # Running on the CPU by choice is no failure, and so is allowed.
    done = run(
        SMALL
        + """
    try_step()
    error, end = None, time.monotonic() + 60
    while error is None and time.monotonic() < end:
        try:
            try_step()
        except tf.errors.OpError as raised:
            error = raised
    print(json.dumps({**counts(), "error": str(error)}))
        """,
        "async",
        {"HPU_FAULTS": "compile@1+", "TF_CPU_RUNTIME_FALLBACK": "forbid"},
    )
    assert "TF_CPU_RUNTIME_FALLBACK=forbid" in done["error"] and done["reasons"].keys() == {"compiling"}


@pytest.mark.parametrize("mode", ["lazy", "async", "never"])
def test_jit_compile_compiles_at_once(mode: str) -> None:
    done = run(
        """
    @tf.function(jit_compile=True)
    def step(x):
        return tf.sin(x) * 2.0
    with tf.device("/device:HPU:0"):
        step(tf.ones([3]))
    print(json.dumps(counts()))
        """,
        mode,
        {"TF_CPU_RUNTIME_FALLBACK": "forbid"},
    )
    assert (done["launches"], done["recipes"], done["reasons"]) == (1, 1, {})


MANY_SHAPES = """
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([None, 3], tf.float32)])
    def step(scale, x):
        return tf.reduce_sum(tf.sin(x) * scale, 0)

    def run_sizes(sizes):
        for n in sizes:
            with tf.device("/device:HPU:0"):
                result = step(tf.constant(2.0), tf.ones([n, 3]))
            np.testing.assert_allclose(result.numpy(), [2 * n * np.sin(1.0)] * 3, rtol=1e-4)
"""


@pytest.mark.parametrize("mode", ["lazy", "async"])
def test_a_megamorphic_cluster_stays_on_the_cpu(mode: str) -> None:
    done = run(
        MANY_SHAPES
        + """
    run_sizes(range(1, 12))
    if os.environ["HPU_COMPILE_MODE"] == "async":
        wait_for_recipes(11)
    before = counts()
    run_sizes(range(12, 30))
    print(json.dumps({"before": before, "after": counts()}))
        """,
        mode,
        {"HPU_LAZY_COMPILE_AFTER": "0"},
    )
    assert done["before"]["recipes"] == done["after"]["recipes"] == 11
    assert done["after"]["reasons"]["megamorphic"] == 18
    (warning,) = [line for line in done["messages"].splitlines() if "most frequent change" in line]
    assert "11 recipes for 11 executions" in warning
    assert "dimension 0 of argument 0, x (10, 11, 12)" in warning


def test_a_cluster_that_runs_on_earns_its_next_recipe() -> None:
    done = run(
        MANY_SHAPES
        + """
    run_sizes(range(1, 13))
    run_sizes([1] * (50 * 11))
    run_sizes([12])
    print(json.dumps(counts()))
        """,
        "lazy",
        {"HPU_LAZY_COMPILE_AFTER": "0"},
    )
    assert done["recipes"] == 12 and done["reasons"] == {"megamorphic": 1}


@pytest.mark.parametrize("mode", ["lazy", "async"])
def test_a_cluster_that_takes_long_to_compile_is_not_compiled_for_other_shapes(mode: str) -> None:
    done = run(
        MANY_SHAPES
        + """
    run_sizes([4])
    wait_for_recipes()
    run_sizes([4, 5, 5, 5, 4])
    print(json.dumps(counts()))
        """,
        mode,
        {"HPU_LAZY_COMPILE_AFTER": "0", "HPU_COMPILE_LIMIT_S": "0"},
    )
    assert done["recipes"] == 1 and done["reasons"]["compile-limit"] == 3


def test_strict_follows_no_such_rule_but_warns() -> None:
    done = run(
        MANY_SHAPES + "    run_sizes(range(1, 20)); print(json.dumps(counts()))", "strict", {"HPU_COMPILE_LIMIT_S": "0"}
    )
    assert (done["recipes"], done["reasons"]) == (19, {}) and done["messages"].count("most frequent change") == 1


@pytest.mark.parametrize("mode", ["lazy", "async", "never"])
def test_a_function_that_the_cpu_cannot_run_is_compiled_at_once(mode: str) -> None:
    # XLA alone has this op.
    done = run(
        """
    @tf.function
    def step(x):
        return tf.raw_ops.SegmentSumV2(data=x * 1.5, segment_ids=[0, 0, 1], num_segments=2)
    with tf.device("/device:HPU:0"):
        result = step(tf.constant([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(result.numpy(), [6.0, 3.0])
    print(json.dumps(counts()))
        """,
        mode,
    )
    assert (done["launches"], done["reasons"]) == (1, {})


def test_eager_ops_are_not_compiled_in_mode_never() -> None:
    done = run(
        """
    with tf.device("/device:HPU:0"):
        for _ in range(5):
            tf.sin(tf.ones([3]))
    print(json.dumps({"recipes": statistics.get().eager.recipes, "runs": statistics.get().eager.host_runs}))
        """,
        "never",
    )
    assert done["recipes"] == 0 and done["runs"] >= 5


# A function that takes about a second or more to compile.
SLOW = """
    def make_slow():
        @tf.function
        def slow(x):
            for i in range(150):
                x = tf.nn.softmax(tf.tanh(x * (i + 1.0)) @ x)
            return x
        return slow
    def start(slow, size=8):
        with tf.device("/device:HPU:0"):
            return slow(tf.ones([size, size]))
"""


def test_a_kernel_that_goes_while_its_cluster_is_compiled_or_queued() -> None:
    done = run(
        SLOW
        + SMALL
        + """
    import gc
    begin = time.monotonic()
    for _ in range(4):
        slow = make_slow()
        start(slow)
        del slow
        gc.collect()
    tf.keras.backend.clear_session()
    gc.collect()
    try_step()
    wait_for_recipes()
    try_step()
    print(json.dumps({**counts(), "slow": counts("slow")}))
        """,
        "async",
    )
    assert done["launches"] == 1
    assert done["slow"]["recipes"] <= 4


@pytest.mark.parametrize("ending", ["pass", "raise SystemExit(0)", "os._exit(0)"])
def test_a_program_that_ends_while_compiling(ending: str) -> None:
    run(
        SLOW
        + f"""
    for _ in range(3):
        start(make_slow())
    print(json.dumps(counts("slow")), flush=True)
    {ending}
        """,
        "async",
    )


def test_a_child_forked_while_compiling() -> None:
    done = run(
        SLOW
        + """
    slow = make_slow()
    start(slow)
    child = os.fork()
    if child == 0:
        # The device is lost here; what the parent compiles is not waited for.
        try:
            start(slow, 4)
        except tf.errors.AbortedError:
            del slow
            plugin_library.finish_compiling()
            os._exit(7)
        os._exit(1)
    end = time.monotonic() + 60
    status = 0
    while not status and time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    wait_for_recipes(name="slow")
    start(slow)
    print(json.dumps({**counts("slow"), "child": os.waitstatus_to_exitcode(status)}))
        """,
        "async",
    )
    assert done["child"] == 7 and done["launches"] >= 1
