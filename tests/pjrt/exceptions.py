"""Tests that cannot pass on a PJRT device. tests/conftest.py skips them if HPU_BACKEND selects a plugin."""

from __future__ import annotations

_INSTRUCTIONS = "plugins do not report the times of instructions"
_TEMPORARIES = "expects the largest temporaries, which plugins do not list"
# Patterns of test ids; * matches any text.
EXCEPTIONS = {
    "tests/device/test_workspace.py::*": "plugins allocate the temporaries of programs themselves",
    "tests/equality/test_errors.py::test_an_op_that_exhausts_host_memory": _TEMPORARIES,
    "tests/explain/test_command.py::test_memory_names_the_largest_tensor_and_its_line": _TEMPORARIES,
    "tests/explain/test_command.py::test_times_*": _INSTRUCTIONS,
    "tests/profiling/test_hooks.py::test_whole_program_with_instructions": _INSTRUCTIONS,
    "tests/profiling/test_instructions.py::test_a_train_step_has_its_instructions": _INSTRUCTIONS,
    "tests/profiling/test_instructions.py::test_instructions_of_a_loop_lie_in_the_loop": _INSTRUCTIONS,
    "tests/device/test_events.py::test_the_device_describes_itself": "expects the emulator's description",
    "tests/recipes/test_cache_command.py::test_ls": "expects recipes of the emulator",
    "tests/recipes/test_cache_command.py::test_explain_miss_of_other_surroundings*": "expects the emulator's target",
    "tests/recipes/test_disk_cache.py::test_other_compiler_settings_make_other_recipes": "sets the emulator's compiler",
}
