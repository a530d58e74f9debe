"""Device memory: statistics, limits, protection, exhaustion. Size of the host pool."""

from __future__ import annotations

import pathlib
import re
import shutil
import signal
import subprocess

import numpy as np
import pytest
import tensorflow as tf

from tests.device import memory_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def test_statistics_return_to_where_they_were() -> None:
    assert run_with_tensorflow(call_to(programs.hold_and_free_memory)).stdout == "ended\n"


def test_peak_can_be_reset() -> None:
    assert run_with_tensorflow(call_to(programs.reset_the_peak)).stdout == "ended\n"


def test_memory_growth_and_limits_of_logical_devices() -> None:
    lines = run_with_tensorflow(call_to(programs.limit_memory_like_a_gpu)).stdout.splitlines()
    assert lines[0].startswith("an HPU has one logical device, not 2: start a process for each part of the work")
    assert lines[1].startswith("an HPU has one logical device, not 0")
    assert lines[2:] == [f"{float(1 << 20)} 64", "ValueError", "RuntimeError", "exhausted"]


def test_an_environment_variable_overrides_the_limit_of_a_logical_device() -> None:
    lines = run_with_tensorflow(call_to(programs.limit_memory_like_a_gpu), {"HPU_MEMORY_MB": "96"}).stdout.splitlines()
    assert lines[2] == f"{float(1 << 20)} 96"


def test_the_c_interface_agrees(hpu: str) -> None:
    from habana_frameworks.tensorflow import habana_device

    with tf.device(hpu):
        tensor = tf.identity(tf.constant(np.ones(1 << 20, np.float32)))
    memory = habana_device.memory_info()
    info = tf.config.experimental.get_memory_info("HPU:0")
    assert memory.in_use == info["current"] >= tensor.shape.num_elements() * 4
    assert memory.peak == info["peak"]
    assert memory.limit == habana_device.info()["memory_bytes"]
    assert memory.allocations > 0


def test_the_host_cannot_touch_device_memory() -> None:
    done = run_with_tensorflow(call_to(programs.read_device_memory), check=False)
    assert done.stdout.split() == ["reading"], done.stdout + done.stderr
    assert done.returncode == -signal.SIGSEGV


@pytest.mark.parametrize("use", ["eager", "graph", "variable"])
def test_the_error_of_exhausted_memory_names_the_remedy(use: str) -> None:
    done = run_with_tensorflow(call_to(programs.exhaust_memory, use), {"HPU_MEMORY_MB": "32"})
    message = ("[20971520]", "HPU:0", "20 MiB requested", "20 MiB of 32 MiB in use", "HPU_MEMORY_MB (now 32)")
    for part in message:
        assert part in done.stdout, done.stdout


@pytest.mark.parametrize("mib", [5, 13, 24, 37, 48, 60, 98])
def test_tensors_fill_the_memory(mib: int) -> None:
    """However the allocator divides the memory, free memory in one piece serves a tensor."""
    done = run_with_tensorflow(call_to(programs.fill_memory, mib), {"HPU_MEMORY_MB": "100"})
    assert int(done.stdout) == 99 // mib


@pytest.fixture(scope="module")
def free_memory(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A library to preload, with which the machine has FREE_GIB of free memory."""
    library = tmp_path_factory.mktemp("fake") / "free_memory.so"
    source = pathlib.Path(__file__).parent / "fakes" / "free_memory.c"
    subprocess.run(["cc", "-Wall", "-Werror", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return library


def host_pool_bytes(directory: pathlib.Path, environment: dict[str, str | None]) -> int:
    logs = {"LOG_LEVEL_DEVICE": "2", "HABANA_LOGS": str(directory)}
    run_with_tensorflow(call_to(programs.acquire), {**logs, **environment})
    (log,) = directory.iterdir()
    (found,) = re.findall(r"(\d+) bytes of host pool", log.read_text())
    return int(found)


def test_the_host_pool_has_the_size_of_the_setting(tmp_path: pathlib.Path) -> None:
    assert host_pool_bytes(tmp_path, {"TF_CPU_ALLOCATOR_SIZE_G": "2"}) == 2 << 30


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize(("free", "mib"), [(10, 1280), (40, 24 << 10), (400, 64 << 10)])
def test_the_default_size_of_the_host_pool_depends_on_free_memory(
    free: int, mib: int, free_memory: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """The guide's minimum of 64 GiB, 80 % of the free memory, and the free memory less 16 GiB; at least an eighth.

    80 % is never the least of the three.
    """
    environment = {"TF_CPU_ALLOCATOR_SIZE_G": None, "LD_PRELOAD": str(free_memory), "FREE_GIB": str(free)}
    assert host_pool_bytes(tmp_path, environment) == mib << 20
