"""Jobs of examples/clusters on one machine: the job scripts' commands, with the variables that each cluster sets."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from habana_frameworks.tensorflow._internal.launch import launchers, ports
from tests.support.processes import ROOT, WARM_PYTHON, run, start

FOLDER = ROOT / "examples" / "clusters"
TRAINED = re.compile(r"2 workers, worker 0 on (\S+): test loss \S+, test accuracy (\S+)%")
FIRST_HPU = "/job:worker/replica:0/task:0/device:HPU:0"

pytestmark = pytest.mark.timeout(660)  # two processes that train, on a busy machine


@pytest.fixture
def job(tmp_path: pathlib.Path) -> dict[str, str]:
    """Environment of a job: modules of its own, no launcher's variables, and `python` and `srun` of this test."""
    programs = {"python": WARM_PYTHON, "srun": f"{sys.executable} {pathlib.Path(__file__).with_name('srun.py')}"}
    (tmp_path / "bin").mkdir()
    for name, command in programs.items():
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    return {
        "PATH": os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]),
        "HPU_MODULE_LOCK_DIR": str(tmp_path / "modules"),
        "TF_RECIPE_CACHE_PATH": str(tmp_path / "recipes"),
        "JOB_PYTHON": WARM_PYTHON,  # run() then starts a warm interpreter for shells
    }


def assert_trained(output: str) -> None:
    found = TRAINED.search(output)
    assert found is not None, output
    assert found[1] == FIRST_HPU
    assert float(found[2]) > 85


def test_slurm(job: Mapping[str, str]) -> None:
    """sbatch sets the numbers of the allocation, which the script's comments request."""
    script = FOLDER / "slurm.sbatch"
    assert re.search(r"^#SBATCH --ntasks-per-node=8$", script.read_text(), re.MULTILINE)
    done = run(["bash", str(script)], {**job, "SLURM_JOB_ID": "7", "SLURM_NTASKS": "2"}, timeout=600)
    assert_trained(done.stdout)


def manifest(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text())


def container(replicas: Any) -> Any:
    (found,) = replicas["template"]["spec"]["containers"]
    return found


def operator_config(replica_specs: Mapping[str, Any], addresses: Mapping[str, list[str]], index: int) -> str:
    """TF_CONFIG of a worker, as the training operator sets it."""
    cluster = {kind.lower(): addresses[kind] for kind in replica_specs}
    return json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}, "environment": "cloud"})


def test_tfjob(job: Mapping[str, str]) -> None:
    found = manifest("tfjob.yaml")
    assert (found["apiVersion"], found["kind"]) == ("kubeflow.org/v1", "TFJob")
    specs = found["spec"]["tfReplicaSpecs"]
    assert {kind.lower() for kind in specs} <= set(launchers._TRAINING_JOBS)
    one = container(specs["Worker"])
    assert one["name"] == "tensorflow"
    assert [port["name"] for port in one["ports"]] == ["tfjob-port"]
    count = specs["Worker"]["replicas"]
    with ports.reserved(count) as numbers:
        addresses = {"Worker": [f"127.0.0.1:{number}" for number in numbers]}
        configs = [operator_config(specs, addresses, index) for index in range(count)]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        pods = [start(one["command"], {**job, "TF_CONFIG": config}, **pipes) for config in configs]
        try:
            outputs = [pod.communicate(timeout=600)[0] for pod in pods]
        finally:
            for pod in pods:
                pod.kill()
    assert [pod.returncode for pod in pods] == [0] * count, outputs
    assert_trained(outputs[0])


def test_the_fields_of_the_mpijob() -> None:
    found = manifest("mpijob.yaml")
    assert (found["apiVersion"], found["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")
    specs = found["spec"]["mpiReplicaSpecs"]
    assert specs["Launcher"]["replicas"] == 1
    command = container(specs["Launcher"])["command"]
    assert all(isinstance(argument, str) for argument in command), "Kubernetes refuses numbers"
    ranks = int(command[command.index("-np") + 1])
    assert ranks == specs["Worker"]["replicas"] * found["spec"]["slotsPerWorker"]
    assert container(specs["Launcher"])["image"] == container(specs["Worker"])["image"]
    assert (ROOT / command[-1]).is_file()


@pytest.mark.slow  # tests/hvd also tests mpirun's ranks
def test_mpijob(job: Mapping[str, str]) -> None:
    if shutil.which("mpirun") is None or importlib.util.find_spec("horovod") is None:
        pytest.skip("mpirun or Horovod is not installed")
    # Unlike pods, this machine has no ssh, and fewer cores than ranks.
    here = {"OMPI_MCA_plm": "isolated", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    command = container(manifest("mpijob.yaml")["spec"]["mpiReplicaSpecs"]["Launcher"])["command"]
    done = run(command, {**job, **here}, timeout=600)
    found = re.search(r"2 ranks on \S*HPU:0: test loss \S+, test accuracy (\S+)%", done.stdout)
    assert found is not None and float(found[1]) > 85, done.stdout


# Variables of Ray for a busy machine. Ray's workers have niceness 15 and a minute to start, unless these are set.
RAY = {"RAY_worker_niceness": "0", "RAY_worker_register_timeout_seconds": "1200"}


@pytest.mark.slow  # Ray alone needs a minute of processor time
@pytest.mark.timeout(1860)
def test_ray(job: Mapping[str, str], tmp_path: pathlib.Path) -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed (make ray)")
    command = [sys.executable, str(FOLDER / "ray_digits.py"), "--workers", "2", "--storage", str(tmp_path / "results")]
    done = run(command, {**job, **RAY, "HOME": str(tmp_path)}, timeout=1800)
    found = re.search(r"^2 workers, worker 0 on (\S+): accuracy (\S+)%$", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout
    assert found[1] == FIRST_HPU
    assert float(found[2]) > 85
    assert (tmp_path / "results").is_dir() and not (tmp_path / "ray_results").exists()  # --storage has all results


def test_each_program_of_a_job_exists() -> None:
    commands = [*(FOLDER / "slurm.sbatch").read_text().splitlines()]
    commands += [shlex.join(container(manifest("tfjob.yaml")["spec"]["tfReplicaSpecs"]["Worker"])["command"])]
    programs = [word for line in commands for word in re.findall(r"python (\S+\.py)", line)]
    assert len(programs) == 2
    assert all((ROOT / program).is_file() for program in programs)
