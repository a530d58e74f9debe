"""Optimizer ops without tf2xla lowering, compared with TensorFlow's CPU kernels."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import assert_one_cluster
from tests.support.compare import CPU, HPU
from tests.support.keras_package import legacy_optimizers

STEPS = 4
TABLE = (7, 3)
NUMBERS = {"lr": 0.1, "alpha": 0.1, "rho": 0.9, "epsilon": 1e-3, "momentum": 0.8, "l1": 0.01, "l2": 0.02}
# Inputs of each ResourceSparseApply…: the variables, the other inputs, a boolean attribute.
SPARSE_UPDATES: dict[str, tuple[str, str, str]] = {
    "Adadelta": ("var accum accum_update", "lr rho epsilon", ""),
    "Adagrad": ("var accum", "lr", "update_slots"),
    "AdagradV2": ("var accum", "lr epsilon", "update_slots"),
    "CenteredRMSProp": ("var mg ms mom", "lr rho momentum epsilon", ""),
    "KerasMomentum": ("var accum", "lr momentum", "use_nesterov"),
    "Momentum": ("var accum", "lr momentum", "use_nesterov"),
    "ProximalGradientDescent": ("var", "alpha l1 l2", ""),
    "RMSProp": ("var ms mom", "lr rho momentum epsilon", ""),
}


def train(device: str) -> np.ndarray:
    generator = np.random.default_rng(1)
    with tf.device(device):
        weights = tf.Variable(generator.normal(size=5).astype(np.float32))
        optimizer = legacy_optimizers().Adam(0.1, amsgrad=True)

        @tf.function
        def amsgrad_step(gradient: tf.Tensor) -> None:
            optimizer.apply_gradients([(gradient, weights)])

        for _ in range(STEPS):
            amsgrad_step(tf.constant(generator.normal(size=5).astype(np.float32)))
        return weights.numpy()


@pytest.mark.usefixtures("hpu")
def test_adam_with_amsgrad_is_one_cluster() -> None:
    np.testing.assert_allclose(train(HPU), train(CPU), rtol=1e-5)
    assert_one_cluster("amsgrad_step", STEPS)


class SparseUpdate:
    """A function that updates rows of variables on a device. `flag` is the value of the op's boolean attribute."""

    def __init__(self, op: str, device: str, flag: bool = True, jit: bool | None = None, unique: bool = False) -> None:
        names, numbers, attribute = SPARSE_UPDATES[op]
        # The mean of the gradients is small, so that the variance of the centered RMSProp is positive.
        starts = {"mg": 0.01, "ms": 0.5}
        with tf.device(device):
            shape = np.arange(np.prod(TABLE), dtype=np.float32).reshape(TABLE)
            self.variables = [tf.Variable(starts.get(name, 0.1) + 0.01 * shape) for name in names.split()]
            values = {name: tf.constant(NUMBERS[name]) for name in numbers.split()}
        arguments: dict[str, Any] = {attribute: flag} if attribute else {}

        @tf.function(jit_compile=jit)
        def sparse_step(indices: tf.Tensor, gradients: tf.Tensor) -> None:
            if unique:  # as Keras's optimizers do
                indices, positions = tf.unique(indices)
                gradients = tf.math.unsorted_segment_sum(gradients, positions, tf.shape(indices)[0])
            handles = {name: variable.handle for name, variable in zip(names.split(), self.variables)}
            update = getattr(tf.raw_ops, f"ResourceSparseApply{op}")
            update(**handles, **values, **arguments, indices=indices, grad=gradients)

        self.device = device
        self.step = sparse_step

    def run(self, indices: list[int]) -> list[np.ndarray]:
        """Returns the variables after a step."""
        gradients = 1.0 - 0.1 * np.arange(len(indices) * TABLE[1], dtype=np.float32).reshape(len(indices), TABLE[1])
        with tf.device(self.device):
            self.step(tf.constant(indices, tf.int64), tf.constant(gradients))
        return [variable.numpy() for variable in self.variables]


@pytest.mark.usefixtures("hpu")
@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("op", SPARSE_UPDATES)
def test_sparse_updates_are_clusters(op: str, flag: bool) -> None:
    """An index that occurs twice updates its row twice."""
    on_hpu, on_cpu = SparseUpdate(op, HPU, flag), SparseUpdate(op, CPU, flag)
    before = statistics.get()
    for indices in ([5, 0], [2, 5, 2, 2], []):
        for actual, expected in zip(on_hpu.run(indices), on_cpu.run(indices), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
    after = statistics.get()
    assert (after.launches - before.launches, after.fallbacks - before.fallbacks) == (3, 0)


@pytest.mark.usefixtures("hpu")
@pytest.mark.parametrize("op", SPARSE_UPDATES)
def test_sparse_updates_of_unique_indices(op: str) -> None:
    """The cluster pads the unique indices to their bound. The padding updates no row."""
    on_hpu, on_cpu = SparseUpdate(op, HPU, unique=True), SparseUpdate(op, CPU, unique=True)
    for indices in ([5, 0, 5, 5], [2, 5, 2, 2], [6, 6, 6, 6], [0, 1, 2, 3]):
        for actual, expected in zip(on_hpu.run(indices), on_cpu.run(indices), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("hpu")
def test_a_sparse_update_raises_before_it_changes_a_row() -> None:
    update = SparseUpdate("Momentum", HPU)
    before = [variable.numpy() for variable in update.variables]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"out of range|not in"):
        update.run([5, TABLE[0]])
    for variable, old in zip(update.variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), old)


@pytest.mark.usefixtures("hpu")
@pytest.mark.parametrize("op", SPARSE_UPDATES)
def test_sparse_updates_copy_no_variable(op: str) -> None:
    update = SparseUpdate(op, HPU, jit=True)
    indices, gradients = tf.constant([1, 2]), tf.ones([2, TABLE[1]])
    program = update.step.experimental_get_compiler_ir(indices, gradients)(stage="optimized_hlo")
    rows, columns = TABLE
    assert f"f32[{rows},{columns}]" in program
    assert not re.search(rf"= f32\[{rows},{columns}\]\S* copy\(", program), program
