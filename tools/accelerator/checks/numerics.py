"""Check 3: a program on the card, in TF32 and in full precision, against the recorded results. numerics.py NAME."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from typing import Any

import tensorflow as tf

from benchmarks.models import PROBLEMS
from habana_frameworks.tensorflow import load_habana_module
from tools.accelerator import programs
from tools.accelerator.checks import outcome
from tools.accelerator.corpus import Errors, Reference, checksum, compare

# Accepted error of each array of an op, relative to the array's largest value.
_TOLERANCES = {"highest": 1e-2, "TF32": 0.1}
# Accepted error of all gradients of a model together. Rounding turns ReLUs of a deep network on and off: for ResNet-50,
# XLA and TensorFlow's kernels differ by 2 to 6 % on one processor.
_GRADIENT_TOLERANCES = {"highest": 0.1, "TF32": 0.5}
_FLOOR = 1e-3


def measure(name: str, reference: Reference, tf32: bool) -> tuple[Errors, dict[str, Any]]:
    """Runs the program on the HPU. Returns its errors, and further values for the report."""
    tf.config.experimental.enable_tensor_float_32_execution(tf32)
    built = programs.build(name, outcome.HPU)
    same = checksum([tensor.numpy() for tensor in built.inputs]) == reference.inputs
    function = tf.function(built.function, jit_compile=None if name in programs.WITHOUT_JIT_COMPILE else True)
    begin = time.perf_counter()
    with tf.device(outcome.HPU):
        results = function(*built.inputs)
    flat = programs.flat_results(built, results)
    seconds = time.perf_counter() - begin
    floor = _FLOOR if name in PROBLEMS else 0
    return compare(reference, flat, floor), {"first run, s": round(seconds, 2), "same inputs": same}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=programs.NAMES)
    name = parser.parse_args().name
    reference = Reference.read(outcome.kit() / "corpus" / "programs" / f"{name}.npz")
    load_habana_module()
    values: dict[str, Any] = {"arrays": len(reference.samples)}
    problems, shown = [], []
    for precision, tf32 in (("TF32", True), ("highest", False)):
        errors, facts = measure(name, reference, tf32)
        values[precision] = dataclasses.asdict(errors) | facts
        is_model = name in PROBLEMS
        error = errors.together if is_model else errors.largest
        shown.append(f"{precision} {error:.1e}")
        if not error <= (_GRADIENT_TOLERANCES if is_model else _TOLERANCES)[precision]:
            problems.append(f"{errors.where} with {precision}")
        if errors.unequal:
            problems.append(f"{', '.join(errors.unequal)} with {precision}: integers differ from the recorded results")
        if not facts["same inputs"]:
            problems.append("the inputs differ from the recorded inputs: pack the kit again")
    summary = f"error {', '.join(shown)}" + (f"; {'; '.join(problems)}" if problems else "")
    return outcome.report(not problems, summary, values)


if __name__ == "__main__":
    sys.exit(main())
