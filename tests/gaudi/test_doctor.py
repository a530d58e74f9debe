"""`hpu doctor` for HPU_BACKEND=gaudi: library, cards, driver and kernel libraries."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import pytest

from habana_frameworks.tensorflow._internal import gaudi_cards
from habana_frameworks.tensorflow.cli.checks import gaudi
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level
from habana_frameworks.tensorflow.cli.checks.gaudi import cards, library, management
from tests.gaudi import doubles, hlml_machine
from tests.gaudi.fakes.pyhlml import FakePyhlml
from tests.gaudi.hlml_machine import GAUDI2


def findings(monkeypatch: pytest.MonkeyPatch, backend: str, **environment: str) -> dict[str, Finding]:
    monkeypatch.setenv("HPU_BACKEND", backend)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return {finding.subject: finding for finding in gaudi.check()}


@pytest.mark.parametrize("release", doubles.RELEASES)
def test_releases_and_cards(monkeypatch: pytest.MonkeyPatch, release: str) -> None:
    found = findings(monkeypatch, doubles.backend(release), SYNAPSE_DOUBLE_DEVICES="2")
    assert found["SynapseAI"].level is Level.OK and found["SynapseAI"].data["version"].startswith(release)
    assert found["Gaudi cards"].level is Level.OK and found["Gaudi cards"].data == {"count": 2}


def test_other_backends_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(monkeypatch, "emulator") == {}


def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    found = findings(monkeypatch, "gaudi:/nowhere/libSynapse.so")
    assert found["SynapseAI"].level is Level.ERROR and "/nowhere/libSynapse.so" in found["SynapseAI"].text
    assert "LD_LIBRARY_PATH" in found["SynapseAI"].remedy and "Gaudi cards" not in found
    assert "Gaudi driver" in found


def test_unsupported_release(monkeypatch: pytest.MonkeyPatch) -> None:
    found = findings(monkeypatch, doubles.backend("1.18"), SYNAPSE_DOUBLE_VERSION="1.11.0-abc")
    assert found["SynapseAI"].level is Level.ERROR and "'1.11.0-abc'" in found["SynapseAI"].text


def test_no_card(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(gaudi_cards, "DEVICES", tmp_path)

    def only(**report: Any) -> Finding:
        (finding,) = cards.check(library.Report(version="1.18.0", **report))
        return finding

    assert "neither" in only(status=0, devices=0).text
    assert "status 8" in only(status=8, devices=0).text
    (tmp_path / "accel").mkdir()
    (tmp_path / "accel" / "accel0").touch()
    (tmp_path / "accel" / "accel_controlD0").touch()
    assert gaudi_cards.device_files(tmp_path) == [tmp_path / "accel" / "accel0"]
    assert "1 device file" in only(status=0, devices=0).text


def test_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """The driver's version is HLML's. A lost card and an HLML that fails are warnings, a missing HLML is a note."""
    monkeypatch.setattr(gaudi_cards, "_CLASSES", (tmp_path,))
    fake = FakePyhlml({0: GAUDI2, 1: {**GAUDI2, "module_id": 6}})
    monkeypatch.setitem(sys.modules, "pyhlml", fake)

    def only() -> Finding:
        (finding,) = management.check()
        assert (finding.level is Level.OK) == (not finding.remedy)
        return finding

    assert only().text == f"{hlml_machine.DRIVER}: HL-225, HL-225"
    fake.lost = {1}
    healthy, lost = management.check()
    assert healthy.level is Level.OK
    assert (lost.level, lost.text) == (Level.WARNING, "module 0 (unknown address) is lost")
    assert "hl-smi -r" in lost.remedy
    for code, level in ((1, Level.NOTE), (hlml_machine.DRIVER_NOT_LOADED, Level.NOTE), (49, Level.WARNING)):
        fake.errors["hlmlInit"] = code
        assert only().level is level and only().text.startswith("`hpu smi` cannot read the cards: ")
    monkeypatch.setitem(sys.modules, "pyhlml", None)
    (tmp_path / "hl0").mkdir()
    (tmp_path / "hl0" / "driver_ver").write_text("1.5.0\n")
    assert only().text == "1.5.0; `hpu smi` cannot read the cards: the Python module pyhlml is missing"
    assert (only().level, only().remedy) == (Level.NOTE, "pip install habana-pyhlml")


def test_kernel_libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    backend = "gaudi:/nowhere/libSynapse.so"
    monkeypatch.delenv("GC_KERNEL_PATH", raising=False)
    assert findings(monkeypatch, backend)["kernel libraries"].level is Level.WARNING
    kernels = tmp_path / "libtpc_kernels.so"
    absent = findings(monkeypatch, backend, GC_KERNEL_PATH=str(kernels))["kernel libraries"]
    assert absent.level is Level.ERROR and str(kernels) in absent.text
    kernels.touch()
    assert findings(monkeypatch, backend, GC_KERNEL_PATH=str(kernels))["kernel libraries"].level is Level.OK
    many = findings(monkeypatch, backend, GC_KERNEL_PATH=":".join([str(kernels)] * 16))["kernel libraries"]
    assert many.level is Level.WARNING
    assert json.dumps(many.data)
