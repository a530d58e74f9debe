"""`hpu doctor` on fake machines with NVIDIA cards: findings and remedies for each problem."""

from __future__ import annotations

import json
import os
import pathlib
import sys

import pytest

from habana_frameworks.tensorflow._internal import pjrt_plugins
from habana_frameworks.tensorflow.cli.checks import Finding, Level, pjrt
from habana_frameworks.tensorflow.cli.checks.pjrt import probing
from habana_frameworks.tensorflow.lib_utils import install_command
from tests.nvidia.machine import GIB, H100, Machine, with_compiler
from tests.support.processes import ROOT, WARM_PYTHON, run

pytestmark = with_compiler


def check() -> dict[str, Finding]:
    """Returns the findings by subject. Of several findings about cards, only the last is returned."""
    return {finding.subject: finding for finding in pjrt.check()}


def problem(level: Level = Level.ERROR) -> Finding:
    """Returns the only finding that is not OK."""
    found = [finding for finding in pjrt.check() if finding.level is not Level.OK]
    assert len(found) == 1, found
    assert found[0].level is level and found[0].remedy
    return found[0]


def test_healthy(machine: Machine) -> None:
    findings = check()
    assert {finding.level for finding in findings.values()} == {Level.OK}
    assert findings["PJRT plugin"].text == f"jax-cuda13-pjrt 0.11.2: {machine.plugin}"
    assert findings["PJRT plugin loads"].text == "PJRT C API 0.115 (oldest supported: 0.57)"
    assert findings["NVIDIA driver"].text == "580.65.06, supports CUDA 13.0"
    assert findings["cards"].text == "card 0: NVIDIA H100 80GB HBM3, 2048 of 81920 MiB in use"
    assert findings["CUDA libraries"].text == "CUDA 13: all 10 found"


def test_missing_plugin(machine: Machine) -> None:
    machine.plugin.unlink()
    found = problem()
    assert "neither of jax-cuda13-pjrt and jax-cuda12-pjrt is in" in found.text
    assert install_command("cuda13") in found.remedy


@pytest.mark.parametrize(
    ("name", "text"), [("abacus", "is not a known plugin"), ("/nonexistent/plugin.so", "does not exist")]
)
def test_wrong_names_of_plugins(machine: Machine, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv("HPU_BACKEND", f"pjrt:{name}")
    assert text in problem().text


def test_plugin_that_is_too_old(machine: Machine) -> None:
    machine.set_plugin("-DMINOR=56")
    found = problem()
    assert found.text == f"PJRT C API 0.56 of {machine.plugin}; supported: 0.57 to 0.x"
    assert found.remedy == install_command("cuda13")


def test_plugin_that_crashes(machine: Machine) -> None:
    machine.set_plugin("-DMINOR=115", "-DCRASH")
    assert "crashed with SIGABRT" in problem().text


@pytest.mark.parametrize(("content", "text"), [("", "cannot be loaded"), ("libcuda", "not a PJRT plugin")])
def test_files_that_are_not_plugins(machine: Machine, content: str, text: str) -> None:
    machine.plugin.write_bytes(machine.path("lib", "libcuda.so.1").read_bytes() if content else b"nonsense")
    assert text in problem().text


def test_plugin_whose_loading_hangs(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "TIMEOUT_SECONDS", 1e-3)
    assert "took longer than 0.001 s" in check()["PJRT plugin loads"].text


def test_driver_that_is_missing(machine: Machine) -> None:
    machine.path("version").unlink()
    machine.break_driver_library()
    found = problem()
    assert found.text.startswith("not found: ") and "version 580 or later" in found.remedy


def test_container_without_the_drivers_library(machine: Machine) -> None:
    machine.break_driver_library()
    found = problem()
    assert "the kernel module is loaded (version 580.65.06), but libcuda.so.1 cannot be loaded" in found.text
    assert "--gpus all" in found.remedy


def test_stub_of_the_drivers_library(machine: Machine) -> None:
    machine.set_driver("580.65.06", 13000, "-DERROR=34")
    assert "cuDriverGetVersion of libcuda.so.1 failed with error 34" in problem().text


def test_kernel_module_that_is_not_loaded(machine: Machine) -> None:
    machine.path("version").unlink()
    assert "the kernel module is not loaded" in problem(Level.WARNING).text


def test_driver_that_is_too_old(machine: Machine) -> None:
    machine.set_driver("550.54.15", 12040)
    found = problem()
    assert found.text.startswith(
        "550.54.15, supports CUDA 12.4; the plugin is built for CUDA 13, which needs driver 580"
    )
    assert install_command("cuda12") in found.remedy


def test_older_driver_with_the_libraries_of_a_newer_one(machine: Machine) -> None:
    machine.set_driver("550.54.15", 13000)  # NVIDIA's package for forward compatibility
    assert check()["NVIDIA driver"].level is Level.OK


def test_device_files_that_are_missing(machine: Machine) -> None:
    machine.path("dev", "nvidia-uvm").unlink()
    assert "nvidia-uvm is missing" in problem(Level.WARNING).text
    machine.path("dev", "nvidia0").unlink()
    found = problem()
    assert "nvidia0 missing" in found.text and "--gpus all" in found.remedy


def test_device_files_that_may_not_be_opened(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: pathlib.Path(path).name != "nvidia0")
    found = problem()
    assert "may not read and write" in found.text and found.text.endswith("dev/nvidia0")


def test_cards_that_are_absent(machine: Machine) -> None:
    machine.set_cards()
    assert problem().text == "the driver lists no card"


def test_cards_in_use_by_other_processes(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.set_cards({**H100, "memory": [70 * GIB, 80 * GIB], "processes": [[4711, 70 * GIB]]})
    found = problem(Level.WARNING)
    assert "71680 of 81920 MiB in use by process 4711; a program allocates 75% of a card" in found.text
    monkeypatch.setenv("HPU_PJRT_OPTIONS", "memory_fraction=0.1")
    assert check()["cards"].level is Level.OK


@pytest.mark.parametrize(
    ("code", "level", "text"),
    [
        (9, Level.NOTE, "Driver Not Loaded"),
        (18, Level.ERROR, "Driver/library version mismatch"),
        (15, Level.WARNING, "GPU is lost"),
    ],
)
def test_nvml_that_fails(machine: Machine, code: int, level: Level, text: str) -> None:
    machine.set_cards(error=code)
    assert problem(level).text == f"`hpu smi` cannot read the cards: NVML: {text}"


def test_without_nvml(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert problem(Level.NOTE).remedy == "pip install nvidia-ml-py"


@pytest.mark.parametrize("value", ["", "-1", "1", "NoDevFiles"])
def test_variables_that_hide_every_card(machine: Machine, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    found = problem()
    assert found.text == f"CUDA_VISIBLE_DEVICES={value!r} hides every card; the machine has 1, numbered from 0"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert check()["visible cards"].level is Level.OK


def test_cuda_libraries_that_are_missing(machine: Machine) -> None:
    machine.path("packages", "nvidia", "nccl", "lib", "libnccl.so.2-fake").unlink()
    assert "libnccl.so.2-fake (nvidia-nccl-cu13); only collectives" in problem(Level.WARNING).text
    machine.path("packages", "nvidia", "cudnn", "lib", "libcudnn.so.9-fake").unlink()
    found = problem()
    assert "libcudnn.so.9-fake (nvidia-cudnn-cu13), libnccl.so.2-fake (nvidia-nccl-cu13)" in found.text
    assert found.remedy == install_command("cuda13")


def test_cuda_libraries_in_the_loaders_path(machine: Machine) -> None:
    library = machine.path("packages", "nvidia", "cudnn", "lib", "libcudnn.so.9-fake")
    library.unlink()
    machine.path("lib", library.name).write_bytes(machine.path("lib", "libcuda.so.1").read_bytes())
    assert check()["CUDA libraries"].level is Level.OK


def test_compiling_for_a_card_needs_the_plugin_alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.set_cards(error=9)
    monkeypatch.setenv("HPU_PJRT_TARGET", "h100")
    assert check().keys() == {"PJRT plugin", "PJRT plugin loads"}


def test_cards_and_plugins_that_are_not_selected(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_BACKEND", "emulator")
    texts = [finding.text for finding in pjrt.check()]
    assert f"jax-cuda13-pjrt 0.11.2: {machine.plugin}; HPU_BACKEND=pjrt:cuda selects it" in texts
    assert "NVIDIA H100 80GB HBM3 (driver 580.65.06); HPU_BACKEND=pjrt:cuda uses it" in texts
    machine.plugin.unlink()
    assert install_command("cuda13") in problem(Level.NOTE).remedy


def test_the_plugins_are_those_of_the_backend() -> None:
    source = (ROOT / "plugin" / "backends" / "pjrt" / "plugin_file.cc").read_text()
    for packages in pjrt_plugins.PACKAGES.values():
        assert ", ".join(f'"{package.file}"' for package in packages) in source


def test_the_plugin_for_the_cpu() -> None:
    """The finding names the plugin that the HPU's library loads."""
    if pjrt_plugins.find("cpu") is None:
        pytest.skip("needs a plugin for the CPU")
    command = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "doctor", "--json"]
    report = json.loads(run(command, {"HPU_BACKEND": "pjrt:cpu"}).stdout)
    findings = {finding["subject"]: finding for finding in report["findings"]}
    assert report["healthy"]
    data = findings["PJRT plugin loads"]["data"]
    assert data["major"] == 0 and data["minor"] >= 57
    assert f"{data['major']}.{data['minor']}" in findings["backend"]["data"]["compiler_target"]
    assert "NVIDIA driver" not in findings
