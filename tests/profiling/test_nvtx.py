"""Ranges in traces of tools that read NVTX."""

from __future__ import annotations

import collections
import importlib.util
import pathlib
import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.profiling import nvtx_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

SOURCE = pathlib.Path(__file__).parent / "fakes" / "nvtx_tool.c"
NVTX = importlib.util.find_spec("nvidia.nvtx") if importlib.util.find_spec("nvidia") else None
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.skipif(NVTX is None, reason="needs nvidia-nvtx-cu12"),
]


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    assert NVTX is not None and NVTX.submodule_search_locations is not None
    library = tmp_path_factory.mktemp("tool") / "nvtx_tool.so"
    (folder,) = NVTX.submodule_search_locations
    command = ["cc", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{folder}/include", str(SOURCE), "-o", str(library)]
    subprocess.run(command, check=True, timeout=60)
    return library


def ranges(
    tool: pathlib.Path, tmp_path: pathlib.Path, program: Callable[[], None] = programs.step_twice, **settings: str
) -> collections.Counter[str]:
    """Returns the number of ranges of the program by "lane: name, bytes"; empty if the program makes no domain."""
    events = tmp_path / "events"
    run_with_tensorflow(
        call_to(program),
        {"NVTX_INJECTION64_PATH": str(tool), "NVTX_TOOL_FILE": str(events), "TF_RECIPE_CACHE_PATH": None, **settings},
    )
    lines = [line.split("\t") for line in events.read_text().splitlines()] if events.exists() else []
    assert [line[1] for line in lines if line[0] == "domain"] == ["hpu-tensorflow"] * bool(lines)
    lanes = {line[1]: line[2] for line in lines if line[0] == "category"}
    started = {line[1]: f"{lanes[line[2]]}: {line[4]}, {line[3]}" for line in lines if line[0] == "start"}
    ended = [line[1] for line in lines if line[0] == "end"]
    assert sorted(started) == sorted(ended)
    return collections.Counter(started.values())


@pytest.mark.parametrize("backend", ["emulator", "pjrt:cpu"])
def test_launches_copies_and_compilations_are_ranges(backend: str, tool: pathlib.Path, tmp_path: pathlib.Path) -> None:
    found = ranges(tool, tmp_path, TF_ENABLE_NVTX_RANGES="1", HPU_BACKEND=backend)
    assert found["Compiles: habana_cluster_nvtx_step_0, 0"] == 1
    assert found["Compute: habana_cluster_nvtx_step_0, 0"] == 2
    assert found["Copies to the host: Copy to the host, 4"] == 2
    assert found[f"Copies to the device: Copy to the device, {64 * 64 * 4}"] >= 1


def test_details_are_shapes(tool: pathlib.Path, tmp_path: pathlib.Path) -> None:
    found = ranges(tool, tmp_path, TF_ENABLE_NVTX_RANGES_DETAILED="1")
    assert found["Compute: habana_cluster_nvtx_step_0 (float32[64,64]) -> (float32[]), 0"] == 2


def test_details_of_an_op_have_its_attributes(tool: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """An op that is launched outside clusters."""
    found = ranges(tool, tmp_path, programs.product_alone, TF_ENABLE_NVTX_RANGES_DETAILED="1")
    (details,) = [name for name in found if name.startswith("Compute: ")]
    assert "(float32[256,256], float32[256,256]) -> (float32[256,256]) {" in details
    assert "transpose_a=true" in details and "transpose_b=false" in details and "T=DT_FLOAT" in details


def test_without_the_setting_there_are_none(tool: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert not ranges(tool, tmp_path)
