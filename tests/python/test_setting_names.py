"""Misspelt names of settings are reported with the nearest name; variables of other programs are not."""

from __future__ import annotations

import pytest

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import flag_values

EFFECTIVE = [flag.name for flag in flags.ALL if flag.effect is not flag_values.Effect.INERT and "<" not in flag.name]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("TF_BF16_CONVERSON", "TF_BF16_CONVERSION"),
        ("TF_RECIPE_CACHE_PAHT", "TF_RECIPE_CACHE_PATH"),
        ("TF_RECIPE_CACHE_PATHES", "TF_RECIPE_CACHE_PATH"),
        ("TF_RECIPE_CACHE", "TF_RECIPE_CACHE_PATH"),
        ("HLS_MODUL_ID", "HLS_MODULE_ID"),
        ("LOG_LEVL_PASSES", "LOG_LEVEL_PASSES"),
        ("ENABLE_CONSOL", "ENABLE_CONSOLE"),
        ("XLA_FLAG", "XLA_FLAGS"),
    ],
)
def test_a_misspelt_name_has_the_nearest_setting(name: str, nearest: str) -> None:
    assert flag_values.unknown(flags.ALL, {name: "1"}) == [flag_values.Unknown(name, nearest)]


def test_one_wrong_letter_is_found_in_every_name() -> None:
    """For each setting: a missing letter, and two transposed letters."""
    wrong = set()
    for name in EFFECTIVE:
        middle = len(name) // 2
        wrong.add(name[:middle] + name[middle + 1 :])
        wrong.add(name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :])
    wrong -= set(EFFECTIVE)
    assert len(wrong) > 150
    assert {unknown.name for unknown in flag_values.unknown(flags.ALL, dict.fromkeys(wrong, "1"))} == wrong


def test_variables_of_other_programs_are_left_alone() -> None:
    others = (
        "CFLAGS HIP_VISIBLE_DEVICES HOROVOD_HIERARCHICAL_ALLGATHER LDFLAGS LOG_LEVEL NCCL_SOCKET_IFNAME "
        "NVIDIA_VISIBLE_DEVICES OMPI_COMM_WORLD_NODE_RANK ROCR_VISIBLE_DEVICES TF_CUDNN_DETERMINISTIC "
        "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_CLEARLIST_ADD TF_GPU_THREAD_MODE TF_USE_LEGACY_KERAS"
    )
    assert flag_values.unknown(flags.ALL, dict.fromkeys(others.split(), "1")) == []


def test_empty_variables_count_as_unset() -> None:
    assert flag_values.unknown(flags.ALL, {"TF_BF16_CONVERSON": "", "LOG_LEVEL_HCL": "", "HPU_ABACUS": ""}) == []
