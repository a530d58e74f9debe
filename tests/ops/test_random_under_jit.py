"""Random ops with seed or state arguments: XLA's numbers with jit_compile=True, otherwise the CPU's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")
raw = tf.raw_ops
SEED = [62610935, -1]

STATELESS: dict[str, Callable[[Any], Any]] = {
    "StatelessRandomUniform": lambda seed: raw.StatelessRandomUniform(shape=[3], seed=seed),
    "StatelessRandomNormal": lambda seed: raw.StatelessRandomNormal(shape=[3], seed=seed, dtype=tf.float64),
    "StatelessTruncatedNormal": lambda seed: raw.StatelessTruncatedNormal(shape=[3], seed=seed),
    "StatelessRandomUniformInt": lambda seed: raw.StatelessRandomUniformInt(shape=[3], seed=seed, minval=0, maxval=99),
    "StatelessRandomUniformFullInt": lambda seed: raw.StatelessRandomUniformFullInt(
        shape=[3], seed=seed, dtype=tf.int32
    ),
    "StatelessMultinomial": lambda seed: raw.StatelessMultinomial(logits=[[0.5, 0.1, 0.4]], num_samples=9, seed=seed),
    "StatelessParameterizedTruncatedNormal": lambda seed: raw.StatelessParameterizedTruncatedNormal(
        shape=[3], seed=seed, means=0.5, stddevs=2.0, minvals=-1.0, maxvals=1.0
    ),
}

STATEFUL: dict[str, Callable[[Any], Any]] = {
    "StatefulUniform": lambda state: raw.StatefulUniform(resource=state, algorithm=1, shape=[3]),
    "StatefulStandardNormalV2": lambda state: raw.StatefulStandardNormalV2(resource=state, algorithm=1, shape=[3]),
    "StatefulTruncatedNormal": lambda state: raw.StatefulTruncatedNormal(resource=state, algorithm=1, shape=[3]),
    "StatefulUniformFullInt": lambda state: raw.StatefulUniformFullInt(
        resource=state, algorithm=1, shape=[3], dtype=tf.uint64
    ),
    "StatefulUniformInt": lambda state: raw.StatefulUniformInt(
        resource=state, algorithm=1, shape=[3], minval=0, maxval=99
    ),
}

KEYED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "StatelessRandomUniformV2": lambda *key: raw.StatelessRandomUniformV2(
        shape=[3], key=key[0], counter=key[1], alg=key[2]
    ),
    "StatelessRandomNormalV2": lambda *key: raw.StatelessRandomNormalV2(
        shape=[3], key=key[0], counter=key[1], alg=key[2], dtype=tf.float16
    ),
    "StatelessTruncatedNormalV2": lambda *key: raw.StatelessTruncatedNormalV2(
        shape=[3], key=key[0], counter=key[1], alg=key[2]
    ),
    "StatelessRandomUniformIntV2": lambda *key: raw.StatelessRandomUniformIntV2(
        shape=[3], key=key[0], counter=key[1], alg=key[2], minval=0, maxval=99
    ),
    "StatelessRandomUniformFullIntV2": lambda *key: raw.StatelessRandomUniformFullIntV2(
        shape=[3], key=key[0], counter=key[1], alg=key[2], dtype=tf.uint64
    ),
}


def on(device: str, function: Callable[..., Any], *arguments: Any, jit: bool | None) -> Any:
    with tf.device(device):
        call = tf.function(function, autograph=False, jit_compile=jit)
        return call(*[tf.constant(argument) for argument in arguments])


def draws(device: str, op: str, jit: bool | None) -> list[Any]:
    """Returns the draws of three calls, and the final state."""
    with tf.device(device):
        state = tf.Variable([5, 7, 11], dtype=tf.int64)
        call = tf.function(lambda: STATEFUL[op](state.handle), autograph=False, jit_compile=jit)
        return [*[call() for _ in range(3)], state.read_value()]


@pytest.mark.parametrize("jit", [True, None])
@pytest.mark.parametrize("op", STATELESS)
def test_of_a_seed(op: str, jit: bool | None) -> None:
    assert_close(on(HPU, STATELESS[op], SEED, jit=jit), on(CPU, STATELESS[op], SEED, jit=jit))


@pytest.mark.parametrize("jit", [True, None])
@pytest.mark.parametrize("op", STATEFUL)
def test_of_a_state(op: str, jit: bool | None) -> None:
    assert_close(draws(HPU, op, jit), draws(CPU, op, jit))


@pytest.mark.parametrize("jit", [True, None])
@pytest.mark.parametrize("op", KEYED)
def test_of_the_algorithm_that_the_device_selects(op: str, jit: bool | None) -> None:
    key = [np.array([2003439287540629639], np.uint64), np.array([9, 1811055849896860342], np.uint64), np.int32(3)]

    def function(first: Any, counter: Any, algorithm: Any) -> Any:
        return KEYED[op](first, counter, algorithm)

    assert_close(on(HPU, function, *key, jit=jit), on(CPU, function, *key, jit=jit))


@pytest.mark.parametrize("eager", [True, False])
def test_keys_of_negative_seeds(eager: bool) -> None:
    def function(seed: Any) -> Any:
        return raw.StatelessRandomGetKeyCounterAlg(seed=seed)

    def keys(device: str) -> Any:
        if not eager:
            return on(device, function, SEED, jit=None)
        with tf.device(device):
            return function(tf.constant(SEED))

    assert_close(keys(HPU), keys(CPU))
