"""Tests that cannot pass with a TensorFlow release. tests/conftest.py skips them there."""

from __future__ import annotations

_BACKUP = "all workers of Keras 3's BackupAndRestore write one file"
_CARD_OPS = "Keras 3's loss casts labels to int64, which the op list of Gaudi cards lacks"
_KERAS_2 = "calls what Keras 3 does not have"
_NAMES = "instructions of Keras 3 have other names"
_LOOPS = "the thunks of XLA's CPU compiler report loops as one instruction"
_THREADS = "sums of XLA's products depend on the number of threads, and a server has other threads than a process"
# Patterns of test ids by release; * matches any text. tests/support/test_exceptions.py checks them.
EXCEPTIONS: dict[str, dict[str, str]] = {
    "2.21.0": {
        **{
            f"tests/check/test_programs.py::test_an_ordinary_program[{name}]": _CARD_OPS
            for name in ("augmentation", "digits_keras", "digits_strategy", "layers")
        },
        "tests/check/test_programs.py::test_an_ordinary_program[estimator]": "TensorFlow has no Estimator",
        "tests/check/test_programs.py::test_the_ci_script": _CARD_OPS,
        "tests/distribute/test_failures.py::test_a_lost_worker_is_named*": _BACKUP,
        "tests/distribute/test_strategy.py::test_estimator": "TensorFlow has no Estimator",
        "tests/distribute/test_survivors.py::test_the_weights_are_those_of_an_undisturbed_training[fit*": _BACKUP,
        "tests/equality/test_v1_control_flow.py::test_dynamic_rnn_trains": _KERAS_2,
        "tests/kernels/test_layers.py::test_replaced_symbols_are_fused_in_graphs_by_the_passes[in_session]": (
            "Keras 3's layer normalisation in a TF1 Session has reshapes that no pattern matches"
        ),
        "tests/kernels/test_step_memory.py::test_unet*": "the emulator's step needs 1.25 times the CPU's memory",
        "tests/profiling/test_hooks.py::test_whole_program_with_instructions": _NAMES,
        "tests/profiling/test_instructions.py::test_a_train_step_has_its_instructions": _NAMES,
        "tests/profiling/test_instructions.py::test_instructions_of_a_loop_lie_in_the_loop": _LOOPS,
        "tests/profiling/test_profiler.py::test_level_zero_leaves_the_hpu_out": "level 0 does not reach plugins",
        "tests/profiling/test_profiler.py::test_pages_of_tensorboard": "TensorFlow has no converters for TensorBoard",
        "tests/python/test_logs.py::TestNativeLog::test_the_old_name_of_the_verbose_level[True]": (
            "Abseil reads the level once, at TensorFlow's import"
        ),
        "tests/python/test_op_registry.py::test_the_page*": "the page is for TensorFlow 2.15",
        "tests/remote/test_training.py::test_the_numbers_are_the_emulators": _THREADS,
    }
}
