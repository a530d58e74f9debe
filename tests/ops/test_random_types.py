"""Random ops of all dtypes and algorithms.

Eager results equal graph results, or jit_compile results for ops without a CPU kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")
DRAWS = 3


def draw(dtype: tf.DType, algorithm: str, mode: str, device: str) -> Any:
    with tf.device(device):
        generator = tf.random.Generator.from_seed(3, alg=algorithm)

        def uniform() -> tf.Tensor:
            return generator.uniform([5], 0, 100 if dtype.is_integer else None, dtype)

        function = uniform if mode == "eager" else tf.function(uniform, jit_compile=mode == "jit")
        return np.array([function().numpy() for _ in range(DRAWS)])


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_as_on_the_cpu(dtype: tf.DType, mode: str) -> None:
    np.testing.assert_array_equal(draw(dtype, "philox", mode, HPU), draw(dtype, "philox", mode, CPU))


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("algorithm", ["philox", "threefry"])
@pytest.mark.parametrize("dtype", [tf.uint32, tf.uint64])
def test_types_that_the_cpu_lacks(dtype: tf.DType, algorithm: str, mode: str) -> None:
    np.testing.assert_array_equal(draw(dtype, algorithm, mode, HPU), draw(dtype, algorithm, "jit", HPU))


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32, tf.float64])
def test_the_algorithm_that_the_cpu_lacks(dtype: tf.DType, mode: str) -> None:
    np.testing.assert_array_equal(draw(dtype, "threefry", mode, HPU), draw(dtype, "threefry", "jit", HPU))
