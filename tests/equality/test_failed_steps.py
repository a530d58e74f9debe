"""Variables after a step that raises an error: each keeps the value that it has on the CPU.

The steps compute invalid indices, divisors, matrices or ranges themselves, so the error is known only after the cluster
has run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_launched
from tests.support.compare import CPU, HPU
from tests.support.keras_package import IS_KERAS_2, variable_of

Step = Callable[[tf.Tensor], object]
Errors = (tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError)

ROWS, COLUMNS = 6, 4
VALID, INVALID = 2.0, 9.0

# Each returns 1.0, computed from `number`, and fails if `number` is 9.
FAILURES: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "gather": lambda number: tf.reduce_mean(tf.gather(tf.ones([4, 3]), [number])),
    "gather of dynamic shape": lambda number: tf.gather(tf.ones([tf.size(tf.where([True, False])) * 4]), number),
    "gather_nd": lambda number: tf.reduce_mean(tf.gather_nd(tf.ones([9, 4, 3]), [[0, number], [1, number]])),
    "scatter": lambda number: tf.reduce_mean(tf.tensor_scatter_nd_update(tf.ones([4]), [[number]], [1.0])),
    "segments": lambda number: tf.reduce_sum(tf.math.unsorted_segment_sum([1.0], [number], 4)),
    "permutation": lambda number: tf.reduce_mean(
        tf.cast(tf.math.invert_permutation([1 - number // 9, 0, 2]), tf.float32)
    ),
    "lengths": lambda number: tf.reduce_mean(tf.reverse_sequence(tf.ones([1, 4]), [number], seq_axis=1)),
    "boxes": lambda number: tf.reduce_mean(
        tf.image.crop_and_resize(tf.ones([3, 4, 4, 1]), [[0.0, 0.0, 1.0, 1.0]], [number], [2, 2])
    ),
    "labels": lambda number: tf.nn.sparse_softmax_cross_entropy_with_logits([number], tf.ones([1, 3]))[0] / np.log(3.0),
    "divide": lambda number: tf.cast(7 // (9 - number), tf.float32),
    "inverse": lambda number: tf.linalg.inv([[tf.cast(9 - number, tf.float32), 0.0], [0.0, 1.0]])[1, 1],
    "solve": lambda number: tf.linalg.solve([[tf.cast(9 - number, tf.float32), 0.0], [0.0, 1.0]], [[1.0], [1.0]])[1, 0],
    "power": lambda number: tf.cast(tf.pow(1, 8 - number), tf.float32),
    "counts": lambda number: tf.reduce_sum(tf.math.bincount([8 - number], minlength=9, maxlength=9, dtype=tf.float32)),
    "range": lambda number: tf.cast(tf.random.uniform([2], number, 9, tf.int32, seed=1)[0] // 100, tf.float32) + 1.0,
}


def variable(*shape: int) -> tf.Variable:
    return tf.Variable(1.0 + tf.reshape(tf.range(float(np.prod(shape))), shape))


def assign(one: tf.Tensor, table: tf.Variable, _: tf.keras.optimizers.Optimizer | None) -> None:
    table.assign(table * 0.5 + one)


def assign_add(one: tf.Tensor, table: tf.Variable, _: tf.keras.optimizers.Optimizer | None) -> None:
    table.assign_add(tf.fill([ROWS, COLUMNS], one))
    table.assign_sub(table * 0.25)


def scatter_add(one: tf.Tensor, table: tf.Variable, _: tf.keras.optimizers.Optimizer | None) -> None:
    table.scatter_add(tf.IndexedSlices(tf.fill([2, COLUMNS], one), tf.constant([1, 4])))


def scatter_between(one: tf.Tensor, table: tf.Variable, _: tf.keras.optimizers.Optimizer | None) -> None:
    table.assign(table * one * 2.0)
    table.scatter_update(tf.IndexedSlices(tf.fill([2, COLUMNS], one), tf.constant([1, 4])))
    table.assign_add(table * one)


def scatter_nd(one: tf.Tensor, table: tf.Variable, _: tf.keras.optimizers.Optimizer | None) -> None:
    table.scatter_nd_sub([[1, 2], [0, 0]], tf.fill([2], one))


def slice_assign(one: tf.Tensor, table: tf.Variable, _: tf.keras.optimizers.Optimizer | None) -> None:
    table[1:3].assign(tf.fill([2, COLUMNS], one))


def in_a_loop(one: tf.Tensor, table: tf.Variable, _: tf.keras.optimizers.Optimizer | None) -> None:
    for _ in tf.range(3):
        table.assign_add(tf.fill([ROWS, COLUMNS], one))


def in_a_branch(one: tf.Tensor, table: tf.Variable, _: tf.keras.optimizers.Optimizer | None) -> None:
    if one > 0.5:
        table.assign_add(tf.fill([ROWS, COLUMNS], one))
    else:
        table.assign(table * 0.0)


def dense(one: tf.Tensor, table: tf.Variable, optimizer: tf.keras.optimizers.Optimizer | None) -> None:
    assert optimizer is not None
    optimizer.apply_gradients([(tf.fill([ROWS, COLUMNS], one), table)])


def sparse(one: tf.Tensor, table: tf.Variable, optimizer: tf.keras.optimizers.Optimizer | None) -> None:
    assert optimizer is not None
    slices = tf.IndexedSlices(tf.fill([3, COLUMNS], one), tf.constant([1, 4, 1]), tf.constant([ROWS, COLUMNS]))
    optimizer.apply_gradients([(slices, table)])


Update = Callable[[tf.Tensor, tf.Variable, "tf.keras.optimizers.Optimizer | None"], None]
NewOptimizer = Callable[[], "tf.keras.optimizers.Optimizer"]

UPDATES: dict[str, tuple[Update, NewOptimizer | None]] = {
    "assign": (assign, None),
    "assign_add": (assign_add, None),
    "scatter_add": (scatter_add, None),
    "scatter between dense": (scatter_between, None),
    "scatter_nd": (scatter_nd, None),
    "slice": (slice_assign, None),
    "loop": (in_a_loop, None),
    "branch": (in_a_branch, None),
    "Adam": (dense, lambda: tf.keras.optimizers.Adam(0.1, amsgrad=True)),
    "SGD with momentum": (dense, lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9)),
    "sparse Adam": (sparse, lambda: tf.keras.optimizers.Adam(0.1)),
}
if IS_KERAS_2:
    _legacy = tf.keras.optimizers.legacy
    UPDATES["legacy Adam"] = (dense, lambda: _legacy.Adam(0.1))
    UPDATES["sparse legacy Adam"] = (sparse, lambda: _legacy.Adam(0.1))
    UPDATES["sparse legacy SGD with momentum"] = (sparse, lambda: _legacy.SGD(0.1, momentum=0.9))


class Program:
    """A step on one device, and its variables."""

    def __init__(self, device: str, build: Callable[[list[tf.Variable]], Step]) -> None:
        self.device = device
        self.variables: list[tf.Variable] = []
        with tf.device(device):
            self._step = tf.function(build(self.variables))

    def run(self, x: float) -> None:
        with tf.device(self.device):
            result = self._step(tf.constant([x, 0.0]))
            tf.nest.map_structure(lambda tensor: tensor.numpy(), result)

    def fail(self) -> tf.errors.OpError:
        with pytest.raises(Errors) as raised:
            self.run(INVALID)
        return raised.value

    def values(self) -> list[np.ndarray]:
        return [variable.numpy() for variable in self.variables]


def assert_equal(actual: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def assert_keeps_variables(
    build: Callable[[list[tf.Variable]], Step], compared: int | None = None, some_happen: bool = False
) -> None:
    """Compares the variables with the CPU's after a valid step, an invalid step and a valid step.

    The CPU may run an update that does not depend on the failed op. Only the first `compared` variables have no such
    updates; the HPU keeps the values of the other variables. `some_happen`: the invalid step has updates before the
    failed op.
    """
    cpu, undisturbed, hpu = Program(CPU, build), Program(CPU, build), Program(HPU, build)
    for program in (cpu, undisturbed, hpu):
        program.run(VALID)
    before = hpu.values()
    assert_equal(before, cpu.values())
    for _ in range(2):
        assert type(cpu.fail()) is type(hpu.fail())
        assert_equal(hpu.values()[:compared], cpu.values()[:compared])
    if compared is not None:
        assert_equal(hpu.values()[compared:], before[compared:])
    last = cpu if some_happen else undisturbed
    for program in (last, hpu):
        program.run(VALID)
    assert_equal(hpu.values(), last.values())
    assert_launched()


def failing_step(failure: str, update: str) -> Callable[[list[tf.Variable]], Step]:
    fails, (updates, new_optimizer) = FAILURES[failure], UPDATES[update]

    def build(variables: list[tf.Variable]) -> Step:
        table = variable(ROWS, COLUMNS)
        optimizer = None if new_optimizer is None else new_optimizer()
        variables.append(table)
        if IS_KERAS_2 and isinstance(optimizer, tf.keras.optimizers.legacy.Optimizer):
            optimizer._create_all_weights([table])
        elif optimizer is not None:
            optimizer.build([table])
        if optimizer is not None:
            slots = optimizer.variables() if IS_KERAS_2 else optimizer.variables
            variables.extend(variable_of(slot) for slot in slots if slot.shape == table.shape)

        def step(x: tf.Tensor) -> tf.Tensor:
            one = fails(tf.cast(tf.reduce_sum(x), tf.int32))
            updates(one, table, optimizer)
            return one * 2.0

        return step

    return build


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("update", ["assign", "scatter between dense", "Adam"])
def test_updates_after_each_kind_of_failure(failure: str, update: str) -> None:
    assert_keeps_variables(failing_step(failure, update))


# The decay of Adam's moments does not depend on sparse gradients.
DECAYING = ("sparse Adam", "sparse legacy Adam")


@pytest.mark.parametrize("failure", ["gather", "divide", "inverse"])
@pytest.mark.parametrize("update", UPDATES)
def test_each_kind_of_update_after_a_failure(failure: str, update: str) -> None:
    assert_keeps_variables(failing_step(failure, update), 1 if update in DECAYING else None)


def test_an_update_before_the_failed_op_happens() -> None:
    def build(variables: list[tf.Variable]) -> Step:
        by_value, by_control, both = (variable(3) for _ in range(3))
        variables.extend([by_value, by_control, both])

        def step(x: tf.Tensor) -> tf.Tensor:
            by_value.assign_add(x[:1] * [1.0, 2.0, 3.0])
            both.assign(both * 2.0)
            number = tf.cast(tf.reduce_sum(x) + (by_value[0] + both[0]) * 1e-6, tf.int32)
            with tf.control_dependencies([by_control.assign_sub(tf.ones([3]))]):
                one = tf.reduce_mean(tf.gather(tf.identity(tf.ones([4, 3])), [number]))
            both.assign_add([one, one, one])
            return one * 2.0

        return step

    assert_keeps_variables(build, some_happen=True)


def test_several_failures_and_updates_between_them() -> None:
    """The first failed op raises its error, and the updates after it do not happen."""

    def build(variables: list[tf.Variable]) -> Step:
        first, second, third = (variable(3) for _ in range(3))
        variables.extend([first, second, third])

        def step(x: tf.Tensor) -> tf.Tensor:
            number = tf.cast(tf.reduce_sum(x), tf.int32)
            first.assign_add([1.0, 2.0, 3.0])
            with tf.control_dependencies([first]):
                one = tf.reduce_mean(tf.gather(tf.ones([40, 3]), [number + tf.cast(0.0 * first[0], tf.int32)]))
            second.assign(second + one)
            other = tf.cast(7 // (9 - number - tf.cast(0.0 * second[0], tf.int32)), tf.float32)
            third.assign(third + one + other)
            second.assign(second * 2.0 + other)
            return third + other

        return step

    assert_keeps_variables(build, some_happen=True)


def test_both_of_two_checks_guard_an_update() -> None:
    with tf.device(HPU):
        table = variable(3)

        @tf.function
        def step(x: tf.Tensor) -> None:
            a, b = tf.cast(x[0], tf.int32), tf.cast(x[1], tf.int32)
            one = tf.reduce_mean(tf.gather(tf.ones([4, 3]), [a])) + tf.cast(7 // (9 - b), tf.float32)
            table.assign_add([one, one, one])

        before = table.numpy()
        for values in ([9.0, 1.0], [1.0, 9.0], [9.0, 9.0]):
            with pytest.raises(tf.errors.InvalidArgumentError):
                step(tf.constant(values))
            np.testing.assert_array_equal(table.numpy(), before)
        step(tf.constant([1.0, 2.0]))
        np.testing.assert_array_equal(table.numpy(), before + 2.0)


@pytest.mark.parametrize("lookup", [True, False], ids=["lookup and update", "update"])
def test_rows_of_a_table_at_computed_indices(lookup: bool) -> None:
    """The failed op may be the update itself."""

    def build(variables: list[tf.Variable]) -> Step:
        table, other = variable(ROWS, COLUMNS), variable(3)
        variables.extend([table, other])

        def step(x: tf.Tensor) -> tf.Tensor:
            ids = tf.cast(x[:1], tf.int32)
            rows = tf.gather(table, ids) * 0.5 if lookup else tf.fill([1, COLUMNS], 0.5)
            table.scatter_sub(tf.IndexedSlices(rows, ids))
            other.assign_add(table[0, :3])
            return other * 2.0

        return step

    assert_keeps_variables(build)


@pytest.mark.parametrize("failure", ["gather", "divide", "inverse", "range"])
def test_an_update_in_a_later_cluster_waits_for_the_check(failure: str) -> None:
    def build(variables: list[tf.Variable]) -> Step:
        inside, later, outside, table = variable(3), variable(3), variable(3), variable(ROWS, COLUMNS)
        variables.extend([inside, later, outside, table])

        def step(x: tf.Tensor) -> tf.Tensor:
            one = FAILURES[failure](tf.cast(tf.reduce_sum(x), tf.int32))
            inside.assign_add([one, one, one])
            with tf.device(CPU):
                same = tf.sin(tf.identity(one)) / np.sin(1.0)
            later.assign(later * 0.5 + same)
            table.scatter_add(tf.IndexedSlices(tf.fill([1, COLUMNS], same), tf.constant([2])))
            with tf.device(CPU):
                two = tf.tanh(tf.identity(same * 2.0))
            outside.assign(tf.stack([two, two, two]))
            return later + same

        return step

    assert_keeps_variables(build)


@pytest.mark.parametrize("failure", ["gather", "gather_nd", "labels", "range"])
@pytest.mark.parametrize("computed", [True, False], ids=["computed", "from the host"])
def test_a_lowered_loop_stops_at_the_failed_iteration(failure: str, computed: bool) -> None:
    def build(variables: list[tf.Variable]) -> Step:
        total, count, after = variable(3), variable(), variable(3)
        variables.extend([total, count, after])

        def step(x: tf.Tensor) -> tf.Tensor:
            invalid = tf.cast(tf.reduce_sum(x) - VALID, tf.int32)
            for i in tf.range(4):
                with tf.device(None if computed else CPU):
                    number = 1 + tf.cast(i == 2, tf.int32) * (1 + invalid)
                one = FAILURES[failure](number)
                total.assign_add([one, one, one])
                count.assign_add(one / tf.reduce_sum(total))
            after.assign(after * 2.0 + total)
            return total * 2.0

        return step

    assert_keeps_variables(build, some_happen=True)


@pytest.mark.parametrize("failure", ["gather", "gather_nd", "labels"])
def test_a_failure_in_a_branch(failure: str) -> None:
    def build(variables: list[tf.Variable]) -> Step:
        within, after = variable(3), variable(3)
        variables.extend([within, after])

        def step(x: tf.Tensor) -> tf.Tensor:
            number = tf.cast(tf.reduce_sum(x), tf.int32)
            if x[0] > 0.0:
                one = FAILURES[failure](number)
                within.assign_add([one, one, one])
            else:
                one = tf.reduce_sum(x) * 2.0
            after.assign(after * 0.5 + one)
            return after * 2.0

        return step

    assert_keeps_variables(build)
    # The check does not run in the other branch, and the update after the branch still does.
    program = Program(HPU, build)
    program.run(0.0)
    np.testing.assert_array_equal(program.variables[1].numpy(), [0.5, 1.0, 1.5])


def test_a_variable_without_a_value_gets_one() -> None:
    with tf.device(HPU), tf.init_scope():
        new = tf.Variable(tf.ones([2]), shape=tf.TensorShape(None))

        @tf.function
        def step(x: tf.Tensor) -> tf.Tensor:
            one = tf.reduce_mean(tf.gather(tf.ones([4, 3]), [tf.cast(tf.reduce_sum(x), tf.int32)]))
            new.assign(tf.fill([3], one) * 2.0)
            return one

        step(tf.constant([VALID, 0.0]))
        np.testing.assert_array_equal(new.numpy(), [2.0, 2.0, 2.0])


def test_updates_of_a_cluster_that_the_compiler_splits() -> None:
    """The compiler refuses the size that a loop computes, so the loop runs between two parts of the cluster."""

    def build(variables: list[tf.Variable]) -> Step:
        before, after, table = variable(2), variable(2), variable(ROWS, COLUMNS)
        variables.extend([before, after, table])

        def step(x: tf.Tensor) -> tf.Tensor:
            one = FAILURES["gather"](tf.cast(tf.reduce_sum(x), tf.int32))
            before.assign_add([one, one])
            filled = tf.while_loop(
                lambda i, _: i < 4,
                lambda i, total: (i + 1, total + tf.reduce_sum(tf.fill([i], 1.0))),
                [tf.constant(1), before[0] * 0.5],
            )[1]
            after.assign(after * 0.5 + filled * one)
            table.scatter_add(tf.IndexedSlices(tf.fill([1, COLUMNS], filled), tf.constant([2])))
            return tf.tanh(after) * one

        return step

    assert_keeps_variables(build)


@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
def test_a_keras_model_keeps_its_state(optimizer: str) -> None:
    def trained(device: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The model's weights after a valid and an invalid step, and after another valid step."""
        tf.keras.utils.set_random_seed(0)
        with tf.device(device):
            number = tf.keras.Input([3])
            rows = tf.keras.layers.Embedding(ROWS, COLUMNS)(tf.keras.layers.Lambda(lambda x: x * 2.0)(number))
            features = tf.keras.layers.Dense(5, "tanh")(tf.keras.layers.Flatten()(rows))
            model = tf.keras.Model(number, tf.keras.layers.Dense(1)(features))
            model.compile(optimizer, "mse", metrics=["mae"])
            # Keras 3 always resets the metrics.
            keep = {"reset_metrics": False} if IS_KERAS_2 else {}
            valid, target = np.array([[0.0, 1.0, 2.5], [2.0, 1.0, 0.5]], np.float32), np.ones([2, 1], np.float32)
            model.train_on_batch(valid, target, **keep)
            metrics = [variable for metric in model.metrics for variable in metric.variables if keep]
            state = [*model.variables, *model.optimizer.variables, *metrics]
            before = [variable.numpy() for variable in state]
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0,1\] = 8 is not in \[0, 6\)"):
                model.train_on_batch(valid + np.array([[0.0, 3.0, 0.0]], np.float32), target, **keep)
            if device == HPU:
                assert_equal([variable.numpy() for variable in state], before)
            after = [variable.numpy() for variable in model.trainable_variables]
            model.train_on_batch(valid, target, **keep)
            return after, [variable.numpy() for variable in model.trainable_variables]

    (cpu, _), (hpu, last) = trained(CPU), trained(HPU)
    assert_equal(hpu, cpu)
    assert all((one != other).any() for one, other in zip(hpu, last))
    assert_launched()
