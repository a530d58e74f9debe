"""Tests that cannot pass on a Gaudi, or on its double. tests/conftest.py skips them if HPU_BACKEND selects one."""

from __future__ import annotations

# Patterns of test ids; * matches any text. tests/support/test_exceptions.py checks them.
EXCEPTIONS: dict[str, str] = {
    "tests/device/test_workspace.py::test_fragmented_memory_advises_*": (
        "places tensors around the temporaries of the emulator's product; SynapseAI decides how many a graph needs"
    ),
    "tests/device/test_workspace.py::test_out_of_memory_names_the_users_and_the_remedy": (
        "expects the largest temporaries, which SynapseAI does not list"
    ),
    "tests/device/test_fork.py::test_a_child_forked_before_the_first_use_has_a_device": (
        "forks after the module is loaded, which initialises SynapseAI; a forked child cannot use it"
    ),
    "tests/equality/test_errors.py::test_an_op_that_exhausts_host_memory": (
        "expects the HPU's error; SynapseAI refuses a tensor of 128 TiB, so the op ends with the CPU's"
    ),
    "tests/equality/test_random.py::test_many_rows_of_categories_differ": (
        "many categories are drawn with float64, which cards lack, so the cluster runs on the CPU"
    ),
    "tests/ops/test_order_of_zeros.py::test_float64*": "cards lack float64, which jit_compile=True needs there",
    "tests/ops/test_singular_gradients.py::test_all_pairs_in_types_that_cards_lack*": "cards lack complex numbers",
    "tests/ops/test_singular_gradients.py::test_complex_infinities*": "cards lack complex numbers",
    "tests/recipes/test_cache_command.py::test_explain_miss_of_other_surroundings*": "sets the emulator's compiler",
    "tests/recipes/test_disk_cache.py::test_a_place_that_cannot_be_written_costs_one_warning*small_files*": (
        "limits the size of all files, and SynapseAI serialises recipes into files"
    ),
    "tests/recipes/test_disk_cache.py::test_other_compiler_settings_make_other_recipes": "sets the emulator's compiler",
    "tests/distribute/test_failures.py::test_a_lost_worker_is_named_*": (
        "expects an exchange through TensorFlow's transport without a device server; cards exchange directly"
    ),
}
# Patterns of tests that pass, but take the double of SynapseAI's library minutes.
TOO_SLOW: dict[str, str] = {
    "tests/equality/test_train_steps.py::test_resnet50_with_fixed_statistics": (
        "takes the double many minutes; tests/gaudi/test_models.py trains ResNet-50 with smaller batches"
    ),
}
