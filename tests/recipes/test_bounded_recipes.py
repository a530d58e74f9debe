"""Bounded recipes: many sizes with few recipes, and results equal to the CPU's.

With TF_ENABLE_DYNAMIC_SHAPES=1, each mode uses them; test_bounded_policy.py tests the default mode.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow.explanation.collect import Collector
from tests.recipes import bounded_programs
from tests.support.compare import CPU, HPU, assert_close
from tests.support.processes import call_to, run_python

FEATURES = 16
SIZES = [1 + (37 * i) % 200 for i in range(200)]  # each size from 1 to 200 once
# Buckets up to 4, 6, 8, ... 192, 256, and the first size, which compiles before a size is known to change.
MOST_RECIPES = 13 + 1


@pytest.fixture(autouse=True)
def dynamic_shapes(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_ENABLE_DYNAMIC_SHAPES", "1")
    statistics.reset()


def random(*shape: int, seed: int = 1) -> tf.Tensor:
    return tf.random.stateless_normal(shape, [seed, shape[0]])


def assert_same(function: Callable[..., Any], make: Callable[[int], tuple[Any, ...]], sizes: Iterable[int]) -> int:
    """Compares `function` on both devices for the arguments of each size. Returns the number of recipes on the HPU."""
    kinds = [tf.TensorSpec([None, *a.shape[1:]] if a.shape.rank else [], a.dtype) for a in make(3)]
    graph = tf.function(function, input_signature=kinds)
    for size in sizes:
        with tf.device(CPU):
            arguments = make(size)
            expected = graph(*arguments)
        with tf.device(HPU):
            actual = graph(*[tf.identity(argument) for argument in arguments])
        assert_close(actual, expected, context=f"{size} rows,")
    return recipes()


def recipes() -> int:
    return sum(cluster.recipes for cluster in statistics.get().clusters)


def fallbacks() -> int:
    return statistics.get().fallbacks


weights = np.random.RandomState(1).normal(size=[FEATURES, FEATURES]).astype(np.float32) / 4
kernel = np.random.RandomState(2).normal(size=[3, 3, 2, 4]).astype(np.float32) / 4


def perceptron(x: tf.Tensor) -> Any:
    hidden = tf.nn.relu(x @ weights + 1.0)
    return tf.nn.softmax(hidden @ weights), tf.argmax(hidden, 1, tf.int32)


def images(x: tf.Tensor) -> tf.Tensor:
    features = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME")), 2, 2, "VALID")
    return tf.reshape(features, [tf.shape(x)[0], -1])


def block(tokens: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Attention block. Token ids and lengths are int32, so they are in host memory."""
    x = tf.gather(weights, tokens)
    mask = tf.sequence_mask(lengths, 6, tf.float32)
    scores = tf.einsum("bqd,bkd->bqk", x, x) + (1.0 - mask[:, None, :]) * -1e9
    x += tf.einsum("bqk,bkd->bqd", tf.nn.softmax(scores), tf.tensordot(x, weights, 1))
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-3)


def train(x: tf.Tensor, variable: tf.Variable) -> tf.Tensor:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ variable) ** 2)
    variable.assign_sub(0.01 * tape.gradient(loss, variable))
    return loss


def test_perceptron_over_200_batch_sizes() -> None:
    assert assert_same(perceptron, lambda n: (random(n, FEATURES),), SIZES) <= MOST_RECIPES
    assert statistics.get().cluster("perceptron").launches == len(SIZES)
    assert fallbacks() == 0


def test_images_over_200_batch_sizes() -> None:
    assert assert_same(images, lambda n: (random(n, 8, 8, 2),), SIZES) <= MOST_RECIPES
    assert fallbacks() == 0


def test_attention_over_200_batch_sizes() -> None:
    def make(n: int) -> tuple[Any, ...]:
        tokens = tf.random.stateless_uniform([n, 6], [1, n], 0, FEATURES, tf.int32)
        return tokens, tf.random.stateless_uniform([n], [2, n], 1, 7, tf.int32)

    assert assert_same(block, make, SIZES) <= MOST_RECIPES
    assert fallbacks() == 0


def test_train_step_over_200_batch_sizes() -> None:
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            variable = tf.Variable(weights)
            step = tf.function(train, reduce_retracing=True)
            losses = [step(random(size, FEATURES), variable) for size in SIZES]
            results.append((losses, variable.read_value()))
    assert_close(results[1], results[0])
    assert recipes() <= MOST_RECIPES + 1  # the first call has a trace of its own
    assert fallbacks() == 0


def test_changing_constants_follow_symbols() -> None:
    first = tf.function(lambda x, n: tf.nn.relu(x)[:n] * 2.0, reduce_retracing=True)
    value = random(64, FEATURES)
    for n in range(2, 32):
        with tf.device(HPU):
            assert_close(first(tf.identity(value), tf.constant(n)), tf.nn.relu(value)[:n] * 2.0)
    assert recipes() <= 1 + 7  # the first number; 4, 6, 8, 12, 16, 24, 32
    assert fallbacks() == 0


@pytest.mark.cpu_fallback
def test_without_the_setting_changing_constants_end_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TF_ENABLE_DYNAMIC_SHAPES", "0")
    first = tf.function(lambda x, n: tf.nn.relu(x)[:n] * 2.0, reduce_retracing=True)
    value = random(64, FEATURES)
    for n in range(1, 31):
        with tf.device(HPU):
            assert_close(first(tf.identity(value), tf.constant(n)), tf.nn.relu(value)[:n] * 2.0)
    assert "the value of argument" in capfd.readouterr().err
    assert recipes() == 30


def normalise(x: tf.Tensor) -> Any:
    image = tf.reshape(x, [-1, 4, 4, 1])
    return tf.compat.v1.nn.fused_batch_norm(image, tf.ones([1]), tf.zeros([1]), is_training=True)[0]


MIX_ROWS: dict[str, Callable[[tf.Tensor], Any]] = {
    "mean loss": lambda x: tf.reduce_mean(x * x),
    "batch norm in training": normalise,
    "softmax over the batch": lambda x: tf.nn.softmax(x, 0),
    "cumulative sum over the batch": lambda x: tf.cumsum(x, 0),
    "argmax over the batch": lambda x: tf.argmax(x, 0, tf.int32),
    "reverse of the batch": lambda x: tf.reverse(x, [0]) * 2.0,
    "sort over the batch": lambda x: tf.sort(x, 0) * 2.0,
    "number of rows as a result": lambda x: (x * 2.0, tf.shape(x)),
    "number of rows": lambda x: x / tf.cast(tf.shape(x)[0], tf.float32),
    "random numbers": lambda x: x * tf.random.stateless_uniform(tf.shape(x), [1, 2]),
    "pairs of rows": lambda x: tf.nn.softmax(x @ tf.transpose(x)) @ x,
    "last rows": lambda x: (x[-1] * 2.0, x[-3:] * 2.0, x[:-1] - x[1:]),
    "rows in a loop": lambda x: tf.scan(lambda total, row: total * 0.5 + row, x),
}


@pytest.mark.parametrize("name", MIX_ROWS)
def test_rows_that_depend_on_each_other(name: str) -> None:
    count = assert_same(MIX_ROWS[name], lambda n: (random(n, FEATURES),), [5, 9, 10, 11, 12, 13, 15, 16])
    assert count == 3  # the first size, and buckets 12 and 16
    assert fallbacks() == 0


def compare(function: Callable[..., Any], kinds: list[tf.TensorSpec], arguments: Iterable[tuple[Any, ...]]) -> None:
    """Compares `function` on both devices."""
    graph = tf.function(function, input_signature=kinds)
    for values in arguments:
        with tf.device(CPU):
            expected = graph(*values)
        with tf.device(HPU):
            actual = graph(*[tf.identity(value) for value in values])
        assert_close(actual, expected, context=f"{[value.shape for value in values]},")


def test_sizes_of_inner_dimensions() -> None:
    kinds = [tf.TensorSpec([None, None, 4]), tf.TensorSpec([None, None])]
    pairs = [(3, 5), (9, 13), (10, 13), (12, 14), (11, 16), (9, 15)]

    def function(x: tf.Tensor, scale: tf.Tensor) -> Any:
        y = tf.transpose(x * scale[:, :, None], [1, 0, 2])
        return y, tf.reduce_sum(y, 0), tf.reshape(x, [-1, 4]), tf.shape(y)

    compare(function, kinds, [(random(a, b, 4), random(a, b)) for a, b in pairs])
    assert recipes() == 2
    assert fallbacks() == 0


def test_sizes_that_differ_by_a_constant() -> None:
    kinds = [tf.TensorSpec([None, 4]), tf.TensorSpec([None, 4])]
    sizes = [5, 9, 10, 11, 12]
    compare(lambda x, y: tf.concat([x[:1], y], 0) * x, kinds, [(random(n, 4), random(n - 1, 4)) for n in sizes])
    assert recipes() == 2
    assert fallbacks() == 0


def test_sizes_that_stop_to_be_equal() -> None:
    """A recipe for arguments of one size does not serve other sizes: the CPU's error is raised."""
    add = tf.function(lambda x, y: x + y * 2.0, input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None, 4])])
    with tf.device(HPU):
        for size in (5, 9, 10, 11):
            value = random(size, 4)
            assert_close(add(value, value), value * 3.0)
        with pytest.raises(tf.errors.InvalidArgumentError):
            add(random(9, 4), random(10, 4))
        assert_close(add(random(12, 4), random(1, 4)), random(12, 4) + random(1, 4) * 2.0)


def test_indices_past_the_size_and_within_the_bound() -> None:
    look_up = tf.function(
        lambda table, ids: tf.gather(table, ids) * 2.0,
        input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([3], tf.int32)],
    )
    with tf.device(HPU):
        for size in (5, 9, 10, 12):
            table = random(size, 4)
            assert_close(look_up(table, tf.constant([0, 1, size - 1])), tf.gather(table, [0, 1, size - 1]) * 2.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="11 is not in"):
            look_up(random(11, 4), tf.constant([0, 11, 1]))


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (lambda w: w[3] * 2.0, (10, 4, 3)),
        (lambda w: w[-4] * 2.0, (10, 4, 3)),
        (lambda w: w[1:][1] * 2.0, (10, 3, 2)),
        (lambda w: w[: tf.shape(w)[0] // 2][1] * 2.0, (10, 4, 3)),
        (lambda w: tf.exp(w[:-1])[1], (10, 3, 2)),
        (lambda w: tf.slice(w, [3], [1]) * 2.0, (10, 4, 3)),
        (lambda w: tf.math.top_k(w, 3).values * 2.0, (10, 4, 3, 2)),
        (lambda w: tf.argmax(w[2:]) * 2, (10, 3, 2)),
        (lambda w: tf.split(w, [3, -1])[1] * 2.0, (10, 4, 3, 2)),
    ],
    ids=["x[3]", "x[-4]", "x[1:][1]", "half", "x[:-1][1]", "slice", "top_k", "argmax", "split"],
)
def test_sizes_that_the_cpu_refuses(
    function: Callable[[tf.Tensor], tf.Tensor], sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last size is in the range of the others, and too small for an index."""
    monkeypatch.setenv("HPU_FILL_MEMORY", "255")
    assert_same(function, lambda n: (random(n),), sizes[:-1])
    graph = tf.function(function, input_signature=[tf.TensorSpec([None])])
    for device in (CPU, HPU):
        for size in (sizes[0], sizes[-2]):
            with tf.device(device):
                graph(random(size))
        with tf.device(device), pytest.raises(tf.errors.InvalidArgumentError):
            graph(random(sizes[-1]))


def test_reversals_of_changing_size() -> None:
    def reverse(x: tf.Tensor) -> Any:
        return tf.reverse(x, [0]), tf.reverse(x, [1, 0]) * 2.0, tf.reduce_sum(x, 0) * 0.3

    assert assert_same(reverse, lambda n: (random(n, 4),), [10, 4, 3, 2, 7, 8]) == 3


def test_quotients_of_positions_do_not_read_unwritten_memory() -> None:
    def position(x: tf.Tensor) -> tf.Tensor:
        return tf.argmin(tf.concat([x, x * 0.5], 0), 0) % 6

    assert assert_same(position, lambda n: (random(n, 3),), [10, 4, 3, 2, 7, 8]) == 3


def test_a_result_in_host_memory_that_becomes_empty() -> None:
    rest = tf.function(
        lambda x, ids, k: (x * 2.0, ids[k:]),
        input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)],
    )
    for n, m, k in ((5, 9, 2), (5, 7, 1), (17, 6, 0), (6, 6, 3), (16, 16, 0), (5, 5, 5), (6, 5, 6)):
        with tf.device(HPU):
            x, ids = rest(random(n, m), tf.range(n), tf.constant(k))
        assert x.shape == [n, m]
        np.testing.assert_array_equal(ids, np.arange(k, n))


def test_a_mean_in_a_loop_divides_by_the_size() -> None:
    def gradient(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y - tf.reduce_mean(y, 0)), (0, x))
            loss = tf.reduce_sum(tf.tanh(y))
        return loss, tape.gradient(loss, x)

    assert_same(gradient, lambda n: (random(n, 4),), [14, 3, 4, 2, 11])


def test_sizes_of_0_and_1_have_recipes_of_their_own() -> None:
    assert assert_same(MIX_ROWS["mean loss"], lambda n: (random(n, FEATURES) + 1.0,), [5, 9, 1, 10, 0, 1, 12]) == 4
    assert fallbacks() == 0


@pytest.mark.parametrize("fill", [pytest.param("0", marks=pytest.mark.slow), "255"])
def test_elements_past_a_size_have_no_influence(fill: str) -> None:
    """255 fills new memory with NaN. Each program compares its results with the CPU's."""
    environment = {"HPU_FILL_MEMORY": fill, "TF_ENABLE_DYNAMIC_SHAPES": "1", "HPU_COMPILE_MODE": "strict"}
    run_python(call_to(bounded_programs.main), environment, timeout=600)


RECURRENT_PAIRS = [(16, 10), (17, 12), (24, 9), (1, 12), (18, 1), (18, 13), (12, 16), (1, 9), (12, 9), (9, 16)]
"""Batch and length: sizes of 1, and the smallest and largest sizes of buckets."""


@pytest.mark.parametrize(
    ("masks", "layer"),
    [
        (False, "GRU"),
        pytest.param(False, "LSTM", marks=pytest.mark.slow),
        pytest.param(True, "GRU", marks=pytest.mark.slow),
        (True, "LSTM"),
    ],
)
def test_training_of_recurrent_layers(layer: str, masks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_COMPILE_MODE", "strict")
    layers = tf.keras.layers

    def make() -> tf.keras.Model:
        inputs = tf.keras.Input([None, bounded_programs.FEATURES])
        hidden = layers.Masking()(layers.ReLU()(inputs - 0.5)) if masks else inputs
        return tf.keras.Model(inputs, layers.Dense(4)(getattr(layers, layer)(6)(hidden)))

    bounded_programs.compare_training(make, RECURRENT_PAIRS)
    assert recipes() == 8  # (16, 10); the buckets (24, 12), (24, 16), (12, 16), (12, 12); (1, 12), (18, 1), (1, 9)
    assert fallbacks() == 0


@pytest.mark.cpu_fallback
def test_elements_of_different_sizes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list in a recipe has one size for all elements. The elements of this list become shorter."""
    monkeypatch.setenv("HPU_COMPILE_MODE", "strict")

    def function(x: tf.Tensor) -> tf.Tensor:
        length, total = tf.shape(x)[0], 0.0
        rows = tf.TensorArray(tf.float32, length, infer_shape=False, element_shape=[None], clear_after_read=False)
        for t in tf.range(length):
            rows = rows.write(t, x[t:, 0])
        for t in tf.range(length):
            total += tf.reduce_mean(rows.read(t))
        return total

    assert_same(function, lambda n: (random(n, FEATURES),), [5, 9, 10, 11, 12])
    assert recipes() == 0


def test_shapes_that_must_be_equal() -> None:
    """The bound of a size is no size: 24 rows are required, and 24 is the bound of 17 to 24 rows."""
    ensure = tf.function(
        lambda x: tf.ensure_shape(x * 2.0, [24, FEATURES]) + 1.0, input_signature=[tf.TensorSpec([None, FEATURES])]
    )
    with tf.device(HPU):
        for size in [20, 24, 18, 17, 24]:
            value = random(size, FEATURES)
            if size == 24:
                assert_close(ensure(value), value * 2.0 + 1.0)
                continue
            with pytest.raises(tf.errors.InvalidArgumentError):
                ensure(value)


def test_fixed_size_that_equals_the_batch() -> None:
    # Includes sizes equal to the number of features.
    sizes = [FEATURES - 3, FEATURES + 1, FEATURES - 1, FEATURES, FEATURES + 9]
    assert assert_same(perceptron, lambda n: (random(n, FEATURES),), sizes) <= len(sizes)


def test_targets_among_the_largest() -> None:
    def make(n: int) -> tuple[Any, ...]:
        return random(n, 300), tf.random.stateless_uniform([n], [3, n], 0, 300, tf.int32)

    # The first size; the buckets 6, 12, 16 and 96.
    assert assert_same(lambda x, ids: tf.math.in_top_k(ids, x, 60), make, [5, 6, 9, 10, 11, 12, 13, 15, 90]) <= 5


def test_results_of_the_same_size_as_rows() -> None:
    def function(x: tf.Tensor) -> Any:
        return x * 2.0, tf.constant(weights) * 3.0, tf.reduce_sum(x, 1)

    # 11 rows run in bucket 12, and 13 to 16 rows in bucket 16, which is also a size of the second result.
    assert_same(function, lambda n: (random(n, FEATURES),), [3, 5, 11, 13, 15, 16])
    assert fallbacks() == 0


def test_two_arguments_of_which_one_has_rows() -> None:
    def make(n: int) -> tuple[Any, ...]:
        return random(n, FEATURES), random(FEATURES, FEATURES)

    assert_same(lambda x, w: tf.nn.tanh(x @ w), make, [5, 6, 9, 10, 11, 12, 17])
    assert recipes() == 4  # 5; bucket 6; bucket 12 for 9 to 12; bucket 24


def test_no_rows() -> None:
    assert_same(perceptron, lambda n: (random(n, FEATURES),), [3, 5, 7, 0, 9, 0])
    assert fallbacks() == 0


def test_padding_raises_nothing_new() -> None:
    """Elements past a size are neither checked numbers nor indices."""

    def function(x: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
        return tf.debugging.check_numerics(1.0 / x + tf.gather(weights, ids), "padded")

    def make(n: int) -> tuple[Any, ...]:
        return 1.0 + tf.abs(random(n, FEATURES)), tf.range(n) % 3 + FEATURES - 3

    assert_same(function, make, [3, 5, 7, 9, 10, 11])


def test_variable_that_no_row_changes() -> None:
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            calls, table = tf.Variable(0.0), tf.Variable(weights)

            step = tf.function(lambda x, calls, table: x @ table + calls.assign_add(1.0), reduce_retracing=True)
            sizes = [3, 5, 7, 9, 10, 11]
            results.append(([step(random(n, FEATURES), calls, table) for n in sizes], calls.read_value()))
    assert_close(results[1], results[0])
    assert recipes() == 4  # 3; buckets 6, 8 and 12
    assert fallbacks() == 0


def test_results_go_on_as_arguments_and_into_variables() -> None:
    graph = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None, FEATURES])])
    kept = []
    with tf.device(HPU):
        for size in [3, 5, 7, 9, 10, 11]:
            value = random(size, FEATURES)
            kept.append((graph(graph(value)), tf.Variable(graph(value)), value))
    for twice, variable, value in kept:
        assert_close(twice, value * 4.0)
        variable.assign_add(value)
        assert_close(variable.read_value(), value * 3.0)


def test_keras_predict_and_evaluate_with_a_partial_batch() -> None:
    with tf.device(HPU):
        layers = [tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(3, "softmax")]
        model = tf.keras.Sequential([tf.keras.Input([FEATURES]), *layers])
        data = random(150, FEATURES)
        for size in (32, 28, 36, 40):
            whole = model.predict(data, batch_size=size, verbose=0)
            np.testing.assert_allclose(whole, model(data).numpy(), rtol=1e-5, atol=1e-6)
    assert fallbacks() == 0


def test_threads_share_the_recipes() -> None:
    graph = tf.function(lambda x: tf.nn.softmax(x @ weights), input_signature=[tf.TensorSpec([None, FEATURES])])

    def run(seed: int) -> None:
        for size in np.random.RandomState(seed).randint(1, 90, size=40):
            value = random(size, FEATURES, seed=seed)
            with tf.device(HPU):
                assert_close(graph(value), tf.nn.softmax(value @ weights), context=f"{size} rows,")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))
    # Each thread may have compiled sizes before the batch dimension was known.
    assert recipes() <= 14 + 2 * 4
    assert fallbacks() == 0


def test_off_each_size_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_ENABLE_DYNAMIC_SHAPES", "0")
    sizes = [3, 5, 7, 9, 10, 11]
    assert assert_same(perceptron, lambda n: (random(n, FEATURES),), sizes) == len(sizes)


def test_function_that_must_be_compiled() -> None:
    graph = tf.function(perceptron, jit_compile=True, input_signature=[tf.TensorSpec([None, FEATURES])])
    plain = tf.function(perceptron, input_signature=[tf.TensorSpec([None, FEATURES])])
    for size in [3, 5, 7, 9, 10, 11, 12]:
        value = random(size, FEATURES)
        with tf.device(HPU):
            actual = graph(value)
        with tf.device(CPU):
            assert_close(actual, plain(value))
    assert recipes() == 4


def test_explanation_of_a_refusal() -> None:
    graph = tf.function(tf.linalg.inv, input_signature=[tf.TensorSpec([None, None])])
    collector = Collector()
    collector.start()
    with tf.device(HPU):
        for size in [5, 9, 10, 11]:
            graph(random(size, size) + 9.0 * tf.eye(size))
    told = collector.stop()
    (cluster,) = [cluster for graph in told.graphs for cluster in graph.clusters if cluster.recipes]
    assert cluster.rule == "dynamic-shapes" and cluster.launches == 4 and cluster.fallbacks == 0
    assert cluster.reason and "one recipe cannot serve several sizes: " in cluster.reason
    assert "MatrixInverse" in cluster.reason
    (total,) = [total for total in told.rules() if total.rule.value == "dynamic-shapes"]
    assert total.examples[0][2] == cluster.reason and "docs/tuning/dynamic_shapes.md" in total.rule.remedy


@pytest.mark.parametrize("mode", ["lazy", "async"])
def test_modes_that_begin_on_the_cpu(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_COMPILE_MODE", mode)
    sizes = [*SIZES[:40], *SIZES[:40], *SIZES[:40]]
    assert_same(perceptron, lambda n: (random(n, FEATURES),), sizes)
    while mode == "async" and statistics.get().launches == 0:  # waits for the first recipe
        assert_same(perceptron, lambda n: (random(n, FEATURES),), sizes)
    counts = statistics.get()
    assert counts.launches > 0 and 0 < recipes() <= MOST_RECIPES
    reasons = {reason for cluster in counts.clusters for reason in cluster.fallback_reasons}
    assert reasons == {"lazy" if mode == "lazy" else "compiling"}
