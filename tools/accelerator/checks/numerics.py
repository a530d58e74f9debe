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

# Accepted error in full precision: of an op, relative to its array's largest value; of a model, of all its gradients
# together. On an H100, products have errors of 1.6e-6 in full precision and 3.9e-4 in TF32, convolutions of 4.5e-6 and
# 8.0e-4, so TF32 in place of full precision exceeds the tolerance. TF32's factors change the LSTM's gradients by 4e-5,
# and other models' gradients by 3e-4 or more.
_HIGHEST = dict.fromkeys(programs.NAMES, 1e-4) | {
    "products": 5e-5,
    "convolutions": 5e-5,
    "linear_algebra": 5e-4,  # solutions of systems amplify rounding: 3e-5 on a CPU
    "lstm": 1e-5,
    # Rounding turns ReLUs of a deep network on and off: XLA and TensorFlow's kernels differ by 1 to 6 % on one CPU.
    "resnet50": 0.1,
    "mobilenet": 0.1,
}
_DEEP = ("resnet50", "mobilenet")
_TF32, _TF32_OF_DEEP_MODELS = 5e-2, 0.5
_FLOOR = 1e-3


def tolerance(name: str, tf32: bool) -> float:
    """Returns the accepted error of a program."""
    if not tf32:
        return _HIGHEST[name]
    return _TF32_OF_DEEP_MODELS if name in _DEEP else _TF32


def judge(name: str, tf32: bool, errors: Errors, same_inputs: bool = True) -> outcome.Verdict:
    """Compares the errors of a program with the accepted error."""
    verdict = outcome.Verdict()
    precision = "TF32" if tf32 else "full precision"
    error, accepted = error_of(name, errors), tolerance(name, tf32)
    if not error <= accepted:
        verdict.problems.append(f"{errors.where} with {precision}: error {error:.1e}, accepted {accepted:.1e}")
    if errors.unequal:
        unequal = ", ".join(errors.unequal)
        verdict.problems.append(f"{unequal} with {precision}: integers differ from the recorded results")
    if not same_inputs:
        verdict.problems.append("the inputs differ from the recorded inputs: pack the kit again")
    return verdict


def error_of(name: str, errors: Errors) -> float:
    """Returns a model's error of all gradients together, or the largest error of an element of other programs."""
    return errors.together if name in PROBLEMS else errors.largest


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
    verdict = outcome.Verdict()
    shown = []
    for precision, tf32 in (("TF32", True), ("highest", False)):
        errors, facts = measure(name, reference, tf32)
        values[precision] = dataclasses.asdict(errors) | facts | {"accepted": tolerance(name, tf32)}
        shown.append(f"{precision} {error_of(name, errors):.1e}")
        verdict.problems += judge(name, tf32, errors, facts["same inputs"]).problems
    return verdict.report(f"error {', '.join(shown)}", values)


if __name__ == "__main__":
    sys.exit(main())
