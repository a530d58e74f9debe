"""`hpu smi` for NVIDIA cards, with a fake of NVML."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import importlib.util
import json
import os
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.nvidia.machine import FAKES, GIB, H100
from tests.support.processes import ROOT, run

UNKNOWN_FIGURES = {"name": "NVIDIA GB10"}


def smi(
    *arguments: str,
    cards: Sequence[dict[str, Any]] = (H100,),
    error: int = 0,
    python_path: Sequence[pathlib.Path] = (ROOT, FAKES),
    backend: str = "pjrt:cuda",
    code: int = 0,
) -> str:
    environment = {
        "HPU_BACKEND": backend,
        "PYTHONPATH": os.pathsep.join(map(str, python_path)),
        "FAKE_NVML": json.dumps({"driver": "580.65.06", "cards": cards, "error": error}),
    }
    done = run([sys.executable, "-m", "habana_frameworks.tensorflow", "smi", *arguments], environment, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_table() -> None:
    pid = os.getpid()
    busy = {**H100, "processes": [[999999999, None], [pid, 3 * GIB]]}
    lines = smi(cards=(busy, UNKNOWN_FIGURES)).splitlines()
    assert lines[0].endswith("  HPU_BACKEND=pjrt:cuda")
    heads = ["module", "model", "memory used", "memory", "utilisation", "temperature", "power", "process"]
    assert [cell.strip() for cell in lines[1].split("  ") if cell.strip()] == heads
    cells = [cell.strip() for cell in lines[2].split("  ") if cell.strip()]
    figures = ["2048 MiB", "81920 MiB", "87 %", "61 C", "412 W"]
    assert cells == ["0", "NVIDIA H100 80GB HBM3", *figures, f"{pid},999999999"]
    assert [cell.strip() for cell in lines[3].split("  ") if cell.strip()] == ["1", "NVIDIA GB10", *["N/A"] * 5, "-"]
    assert lines[4].startswith(f"module 0 is used by process {pid} (3072 MiB): ") and "python" in lines[4]
    assert lines[5:] == ["module 0 is used by process 999999999 (N/A): N/A"]


def test_json() -> None:
    report = json.loads(smi("--json", cards=({**H100, "processes": [[1, GIB]]},)))
    (module,) = report["modules"]
    assert report["server"] is None
    assert (module["type"], module["memory_used"], module["memory_total"]) == (H100["name"], 2 * GIB, 80 * GIB)
    assert (module["utilization"], module["temperature_celsius"]) == (0.87, 61)
    assert not module["temperature_is_emulated"]
    assert (module["power_watts"], module["power_limit_watts"]) == (412.3, 700)
    assert (module["bus_id"], module["uuid"]) == ("00000000:00:00.0", "GPU-0")
    assert module["driver_version"] == "580.65.06"
    assert [(process["pid"], process["memory_used"]) for process in module["processes"]] == [(1, GIB)]
    assert module["holder"]["pid"] == 1
    (module,) = json.loads(smi("--json", cards=(UNKNOWN_FIGURES,)))["modules"]
    assert module["holder"] is module["utilization"] is module["power_watts"] is module["memory_total"] is None


def test_queries() -> None:
    names = "index,name,bus_id,uuid,driver_version,memory.free,utilization.aip,temperature.aip,power.draw,power.limit"
    head, first = csv.reader(smi("-Q", names, "--format=csv").splitlines(), skipinitialspace=True)
    assert head[5:8] == ["memory.free [MiB]", "utilization.aip [%]", "temperature.aip [C]"]
    assert head[8:] == ["power.draw [W]", "power.limit [W]"]
    assert first[:5] == ["0", H100["name"], "00000000:00:00.0", "GPU-0", "580.65.06"]
    assert first[5:] == ["79872 MiB", "87 %", "61 C", "412.3 W", "700.0 W"]


def test_list_and_details() -> None:
    cards = ({**H100, "processes": [[999999999, GIB]]}, H100)
    assert smi("-L", cards=cards).splitlines() == [
        "module 0: NVIDIA H100 80GB HBM3 (00000000:00:00.0), used by process 999999999",
        "module 1: NVIDIA H100 80GB HBM3 (00000000:01:00.0), free",
    ]
    details = smi("-q", "-i", "00000000:00:00.0", cards=cards)
    assert "412 W of 700 W" in details and "process 999999999: 1024 MiB, N/A" in details
    assert "module 1" not in details


@contextlib.contextmanager
def held(directory: pathlib.Path, lines: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """Lock files as processes that hold cards write them: pid, command, status."""
    with contextlib.ExitStack() as stack:
        for name, text in lines.items():
            file = stack.enter_context((directory / name).open("w"))
            print(*text, sep="\n", file=file, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_memory_by_the_plugins_of_holders(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By process id, or by the module's number if NVML does not list the process, as in a container."""
    monkeypatch.setenv("HPU_MODULE_LOCK_DIR", str(tmp_path))
    status = json.dumps({"in_use": 3 << 20, "limit": 8 << 20, "of_a_later_release": 1})
    locks = {
        "cuda-0": ["999994711", "python train.py", status],  # NVML lists it on card 1
        "cuda-2": ["999994712", "python eval.py", status],
        "cuda-3": ["999994713", "python start.py"],
        "cuda-1a2b-3": ["999994714", "python uuid.py", status],  # its number is not the card's
        "module-0": ["999994715", "python emulated.py", status],
    }
    cards = (H100, {**H100, "processes": [[999994711, GIB]]}, H100, H100)
    with held(tmp_path, locks):
        lines = smi(cards=cards).splitlines()
        details = smi("-q", "-i", "2", cards=cards)
    figures = "memory by its plugin: in use 3 MiB, peak N/A, limit 8 MiB"
    assert lines[6:] == [
        "module 1 is used by process 999994711 (1024 MiB): N/A",
        f"  {figures}",
        "module 2 is used by process 999994712 (N/A): python eval.py",
        f"  {figures}",
        "module 3 is used by process 999994713 (N/A): python start.py",
    ]
    assert f"process 999994712: N/A, python eval.py\n    {figures}" in details
    assert smi(cards=(H100,)).count("is used by") == 0  # the files are unlocked


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (9, "NVML: Driver Not Loaded; install NVIDIA's driver"),
        (18, "NVML: Driver/library version mismatch; restart the machine"),
    ],
)
def test_nvml_that_fails(error: int, message: str) -> None:
    line = smi(error=error, code=1)
    assert line.startswith(f"hpu smi: HPU_BACKEND=pjrt:cuda: cannot read the cards: {message}")
    assert line.count("\n") == 1


@pytest.mark.skipif(importlib.util.find_spec("pynvml") is not None, reason="nvidia-ml-py is installed")
def test_without_nvml() -> None:
    line = smi(python_path=[ROOT], code=1)
    assert line.endswith("cannot read the cards: the Python module pynvml is missing; pip install nvidia-ml-py\n")


def test_plugins_for_other_devices_have_no_cards() -> None:
    assert "HPU_BACKEND=pjrt:cpu has no observable modules" in smi(backend="pjrt:cpu", code=1)
