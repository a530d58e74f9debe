"""Processes of a job that create one PJRT client together (HPU_PJRT_COLLECTIVES=device)."""

from __future__ import annotations

import importlib.util
import pathlib
import re

import pytest

from tests.distribute.jobs import run_job
from tests.nvidia.machine import compiled, with_compiler
from tests.pjrt import errors_programs, rendezvous_programs
from tests.support.processes import WARM_PYTHON, call_to, run, run_with_tensorflow

RUN = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "run"]


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A fake plugin whose clients fail after all of them have met."""
    spec = importlib.util.find_spec("xla_plugins.xla_cpu_pjrt")
    if spec is None or spec.submodule_search_locations is None:
        pytest.skip("needs the header of xla-cpu-pjrt")
    include = pathlib.Path(next(iter(spec.submodule_search_locations)), "include")
    file = tmp_path_factory.mktemp("plugin") / "meeting_plugin.so"
    file.write_bytes(compiled("key_value_plugin.c", f"-I{include}"))
    return file


def _environment(plugin: pathlib.Path, **more: str) -> dict[str, str]:
    return {"HPU_BACKEND": f"pjrt:{plugin}", "HPU_PJRT_COLLECTIVES": "device", **more}


@with_compiler
def test_processes_of_a_job_exchange_keys(plugin: pathlib.Path) -> None:
    """Each process passes its number and reads the keys of both; hpu run removes the directory."""
    command = [*RUN, "-np", "2", "-m", rendezvous_programs.__name__]
    done = run(command, _environment(plugin), timeout=240)
    directories = set()
    for rank in range(2):
        assert re.search(rf"^\[{rank}\] .*met \[node 0_of 2\] \[node 1_of 2\]", done.stdout, re.MULTILINE), done.stdout
        place = re.search(rf"^\[{rank}\] rendezvous {rank}/2:(.+)$", done.stdout, re.MULTILINE)
        assert place is not None, done.stdout
        directories.add(pathlib.Path(place[1]))
    (directory,) = directories
    assert not directory.exists()


@with_compiler
def test_a_missing_process_is_reported_by_its_key(plugin: pathlib.Path, tmp_path: pathlib.Path) -> None:
    environment = _environment(plugin, HPU_PJRT_RENDEZVOUS=f"0/2:{tmp_path}", FAKE_WAIT_MS="200")
    done = run_with_tensorflow(call_to(rendezvous_programs.acquire), environment)
    assert f"no process of the job has put the key local_topology/fake/1 into {tmp_path} within 200 ms" in done.stdout


@pytest.mark.parametrize(
    ("rendezvous", "message"),
    [
        ("", "HPU_PJRT_RENDEZVOUS is not set: start the program with hpu run -np N"),
        ("2/2:/tmp", "is not RANK/SIZE:DIRECTORY, such as 0/2:/tmp/job"),
        ("0/2:/nonexistent", "/nonexistent is not a directory; create it before the processes start"),
    ],
)
@with_compiler
def test_processes_without_a_job_are_reported(plugin: pathlib.Path, rendezvous: str, message: str) -> None:
    environment = _environment(plugin, HPU_PJRT_RENDEZVOUS=rendezvous)
    done = run_with_tensorflow(call_to(errors_programs.load_and_compute), environment)
    assert message in done.stdout
    assert "CPU computes 3.0" in done.stdout


@pytest.mark.parametrize("collectives", ["device", "host"])
def test_devices_of_a_job_form_a_communicator(collectives: str) -> None:
    """CPU plugins have no collectives between processes, so their data goes through the ranks' shared memory.

    Everything else is as on cards: the processes meet in the job's directory, and compare their requests.
    """
    environment = {"HPU_BACKEND": "pjrt:cpu", "HPU_PJRT_COLLECTIVES": collectives}
    result = run_job(2, pathlib.Path(__file__).with_name("job_collectives.py"), environment=environment)
    for rank in range(2):
        assert f"[{rank}] joined {collectives == 'device'}" in result.output, result.output
        assert f"[{rank}] collectives agree" in result.output, result.output
