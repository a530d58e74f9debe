"""Modules that programs for Gaudi import: they exist with their names, print nothing and touch no device."""

from __future__ import annotations

import builtins
import importlib
import pathlib
import re
import sys

from tests.python import surface_programs as programs
from tests.support.processes import ROOT, call_to, run, run_python

PACKAGE = "habana_frameworks.tensorflow"
# Names that programs for Gaudi use, by module; "" is the package itself.
NAMES = {
    "": "load_habana_module load_op_library habana_ops HabanaEstimator sysconfig __version__",
    "distribute": "HPUStrategy",
    "grads": "register",
    "habana_device": (
        "get_type device_count get_device_name info memory_info reset_peak_memory acquire synchronize Event Stream"
    ),
    "habana_estimator": "HabanaEstimator",
    "horovod_helpers": ("hvd Framework hvd_init hvd_size hvd_rank hvd_local_size horovod_enabled hvd_rank_prefix"),
    "hccl": (
        "init init_rank get_unique_id all_reduce reduce reduce_scatter all_gather broadcast all_to_all send receive "
        "group barrier ReduceOp HcclError"
    ),
    "hw_profiler_helpers": "append_param SynapseLoggerHook",
    "lib_utils": "libraries_location get_includes_location mandatory_libraries",
    "library_loader": "load_habana_module load_op_library habana_ops",
    "media": "habana_imagenet_dataset",
    "media.habana_dataset": "HabanaDataset",
    "multinode_helpers": (
        "comm_size comm_rank comm_local_size comm_local_rank is_hierarchical get_hw_module_id "
        "_setup_env_for_multinode setup_env_for_multinode"
    ),
    "ops.gelu": "habana_gelu",
    "ops.instance_norm": "HabanaInstanceNormalization",
    "ops.layer_norm": "HabanaLayerNormalization",
    "optimizers.cyclical_learning_rate": "CyclicalLearningRate",
    "py_synapse_logger": "command put_log start_hw_profile stop_hw_profile dump_reference",
    "synapse_logger_helpers": "synapse_logger_init SynapseLoggerHook SynapseLoggerHelpers",
    "sysconfig": "__version__ get_include_dir get_lib_dir get_compile_flags get_link_flags",
    "tb_utils": (
        "write_hparams_v1 write_hparams_v2 ExamplesPerSecondEstimatorHook ExamplesPerSecondKerasHookV1 "
        "ExamplesPerSecondKerasHookV2 ExamplesPerSecondKerasHook TBSummary TensorBoardWithHParamsV1 "
        "TensorBoardWithHParamsV2 TensorBoardHook TimeToTrainKerasHook TimeToTrainEstimatorHook"
    ),
    "util": "is_hpu_available device_name other_keras",
    "version_getter": "get_library_version",
}


def test_names_are_attributes_and_have_no_side_effects() -> None:
    assert run_python(call_to(programs.read_names, PACKAGE, NAMES)).stdout == ""


def test_first_lines_of_programs_still_work() -> None:
    program = pathlib.Path(__file__).parent / "programs" / "first_lines.py"
    assert run([sys.executable, str(program)], {"HPU_DEVICE_TYPE": "GAUDI"}).stdout == ""


def test_the_page_names_the_whole_surface() -> None:
    """docs/user/python.md lists each module and its names."""
    table = (ROOT / "docs" / "user" / "python.md").read_text().split("## Modules")[1].split("##")[0]
    rows = dict(re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.MULTILINE))
    del rows["`habana_ops`"]  # not a module
    assert len(rows) > 20
    package = importlib.import_module(PACKAGE)
    for named, text in rows.items():
        modules = [importlib.import_module(f"{PACKAGE}.{name}") for name in re.findall(r"`(.*?)`", named)]
        for name in re.findall(r"`(\w+)(?:\(.*?\))?`", text):
            assert any(hasattr(known, name) for known in (*modules, package, builtins)), f"{named}: {name}"
