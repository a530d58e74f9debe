"""The line that describes the HPU at load."""

from __future__ import annotations

import types

import pytest

from habana_frameworks.tensorflow._internal import load_notice
from tests.python import load_notice_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

EMULATOR: dict[str, str | None] = {
    "HPU_BACKEND": "emulator",
    "HPU_MEMORY_MB": "2560",
    "HLS_MODULE_ID": "3",
    "TF_RECIPE_CACHE_PATH": "/nowhere/recipes",
}
LINE = "HPU: emulated GAUDI2, module 3, 2.5 GB; recipes in /nowhere/recipes\n"


@pytest.mark.parametrize(
    ("prompt", "log", "quiet", "expected"),
    [
        (True, False, "0", LINE),
        (True, False, "1", ""),
        (False, False, "0", ""),
        (True, True, "0", f"INFO:habana_frameworks.tensorflow._internal.load_notice:{LINE}"),
    ],
)
def test_who_sees_it(prompt: bool, log: bool, quiet: str, expected: str) -> None:
    done = run_with_tensorflow(call_to(programs.load, prompt, log=log), {**EMULATOR, "HPU_QUIET": quiet})
    assert done.stderr == expected


@pytest.mark.parametrize("quiet", ["0", "1"])
def test_a_device_that_computes_nothing_says_so(quiet: str) -> None:
    done = run_with_tensorflow(call_to(programs.load, False), {**EMULATOR, "HPU_BACKEND": "null", "HPU_QUIET": quiet})
    assert ("HPU_BACKEND=null: the device computes nothing, and all its results are 0" in done.stderr) == (quiet == "0")


def test_what_is_unknown_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in EMULATOR:
        monkeypatch.delenv(name, raising=False)
    memory_only = "; recipes in memory only (TF_RECIPE_CACHE_PATH is not set)"
    assert load_notice.describe(_info("emulator", 8)) == f"HPU: emulated GAUDI2, any of 8 modules, 96 GB{memory_only}"
    assert load_notice.describe(_info("gaudi", 1)) == f"HPU: gaudi, module 0{memory_only}"
    assert load_notice.describe(_info("pjrt:/plugin.so", 0)) == f"HPU: pjrt:/plugin.so{memory_only}"


def _info(backend: str, modules: int) -> types.SimpleNamespace:
    return types.SimpleNamespace(backend=backend, modules=modules)
