"""`hpu smi` for Gaudi cards, with a fake of pyhlml, and with pyhlml and a double of libhlml.so."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import sys
from collections.abc import Callable, Mapping

import pytest

from habana_frameworks.tensorflow import cli
from habana_frameworks.tensorflow._internal import gaudi_cards
from habana_frameworks.tensorflow.cli import job_modules
from tests.gaudi import doubles, hlml_double, hlml_machine
from tests.gaudi.fakes.pyhlml import FIGURES, FakePyhlml, HLMLError
from tests.gaudi.hlml_machine import FIELDS, GAUDI2, Figures

Smi = Callable[..., str]


@pytest.fixture(autouse=True)
def devices(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The folder /dev of the machine, without Gaudi cards."""
    monkeypatch.setattr(gaudi_cards, "DEVICES", tmp_path / "dev")
    monkeypatch.setattr(gaudi_cards, "_DRIVER", tmp_path / "habanalabs")
    monkeypatch.setattr(gaudi_cards, "_CLASSES", (tmp_path / "class",))
    monkeypatch.setenv("HPU_BACKEND", "gaudi")
    (tmp_path / "dev" / "accel").mkdir(parents=True)
    return tmp_path / "dev"


@pytest.fixture
def smi(capsys: pytest.CaptureFixture[str]) -> Smi:
    """Runs `hpu smi`, and returns what it prints to stdout, or to stderr if `code` is not 0."""

    def run(*arguments: str, code: int = 0) -> str:
        done = cli.main(["smi", *arguments])
        printed = capsys.readouterr()
        assert done == code, printed.err
        assert not printed.out or not code
        return printed.err if code else printed.out

    return run


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakePyhlml:
    """A machine with one Gaudi2."""
    return set_fake(monkeypatch, {0: GAUDI2})


def set_fake(monkeypatch: pytest.MonkeyPatch, cards: Mapping[int, Figures]) -> FakePyhlml:
    made = FakePyhlml(cards)
    monkeypatch.setitem(sys.modules, "pyhlml", made)
    return made


def without(*names: str, **figures: int) -> Figures:
    """Returns a Gaudi2's figures without `names`, and with the values of `figures`."""
    return {name: value for name, value in {**GAUDI2, **figures}.items() if name not in names}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


@pytest.mark.parametrize("options", [None, [], ["-DOLD"]], ids=["fake", "pyhlml", "pyhlml over HLML 1.18"])
def test_every_figure(
    options: list[str] | None, smi: Smi, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """The fake, and pyhlml with libraries of two releases, whose structures differ, return the same figures."""
    if options is None:
        set_fake(monkeypatch, {0: GAUDI2})
    else:
        hlml_double.Double(monkeypatch, tmp_path, *options).set_cards({0: GAUDI2})
    (module,) = json.loads(smi("--json"))["modules"]
    assert (module["id"], module["index"], module["type"], module["holder"]) == (5, 0, "HL-225", None)
    assert (module["memory_used"], module["memory_total"]) == (32 << 30, 96 << 30)
    assert (module["utilization"], module["temperature_celsius"]) == (0.87, 61)
    assert not module["temperature_is_emulated"] and not module["is_lost"]
    assert (module["power_watts"], module["power_limit_watts"]) == (412.3, 600)
    assert (module["bus_id"], module["uuid"]) == (GAUDI2["pci_info"], GAUDI2["uuid"])
    assert module["driver_version"] == hlml_machine.DRIVER
    (row,) = csv.reader(
        smi("-Q", ",".join(FIELDS), "--format=csv,noheader,nounits").splitlines(), skipinitialspace=True
    )
    assert dict(zip(FIELDS, row)) == FIELDS
    head, row = csv.reader(smi("-Q", "index,module_id,name,clocks.max.soc", "-f", "csv").splitlines())
    assert (head[3], row) == (" clocks.max.soc [MHz]", ["0", " 5", " HL-225", " 1700 MHz"])


def test_the_fake_has_functions_of_pyhlml() -> None:
    hlml_double.import_pyhlml()
    assert set(FIGURES) <= set(dir(sys.modules["pyhlml"]))


def test_pyhlml_is_initialised_once_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, smi: Smi
) -> None:
    """HLML is shut down after each reading, but not if the program itself has initialised it."""
    double = hlml_double.Double(monkeypatch, tmp_path)
    double.set_cards({0: GAUDI2})
    smi("-L")
    assert not double.is_initialized
    pyhlml = sys.modules["pyhlml"]
    pyhlml.hlmlInit()
    assert "HL-225" in smi("-L")
    assert double.is_initialized
    pyhlml.hlmlShutdown()


def test_table_and_details(fake: FakePyhlml, smi: Smi, devices: pathlib.Path) -> None:
    fake.cards = {0: GAUDI2, 1: {"pci_info": "0000:1a:00.0", "module_id": 6, "minor_number": 1}}
    with (devices / "accel" / "accel0").open("w"):  # this process uses the card
        lines = smi().splitlines()
        assert f"module 5: HL-225 (0000:19:00.0), used by process {os.getpid()}" in smi("-L")
        details = smi("-q", "-i", "0000:19:00.0")
    assert lines[0].endswith("  HPU_BACKEND=gaudi")
    heads = ["module", "model", "memory used", "memory", "utilisation", "temperature", "power", "process"]
    assert cells(lines[1]) == heads
    assert cells(lines[2]) == ["5", "HL-225", "32768 MiB", "98304 MiB", "87 %", "61 C", "412 W", str(os.getpid())]
    assert cells(lines[3]) == ["6", "Gaudi", *["N/A"] * 5, "-"]
    assert lines[4].startswith(f"module 5 is used by process {os.getpid()} (N/A): ") and len(lines) == 5
    for text in ("AN12345678", "412 W of 600 W", "ecc.errors.corrected.volatile.total: ", hlml_machine.DRIVER):
        assert text in details
    assert "module 6" not in details
    assert "module 5: HL-225 (0000:19:00.0), free" in smi("-L")


@pytest.mark.parametrize(
    ("cards", "numbers"),
    [
        ({0: without(module_id=3), 1: without(module_id=1)}, {1: 1, 3: 0}),
        # The driver could not start the card of index 1.
        ({0: without(module_id=0), 2: without(module_id=2), 3: without(module_id=3)}, {0: 0, 2: 2, 3: 3}),
        # One card does not answer: the lowest free number.
        ({0: without(module_id=3), 1: without("module_id"), 2: without(module_id=0)}, {0: 2, 1: 1, 3: 0}),
        # HLML has no module ids, or the same for all.
        ({0: without("module_id"), 2: without("module_id")}, {0: 0, 2: 2}),
        ({0: without(module_id=0), 1: without(module_id=0)}, {0: 0, 1: 1}),
    ],
)
def test_module_numbers(cards: dict[int, Figures], numbers: dict[int, int], fake: FakePyhlml, smi: Smi) -> None:
    fake.cards = cards
    rows = smi("-Q", "module_id,index", "-f", "csv,noheader").splitlines()
    assert rows == [f"{module}, {index}" for module, index in numbers.items()]
    last = max(numbers)
    assert smi("-i", str(last), "-Q", "index", "-f", "csv,noheader") == f"{numbers[last]}\n"


def test_hlml_without_module_ids(smi: Smi, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """An old libhlml.so lacks the function; cards 0 and 2 of it keep their indices."""
    hlml_double.Double(monkeypatch, tmp_path, "-DOLD", "-DWITHOUT_MODULE_ID").set_cards({0: GAUDI2, 2: GAUDI2})
    assert smi("-Q", "module_id,serial", "-f", "csv,noheader") == "0, AN12345678\n2, AN12345678\n"


def test_lost_cards(fake: FakePyhlml, smi: Smi, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost card has no figures, and `hpu run` does not count it as free."""
    fake.cards = {0: GAUDI2, 1: without(module_id=0)}
    fake.lost = {1}
    assert smi("-L").splitlines() == ["module 0: Gaudi (N/A), lost", "module 5: HL-225 (0000:19:00.0), free"]
    lines = smi().splitlines()
    assert cells(lines[2]) == ["0", "Gaudi", *["N/A"] * 5, "-"]
    assert lines[4] == "module 0 is lost; see `hpu doctor`"
    report = smi("--json")
    assert [module["is_lost"] for module in json.loads(report)["modules"]] == [True, False]
    assert job_modules.parse(report).holders == {5: ""}
    # HLML may also refuse the handle.
    handle_of = fake.hlmlDeviceGetHandleByIndex

    def refuse(index: int) -> int:
        if index == 1:
            raise HLMLError(hlml_machine.AIP_IS_LOST)
        return handle_of(index)

    monkeypatch.setattr(fake, "hlmlDeviceGetHandleByIndex", refuse)
    assert smi().splitlines()[2:] == lines[2:]


def test_utilisation_above_100_percent(fake: FakePyhlml, smi: Smi) -> None:
    fake.cards = {0: without(utilization_rates=104)}
    assert smi("-Q", "utilization.aip", "-f", "csv,noheader") == "100 %\n"


@pytest.mark.parametrize(
    ("function", "code", "message"),
    [
        ("hlmlInit", hlml_machine.DRIVER_NOT_LOADED, "HLML: driver not loaded; load the driver (lsmod"),
        ("hlmlInit", 1, "pyhlml cannot load /usr/lib/habanalabs/libhlml.so; install Gaudi's driver tools"),
        ("hlmlDeviceGetCount", 1, "HLML: uninitialized; check that hl-smi lists the cards"),
        ("hlmlDeviceGetHandleByIndex", 49, "HLML: unknown; check that hl-smi"),
        ("hlmlShutdown", 77, "HLML fails with status 77; check that hl-smi"),
    ],
)
def test_hlml_that_fails(function: str, code: int, message: str, fake: FakePyhlml, smi: Smi) -> None:
    fake.errors[function] = code
    line = smi(code=1)
    assert line.startswith(f"hpu smi: HPU_BACKEND=gaudi: cannot read the cards: {message}")
    assert line.count("\n") == 1
    assert fake.initialized == (function == "hlmlShutdown")


def test_without_pyhlml(monkeypatch: pytest.MonkeyPatch, smi: Smi) -> None:
    monkeypatch.setitem(sys.modules, "pyhlml", None)
    line = smi(code=1)
    assert line.endswith("cannot read the cards: the Python module pyhlml is missing; pip install habana-pyhlml\n")


def test_pyhlml_without_libhlml(monkeypatch: pytest.MonkeyPatch, smi: Smi, tmp_path: pathlib.Path) -> None:
    """pyhlml prints to stdout if it finds no library; `hpu smi` does not."""
    hlml_double.set_library(monkeypatch, tmp_path / "libhlml.so")
    assert "pyhlml cannot load" in smi("--json", code=1)


def test_a_driver_version_that_hlml_does_not_know(fake: FakePyhlml, smi: Smi, tmp_path: pathlib.Path) -> None:
    fake.errors["hlmlGetDriverVersion"] = 2
    assert smi("-Q", "driver_version", "-f", "csv,noheader") == "N/A\n"
    file = tmp_path / "class" / "accel0" / "device" / "driver_ver"
    file.parent.mkdir(parents=True)
    file.write_text("1.18.0-sysfs\n")
    assert smi("-Q", "driver_version", "-f", "csv,noheader") == "1.18.0-sysfs\n"


def test_auto(fake: FakePyhlml, monkeypatch: pytest.MonkeyPatch, devices: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """`auto` selects a Gaudi if the driver has a card, there is a device file, and SynapseAI can be loaded."""
    library = pathlib.Path(doubles.backend("1.18").partition(":")[2])
    gaudi_cards._has_synapse.cache_clear()
    assert gaudi_cards.is_selected("gaudi") and gaudi_cards.is_selected(f"gaudi:{library}")
    (devices / "accel" / "accel0").touch()  # of another driver
    assert not gaudi_cards.is_selected("auto")
    (tmp_path / "habanalabs" / "0000:19:00.0").mkdir(parents=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert not gaudi_cards.is_selected("auto")
    gaudi_cards._has_synapse.cache_clear()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library.parent))
    assert gaudi_cards.is_selected("auto") and not gaudi_cards.is_selected("emulator")
    gaudi_cards._has_synapse.cache_clear()
