"""The plugin's own figures of the device memory: memory_info(), and the lock file that `hpu smi` reads."""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import sys

from tests.nvidia.machine import FAKES, H100
from tests.pjrt import memory_statistics_programs as programs
from tests.pjrt.forwarding_plugin import MIB, build, with_forwarding_plugin
from tests.support.processes import ROOT, call_to, run, run_with_tensorflow

FIGURES = {"peak": 5 * MIB, "limit": 4096 * MIB, "largest_free_block": MIB, "pool": 64 * MIB, "allocations": 17}


@with_forwarding_plugin
def test_memory_info_and_smi_show_the_plugins_figures(tmp_path: pathlib.Path) -> None:
    environment = {"HPU_BACKEND": f"pjrt:{build(tmp_path)}", "HPU_MODULE_LOCK_DIR": str(tmp_path / "program")}
    done = run_with_tensorflow(call_to(programs.report_memory), environment)
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["acquired"]["reported"] == 3 * MIB
    assert {name: result["acquired"][f"reported_{name}"] for name in FIGURES} == FIGURES
    assert {result["unacquired"][f"reported_{name}"] for name in FIGURES} == {None}
    assert result["holder"] == {"in_use": 3 * MIB, **FIGURES}

    # This process holds a card with the program's lock file.
    locks = tmp_path / "locks"
    locks.mkdir(mode=0o700)
    with (locks / "cuda-0").open("w") as file:
        file.write(result["lock"].replace(result["lock"].partition("\n")[0], str(os.getpid()), 1))
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        card = {**H100, "processes": [[os.getpid(), 3 << 30]]}
        shown = {
            "HPU_BACKEND": "pjrt:cuda",
            "HPU_MODULE_LOCK_DIR": str(locks),
            "PYTHONPATH": f"{ROOT}:{FAKES}",
            "FAKE_NVML": json.dumps({"driver": "580.65.06", "cards": [card], "error": 0}),
        }
        command = [sys.executable, "-m", "habana_frameworks.tensorflow", "smi"]
        table, as_json = run(command, shown).stdout, run([*command, "--json"], shown).stdout
    assert "  memory by its plugin: in use 3 MiB, peak 5 MiB, limit 4096 MiB, largest free block 1 MiB\n" in table
    (process,) = json.loads(as_json)["modules"][0]["processes"]
    assert process["library_memory"] == {"in_use": 3 * MIB, **FIGURES}


def test_a_plugin_without_statistics_reports_no_figures() -> None:
    done = run_with_tensorflow(call_to(programs.report_nothing), {"HPU_BACKEND": "pjrt:cpu"})
    memory = json.loads(done.stdout.splitlines()[-1])
    assert memory["reported"] == 0
    assert {memory[f"reported_{name}"] for name in FIGURES} == {None}
