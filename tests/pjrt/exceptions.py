"""Tests that cannot pass on a PJRT device. tests/conftest.py skips them if HPU_BACKEND selects a plugin."""

from __future__ import annotations

_INSTRUCTIONS = "plugins do not report the times of instructions"
_TEMPORARIES = "expects the largest temporaries, which plugins do not list"
# Patterns of test ids; * matches any text. tests/support/test_exceptions.py checks them.
EXCEPTIONS: dict[str, str] = {
    **{
        f"tests/device/test_workspace.py::{name}": "plugins allocate the temporaries of programs themselves"
        for name in (
            "test_it_grows_in_steps_and_stays",
            "test_an_oversized_reservation_is_reported_and_skipped",
            "test_it_gives_way_to_tensors",
            "test_the_peak_counts_from_the_reset",
            "test_out_of_memory_names_the_users_and_the_remedy",
            "test_fragmented_memory_advises_a_workspace_that_then_suffices",
        )
    },
    "tests/equality/test_errors.py::test_an_op_that_exhausts_host_memory": _TEMPORARIES,
    "tests/explain/test_command.py::test_memory_names_the_largest_tensor_and_its_line": _TEMPORARIES,
    "tests/explain/test_command.py::test_times_*": _INSTRUCTIONS,
    "tests/profiling/test_hooks.py::test_whole_program_with_instructions": _INSTRUCTIONS,
    "tests/profiling/test_instructions.py::test_a_train_step_has_its_instructions": _INSTRUCTIONS,
    "tests/profiling/test_instructions.py::test_instructions_of_a_loop_lie_in_the_loop": _INSTRUCTIONS,
    "tests/recipes/test_cache_command.py::test_explain_miss_of_other_surroundings*THREADS*": (
        "sets the emulator's number of threads"
    ),
}
