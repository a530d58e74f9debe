"""Planes that a PJRT plugin's profiler records, in tf.profiler's profiles."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from tests.pjrt.cpu_plugins import XLA
from tests.profiling import record_programs as programs
from tests.profiling import traces
from tests.support.processes import call_to, run_with_tensorflow, shared_recipes

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.skipif(not XLA.exists(), reason="needs xla-cpu-pjrt"),
]
SOURCE = pathlib.Path(__file__).parent / "fakes" / "profiling_plugin.c"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A plugin for the CPU with a profiler."""
    library = tmp_path_factory.mktemp("plugin") / "profiling_cpu_plugin.so"
    command = ["cc", "-shared", "-fPIC", f'-DPLUGIN="{XLA}"', str(SOURCE), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True, timeout=60)
    return library


def profile(
    plugin: pathlib.Path,
    tmp_path: pathlib.Path,
    planes: tuple[str, ...] = ("/device:GPU:0",),
    damaged: bool = False,
    twice: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> list[Any]:
    """Returns the XSpaces of the profiles."""
    environment = {"HPU_BACKEND": f"pjrt:{plugin}", "FAKE_RECORD": str(tmp_path / "record"), **settings}
    program = call_to(programs.profile, str(tmp_path), planes, damaged, twice)
    run_with_tensorflow(program, {**shared_recipes(), **environment})
    return [traces.read_space(tmp_path / str(number)) for number in range(1 + twice)]


def plane(space: Any, name: str) -> Any:
    (found,) = [plane for plane in space.planes if plane.name == name]
    return found


def launch_of(space: Any) -> traces.Event:
    (launch,) = [
        event
        for event in traces.of_lane(traces.events_of(plane(space, traces.PLANE)), "Compute")
        if "step" in event.name
    ]
    return launch


@pytest.mark.parametrize("planes", [("/device:GPU:0",), ("/device:GPU:0", "/device:GPU:1")])
def test_planes_are_merged_on_one_clock(plugin: pathlib.Path, tmp_path: pathlib.Path, planes: tuple[str, ...]) -> None:
    for space in profile(plugin, tmp_path, planes, twice=True):
        launch = launch_of(space)
        for name in planes:
            before, after = traces.events_of(plane(space, name))
            assert before.lane == "Stream #13(Compute)" and before.name == "fusion" and before.duration == 1000
            assert before.begin < launch.begin < after.begin < before.begin + 100e9
        # TensorBoard's trace viewer merges planes with equal ids.
        ids = [plane(space, name).id for name in (*planes, traces.PLANE)]
        assert len(set(ids)) == len(ids) and not space.warnings


def test_a_damaged_record_is_a_warning(plugin: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (space,) = profile(plugin, tmp_path, damaged=True)
    (warning,) = space.warnings
    assert warning.startswith("The profile lacks the device's activity: the device's record is not a valid XSpace")
    assert launch_of(space)
    assert not [plane for plane in space.planes if plane.name.startswith("/device:GPU:")]


@pytest.mark.parametrize("call", ["START", "STOP"])
def test_errors_of_the_profiler_are_warnings(plugin: pathlib.Path, tmp_path: pathlib.Path, call: str) -> None:
    (space,) = profile(plugin, tmp_path, settings={f"FAKE_{call}_ERROR": "another profiler is running"})
    assert list(space.warnings) == [
        "The profile lacks the device's activity: profiler of the PJRT plugin: another profiler is running"
    ]
    assert launch_of(space)


def test_plugins_without_a_profiler_cause_no_warning(tmp_path: pathlib.Path) -> None:
    (space,) = profile(XLA, tmp_path)
    assert launch_of(space) and not space.warnings
