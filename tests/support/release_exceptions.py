"""Tests that cannot pass with a TensorFlow release. tests/conftest.py skips them there."""

from __future__ import annotations

_CARD_OPS = "Keras 3's loss casts labels to int64, which the op list of Gaudi cards lacks"
_KERAS_2 = "calls what Keras 3 does not have"
_LOOPS = "the thunks of XLA's CPU compiler report loops as one instruction"
# Patterns of test ids by release; * matches any text. tests/support/test_exceptions.py checks them.
EXCEPTIONS: dict[str, dict[str, str]] = {
    "2.21.0": {
        "tests/check/test_programs.py::test_an_ordinary_program[digits_*]": _CARD_OPS,
        "tests/check/test_programs.py::test_an_ordinary_program[augmentation]": _CARD_OPS,
        "tests/check/test_programs.py::test_an_ordinary_program[layers]": _KERAS_2,
        "tests/check/test_programs.py::test_an_ordinary_program[estimator]": "TensorFlow has no Estimator",
        "tests/check/test_programs.py::test_the_ci_script": _CARD_OPS,
        "tests/equality/test_v1_control_flow.py::test_dynamic_rnn_trains": _KERAS_2,
        "tests/profiling/test_hooks.py::test_whole_program_with_instructions": "instructions of Keras 3 have other names",
        "tests/profiling/test_instructions.py::test_a_train_step_has_its_instructions": (
            "instructions of Keras 3 have other names"
        ),
        "tests/profiling/test_instructions.py::test_instructions_of_a_loop_lie_in_the_loop": _LOOPS,
        "tests/profiling/test_profiler.py::test_pages_of_tensorboard": "TensorFlow no longer has TensorBoard's converters",
    }
}
