"""Makers for random ops: keys, counters and seeds with the required shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import call, float_type, pick, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.registry import call_of as raw
from tests.ops.sweep.values import Style, draw_array, draw_shape

Rng = np.random.Generator


def _shape(rng: Rng) -> Array:
    return whole(draw_shape(rng, int(rng.integers(0, 4))), pick(rng, tf.int32, tf.int64))


def _dtype(op: str, rng: Rng) -> dict[str, Any]:
    if "FullInt" in op:
        return {"dtype": pick(rng, tf.int32, tf.int64, tf.uint32, tf.uint64)}
    return {} if "UniformInt" in op else {"dtype": float_type(rng)}


def _range(op: str, rng: Rng) -> dict[str, Array]:
    if "UniformInt" not in op:
        return {}
    dtype = pick(rng, tf.int32, tf.int64)
    return {"minval": whole(rng.integers(-9, 3), dtype), "maxval": whole(rng.integers(2, 99), dtype)}


def _stateless(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        arguments = {"shape": _shape(rng)}
        if op.endswith("V2"):
            arguments |= {"key": whole(rng.integers(0, 1 << 62, 1), tf.uint64)}
            arguments |= {
                "counter": whole(rng.integers(0, 1 << 62, 2), tf.uint64),
                "alg": whole(pick(rng, 1, 1, 1, 2, 3)),
            }
        else:
            arguments["seed"] = whole(rng.integers(-99, 1 << 30, 2), pick(rng, tf.int32, tf.int64))
        return call(op, arguments | _range(op, rng), None, **_dtype(op, rng))


for _name in ("RandomNormal", "RandomUniform", "RandomUniformFullInt", "RandomUniformInt", "TruncatedNormal"):
    _stateless(f"Stateless{_name}")
    _stateless(f"Stateless{_name}V2")


def _stateful(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        seeds = {"seed": int(rng.integers(0, 9)), "seed2": int(rng.integers(0, 9))}
        return call(op, {"shape": _shape(rng), **_range(op, rng)}, None, **_dtype(op, rng), **seeds)


for _name in ("RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal"):
    _stateful(_name)


@maker("StatelessMultinomial", "Multinomial")
def make_multinomial(rng: Rng) -> Program:
    arguments = {
        "logits": draw_array(rng, float_type(rng), (int(rng.integers(0, 4)), int(rng.integers(1, 6)))),
        "num_samples": whole(rng.integers(0, 7)),
        "seed": whole(rng.integers(0, 1 << 30, 2)),
    }
    return call("StatelessMultinomial", arguments, output_dtype=pick(rng, tf.int32, tf.int64))


@maker("ParameterizedTruncatedNormal", "StatelessParameterizedTruncatedNormal")
def make_truncated(rng: Rng) -> Program:
    dtype = pick(rng, tf.float32, tf.float64)
    means = draw_array(rng, dtype, (2,), Style.UNIT)
    arguments = {
        "shape": whole((3, 2)), "seed": whole(rng.integers(0, 1 << 30, 2)), "means": means,
        "stddevs": draw_array(rng, dtype, (2,), Style.UNIT), "minvals": means - 2, "maxvals": means + 2,
    }  # fmt: skip
    return call("StatelessParameterizedTruncatedNormal", arguments)


@maker("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg", "StatelessRandomGetAlg")
def make_key(rng: Rng) -> Program:
    def function(seed: Any) -> Any:
        pair = raw("StatelessRandomGetKeyCounter")(seed=seed)
        return pair, raw("StatelessRandomGetKeyCounterAlg")(seed=seed), raw("StatelessRandomGetAlg")()

    return run(function, seed=whole(rng.integers(-99, 1 << 30, 2), pick(rng, tf.int32, tf.int64)))
