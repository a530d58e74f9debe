"""Compiled functions with dynamic sizes compute with the sizes, not with their bounds, or refuse to compile."""

from __future__ import annotations

import collections
import sys
from collections.abc import Iterator

import pytest
import tensorflow as tf

from tests.ops.dynamic_size_programs import REFUSED, RIGHT, SIZES, compiled, expected
from tests.ops.sweep.compare import Verdict
from tests.ops.sweep.dynamic_sweep import BAD, DynamicSweep
from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")


@pytest.fixture(scope="module")
def cases() -> Iterator[collections.Counter[str]]:
    counts: collections.Counter[str] = collections.Counter()
    yield counts
    sys.stdout.write(f"{counts['right']} cases equal the CPU, {counts['refused']} programs are refused\n")


@pytest.mark.parametrize("name", list(RIGHT))
def test_results_are_the_cpus_for_each_size(name: str, cases: collections.Counter[str]) -> None:
    program = RIGHT[name]
    run = compiled(program)
    for size in SIZES:
        if size < program.smallest:
            continue
        with tf.device(HPU if program.draws else CPU):
            wanted = expected(program, size)
        with tf.device(HPU):
            assert_close(run(size), wanted, context=f"size {size},")
        cases["right"] += 1


@pytest.mark.parametrize("name", list(REFUSED))
def test_a_lowering_that_would_take_the_bound_is_refused(name: str, cases: collections.Counter[str]) -> None:
    with (
        tf.device(HPU),
        pytest.raises(
            (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError),
            match=r"dynamic|must be a compile-time constant",
        ),
    ):
        compiled(REFUSED[name])(3)
    cases["refused"] += 1


def test_a_refusal_names_node_dimension_and_remedy() -> None:
    with tf.device(HPU), pytest.raises(tf.errors.UnimplementedError) as caught:
        compiled(REFUSED["rounding to a range"])(3)
    text = str(caught.value)
    assert (
        "{{node QuantizeAndDequantizeV4}}" in text and "dimension 0 of shape f32[<=5,4] of input 0 is dynamic" in text
    )
    assert "move the op out of the jit_compile=True function" in text


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_op_is_right_or_refused() -> None:
    sweep = DynamicSweep(cases_per_op=3)
    counts: collections.Counter[Verdict] = collections.Counter()
    wrong = []
    try:
        for claim in sweep.claims():
            results = sweep.run(claim.op)
            counts.update(result.verdict for result in results)
            wrong += [result for result in results if result.verdict in BAD]
    finally:
        sweep.close()
    sys.stdout.write(", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict) + "\n")
    assert counts[Verdict.SAME] > 1000 and not wrong, wrong
