"""Updates of variables by rows of a number that the step computes: each is the CPU's, and steps stay one launch."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")
raw_ops = tf.raw_ops

ROWS, WIDTH, IDS = 9, 3, 7
# Gets the handles of a variable and its slots, gradients of shape [n, WIDTH], and n different row numbers.
Update = Callable[[list[tf.Tensor], tf.Tensor, tf.Tensor], object]


def scatter(op: str) -> Update:
    return lambda handles, updates, rows: getattr(raw_ops, op)(resource=handles[0], indices=rows, updates=updates)


def scatter_nd(op: str) -> Update:
    return lambda handles, updates, rows: getattr(raw_ops, op)(ref=handles[0], indices=rows[:, None], updates=updates)


def sparse_apply(name: str, slots: list[str], **hyper: float) -> Update:
    op = getattr(raw_ops, f"ResourceSparseApply{name}")
    numbers = {key: tf.constant(value) for key, value in hyper.items()}
    return lambda handles, grad, rows: op(
        **dict(zip(["var", *slots], handles)), **numbers, grad=grad, indices=rows, use_locking=False
    )


# By name: the number of slots, and what makes the update.
UPDATES: dict[str, tuple[int, Callable[[], Update]]] = {
    **{
        f"scatter_{op}": (0, functools.partial(scatter, f"ResourceScatter{op.title()}"))
        for op in ("add", "sub", "mul", "div", "max", "min", "update")
    },
    **{
        f"scatter_nd_{op}": (0, functools.partial(scatter_nd, f"ResourceScatterNd{op.title()}"))
        for op in ("add", "sub", "update")
    },
    "momentum": (1, lambda: sparse_apply("Momentum", ["accum"], lr=0.1, momentum=0.9)),
    "keras_momentum": (1, lambda: sparse_apply("KerasMomentum", ["accum"], lr=0.1, momentum=0.9)),
    "adagrad": (1, lambda: sparse_apply("Adagrad", ["accum"], lr=0.1)),
    "adagrad_v2": (1, lambda: sparse_apply("AdagradV2", ["accum"], lr=0.1, epsilon=1e-3)),
    "rms_prop": (2, lambda: sparse_apply("RMSProp", ["ms", "mom"], lr=0.1, rho=0.9, momentum=0.5, epsilon=1e-3)),
    "centered_rms_prop": (
        3,
        lambda: sparse_apply("CenteredRMSProp", ["mg", "ms", "mom"], lr=0.1, rho=0.9, momentum=0.5, epsilon=5.0),
    ),
    "adadelta": (2, lambda: sparse_apply("Adadelta", ["accum", "accum_update"], lr=0.1, rho=0.9, epsilon=1e-3)),
    "proximal": (0, lambda: sparse_apply("ProximalGradientDescent", [], alpha=0.1, l1=0.01, l2=0.01)),
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_of_a_computed_number_of_rows(name: str) -> None:
    slots, make = UPDATES[name]

    def train(jit_compile: bool | None) -> list[tf.Tensor]:
        generator, update = np.random.default_rng(0), make()
        start = generator.standard_normal((slots + 1, ROWS, WIDTH), dtype=np.float32)
        variables = [tf.Variable(start[0]), *(tf.Variable(np.abs(slot) + 0.5) for slot in start[1:])]

        @tf.function(jit_compile=jit_compile, input_signature=[tf.TensorSpec([IDS], tf.int32)])
        def step(ids: tf.Tensor) -> None:
            rows, position = tf.unique(ids)
            each = tf.tile(tf.range(1.0, IDS + 1.0)[:, None] * 0.3 + 1.0, [1, WIDTH])
            sums = tf.math.unsorted_segment_sum(each, position, tf.shape(rows)[0])
            update([variable.handle for variable in variables], sums, rows)

        for _ in range(6):
            step(tf.constant(generator.integers(0, ROWS, IDS), tf.int32))
        return [variable.read_value() for variable in variables]

    with tf.device(CPU):
        expected = train(None)
    with tf.device(HPU):
        assert_close(train(True), expected)


def assert_one_recipe(losses: Callable[[], list[float]], name: str) -> None:
    """Checks that the losses of both devices agree, and that each step is one launch of the same recipe."""
    statistics.reset()
    with tf.device(CPU):
        expected = losses()
    with tf.device(HPU):
        np.testing.assert_allclose(losses(), expected, rtol=1e-5)
    cluster = statistics.get().cluster(name)
    assert (cluster.recipes, cluster.launches, cluster.fallbacks) == (1, len(expected), 0)


OPTIMIZERS = ["SGD", "Adam", "Adagrad", "RMSprop", "Adadelta", "Adamax", "Nadam"]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_embedding_of_changing_words_is_one_launch(optimizer: str) -> None:
    """The optimizer adds the gradients of equal words. The number of different words changes in each step."""

    def losses() -> list[float]:
        tf.keras.utils.set_random_seed(1)
        table, dense = tf.Variable(tf.random.normal([50, 4])), tf.Variable(tf.random.normal([4, 3]))
        made = getattr(tf.keras.optimizers, optimizer)(0.05)
        made.build([table, dense])

        @tf.function(input_signature=[tf.TensorSpec([8, 5], tf.int32), tf.TensorSpec([8], tf.int32)])
        def words_step(words: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                logits = tf.reduce_mean(tf.gather(table, words), axis=1) @ dense
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
            made.apply_gradients(zip(tape.gradient(loss, [table, dense]), [table, dense]))
            return loss

        generator = np.random.default_rng(0)
        found = []
        for _ in range(8):
            words, labels = generator.integers(0, 50, (8, 5)), generator.integers(0, 3, 8)
            found.append(float(words_step(tf.constant(words, tf.int32), tf.constant(labels, tf.int32))))
        return found

    assert_one_recipe(losses, "words_step")


def test_a_table_whose_rows_the_step_chooses_is_one_launch() -> None:
    """The cluster checks the rows that it computes, and guards the update of a computed number of rows."""

    def losses() -> list[float]:
        generator = np.random.default_rng(0)
        table = tf.Variable(generator.standard_normal((20, 4), dtype=np.float32))
        optimizer = tf.keras.optimizers.Adam(0.05)
        optimizer.build([table])

        @tf.function(input_signature=[tf.TensorSpec([16, 4])])
        def codes_step(x: tf.Tensor) -> tf.Tensor:
            distances = tf.reduce_sum((x[:, None] - table[None]) ** 2, axis=-1)
            codes = tf.argmin(distances, axis=-1)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.gather(table, codes) - x) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])
            return loss

        return [float(codes_step(tf.constant(generator.standard_normal((16, 4)), tf.float32))) for _ in range(6)]

    assert_one_recipe(losses, "codes_step")
