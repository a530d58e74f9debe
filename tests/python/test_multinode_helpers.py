"""Ranks from launchers' variables, and the set-up of a process from its ranks."""

from __future__ import annotations

import json
import os

import pytest

from habana_frameworks.tensorflow import multinode_helpers
from habana_frameworks.tensorflow._internal.launch import launchers
from tests.support.processes import run_python

VARIABLES = (
    *launchers.VARIABLES,
    "TF_CONFIG",
    "HLS_MODULE_ID",
    "HLS1_MODULE_ID",
    "HABANA_VISIBLE_MODULES",
    "TF_RANK_PREFIX",
    "HBN_TF_GRAPH_PREFIX",
    "TF_DUMP_GRAPH_PREFIX",
    "HOROVOD_HIERARCHICAL_ALLREDUCE",
    "HOROVOD_HCL_HIERARCHICAL_ALLREDUCE",
    "ID",
)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the environment by a copy without these variables, and restores it after the test."""
    monkeypatch.setattr(os, "environ", {name: value for name, value in os.environ.items() if name not in VARIABLES})


def launch(size: int, rank: int, local_size: int, local_rank: int) -> None:
    os.environ.update(
        OMPI_COMM_WORLD_SIZE=str(size),
        OMPI_COMM_WORLD_RANK=str(rank),
        OMPI_COMM_WORLD_LOCAL_SIZE=str(local_size),
        OMPI_COMM_WORLD_LOCAL_RANK=str(local_rank),
    )


def ranks() -> tuple[int, int, int, int]:
    helpers = multinode_helpers
    return helpers.comm_size(), helpers.comm_rank(), helpers.comm_local_size(), helpers.comm_local_rank()


def test_single_process() -> None:
    assert ranks() == (1, 0, 1, 0)
    before = dict(os.environ)
    multinode_helpers._setup_env_for_multinode()
    assert dict(os.environ) == before
    with pytest.raises(RuntimeError, match="mpirun"):
        multinode_helpers._setup_env_for_multinode(required=True)


def test_job_over_two_machines() -> None:
    launch(16, 11, 8, 3)
    os.environ["TF_DUMP_GRAPH_PREFIX"] = "dumps"
    multinode_helpers._setup_env_for_multinode()
    assert os.environ["HLS_MODULE_ID"] == "3"
    assert os.environ["TF_RANK_PREFIX"] == os.environ["HBN_TF_GRAPH_PREFIX"] == "rank_11_"
    assert os.environ["TF_DUMP_GRAPH_PREFIX"] == "dumps/rank_11_"
    before = dict(os.environ)
    multinode_helpers._setup_env_for_multinode()
    assert dict(os.environ) == before, "the second call changes the environment"


def test_prefixes_are_extended_and_the_dump_directory_is_not_invented() -> None:
    launch(2, 1, 2, 1)
    os.environ["HBN_TF_GRAPH_PREFIX"] = "bert_"
    multinode_helpers._setup_env_for_multinode()
    assert os.environ["HBN_TF_GRAPH_PREFIX"] == "bert_rank_1_"
    assert "TF_DUMP_GRAPH_PREFIX" not in os.environ


@pytest.mark.parametrize(("visible", "rank", "module"), [("", 2, 2), ("4,5,6,7", 2, 6), (" 1 , 0 ", 0, 1)])
def test_module_of_a_rank(visible: str, rank: int, module: int) -> None:
    os.environ["HABANA_VISIBLE_MODULES"] = visible
    assert multinode_helpers.get_hw_module_id(rank) == module


def test_too_few_visible_modules() -> None:
    launch(4, 2, 4, 2)
    os.environ["HABANA_VISIBLE_MODULES"] = "0,1"
    with pytest.raises(
        AssertionError, match=r"0,1 names too few modules for local rank 2: name one module for each process"
    ):
        multinode_helpers._setup_env_for_multinode()


@pytest.mark.parametrize("name", ["HLS_MODULE_ID", "HLS1_MODULE_ID"])
def test_chosen_module_is_kept(name: str) -> None:
    launch(2, 1, 2, 1)
    os.environ[name] = "5"
    multinode_helpers._setup_env_for_multinode()
    assert os.environ["HLS_MODULE_ID"] == "5"


def test_rank_that_is_not_a_number() -> None:
    os.environ["OMPI_COMM_WORLD_RANK"] = "first"
    with pytest.raises(ValueError, match="OMPI_COMM_WORLD_RANK=first, set by Open MPI, is not a whole number"):
        multinode_helpers.comm_rank()


def test_horovodrun() -> None:
    os.environ.update(HOROVOD_SIZE="6", HOROVOD_RANK="4", HOROVOD_LOCAL_SIZE="3", HOROVOD_LOCAL_RANK="1")
    assert ranks() == (6, 4, 3, 1)


def test_srun() -> None:
    os.environ.update(SLURM_STEP_NUM_TASKS="9", SLURM_PROCID="7", SLURM_NODEID="2", SLURM_LOCALID="1")
    os.environ["SLURM_STEP_TASKS_PER_NODE"] = "3(x2),2,1"
    assert ranks() == (9, 7, 2, 1)
    os.environ["SLURM_STEP_TASKS_PER_NODE"] = "three"
    with pytest.raises(ValueError, match="SLURM_STEP_TASKS_PER_NODE=three is not in srun's list format"):
        multinode_helpers.comm_rank()


def test_allocation_without_srun_is_one_process() -> None:
    os.environ.update(SLURM_NTASKS="4", SLURM_PROCID="0", SLURM_LOCALID="0")
    assert ranks() == (1, 0, 1, 0)


def tf_config(kind: str, index: int) -> str:
    cluster = {"chief": ["a:1"], "worker": ["a:2", "b:1", "b:2", "[::1]:3"], "ps": ["a:9"], "evaluator": ["b:9"]}
    return json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})


@pytest.mark.parametrize(
    ("kind", "index", "expected"),
    [
        ("chief", 0, (5, 0, 2, 0)),
        ("worker", 0, (5, 1, 2, 1)),
        ("worker", 2, (5, 3, 2, 1)),
        ("worker", 3, (5, 4, 1, 0)),
        ("evaluator", 0, (1, 0, 1, 0)),
        ("ps", 0, (1, 0, 1, 0)),
    ],
)
def test_tf_config(kind: str, index: int, expected: tuple[int, int, int, int]) -> None:
    os.environ["TF_CONFIG"] = tf_config(kind, index)
    assert ranks() == expected


@pytest.mark.parametrize("text", ["{", "[]", '{"cluster": {"worker": 3}}', '{"task": {"index": "x"}}'])
def test_invalid_tf_config(text: str) -> None:
    os.environ["TF_CONFIG"] = text
    with pytest.raises(ValueError, match=r"TF_CONFIG=.* is invalid"):
        multinode_helpers.comm_size()


def test_tf_config_chooses_a_module_among_visible_ones_only() -> None:
    os.environ["TF_CONFIG"] = tf_config("worker", 2)
    multinode_helpers._setup_env_for_multinode()
    assert "HLS_MODULE_ID" not in os.environ, "HLS_MODULE_ID is set without HABANA_VISIBLE_MODULES"
    assert os.environ["HBN_TF_GRAPH_PREFIX"] == "rank_3_"
    os.environ["HABANA_VISIBLE_MODULES"] = "5,7"
    multinode_helpers._setup_env_for_multinode()
    assert os.environ["HLS_MODULE_ID"] == "7"


def test_a_launcher_of_one_process_does_not_override_tf_config() -> None:
    launch(1, 0, 1, 0)
    os.environ["TF_CONFIG"] = tf_config("worker", 2)
    assert ranks() == (5, 3, 2, 1)
    launch(16, 11, 8, 3)
    assert ranks() == (16, 11, 8, 3)


def test_hierarchical_needs_several_machines() -> None:
    os.environ["HOROVOD_HIERARCHICAL_ALLREDUCE"] = "1"
    launch(8, 0, 8, 0)
    assert not multinode_helpers.is_hierarchical()
    launch(16, 0, 8, 0)
    assert multinode_helpers.is_hierarchical()
    os.environ["HOROVOD_HIERARCHICAL_ALLREDUCE"] = "0"
    assert not multinode_helpers.is_hierarchical()


def test_import_needs_no_tensorflow() -> None:
    code = "from habana_frameworks.tensorflow.multinode_helpers import comm_rank; print(comm_rank())"
    assert run_python(code, {"OMPI_COMM_WORLD_RANK": "3"}).stdout == "3\n"
