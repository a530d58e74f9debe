"""Every module that programs for Gaudi import: it is there, has their names, prints nothing and touches no device."""

from __future__ import annotations

import builtins
import importlib
import re

from tests.support.processes import ROOT, run_python

PACKAGE = "habana_frameworks.tensorflow"
# What programs for Gaudi call, by module; "" is the package itself.
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
    "ops.roi_align": "pyramid_roi_align pyramid_roi_align_grad_images",
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


def test_names_are_there_and_importing_them_does_nothing_else() -> None:
    program = f"""
        import importlib, sys
        for module, names in {NAMES!r}.items():
            found = importlib.import_module("{PACKAGE}" + ("." + module if module else ""))
            for name in names.split():
                assert hasattr(found, name), f"{{module}} has no {{name}}"
        assert "habana_device.so" not in open("/proc/self/maps").read(), "the plugin was loaded"
        import tensorflow as tf
        assert not tf.config.list_physical_devices("HPU")
    """
    assert run_python(program).stdout == ""


def test_what_programs_do_first_is_as_it_was() -> None:
    """The star import, the short way to the estimator, the question for the type: as programs for Gaudi have them."""
    program = """
        import habana_frameworks.tensorflow as htf
        from habana_frameworks.tensorflow import HabanaEstimator, habana_device, habana_ops, load_habana_module
        from habana_frameworks.tensorflow.multinode_helpers import comm_local_rank, comm_rank, comm_size
        from habana_frameworks.tensorflow.ops.layer_norm import *
        assert (comm_size(), comm_rank(), comm_local_rank()) == (1, 0, 0)
        assert HabanaLayerNormalization.__mro__[1].__name__ == "LayerNormalization"
        log_info_devices = load_habana_module(allow_op_override=False)
        assert habana_device.get_type() == "GAUDI"
        import tensorflow as tf
        for symbol in (tf.keras.layers.LayerNormalization, tf.keras.activations.gelu):
            assert not hasattr(symbol, "_replaced"), symbol
        assert htf.habana_ops is habana_ops and callable(habana_ops.habana_layer_norm)
        assert callable(habana_ops.pyramid_roi_align) and "pyramid_roi_align" in dir(habana_ops)
        try:
            habana_ops.habana_correlation
        except AttributeError as error:
            assert "habana_ops has no op habana_correlation" in str(error), error
        else:
            raise AssertionError("habana_ops accepts the name of a missing op")
    """
    assert run_python(program, {"HPU_DEVICE_TYPE": "GAUDI"}).stdout == ""


def test_the_page_names_what_there_is() -> None:
    """docs/user/python.md: each module of its table, and each name with it."""
    table = (ROOT / "docs" / "user" / "python.md").read_text().split("## Modules")[1].split("##")[0]
    rows = dict(re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.MULTILINE))
    del rows["`habana_ops`"]  # no module
    assert len(rows) > 20
    package = importlib.import_module(PACKAGE)
    for named, text in rows.items():
        modules = [importlib.import_module(f"{PACKAGE}.{name}") for name in re.findall(r"`(.*?)`", named)]
        for name in re.findall(r"`(\w+)(?:\(.*?\))?`", text):
            assert any(hasattr(known, name) for known in (*modules, package, builtins)), f"{named}: {name}"
