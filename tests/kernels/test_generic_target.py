"""HPU_EMULATOR_TARGET=generic: results and recipes are independent of CPU features beyond baseline x86-64."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping

from tests.kernels import generic_target_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

# Disables CPU features for the C library and oneDNN, which select code by CPU.
_LESS = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX2_Usable,-FMA_Usable,-AVX512F_Usable",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
}


def _digests(cache: pathlib.Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns a digest of each result, and under "recipe" the name of the recipe."""
    cache.mkdir()
    settings = {
        "HPU_EMULATOR_TARGET": "generic",
        "HPU_EMULATOR_THREADS": "2",
        "TF_RECIPE_CACHE_PATH": str(cache),
        "TF_ENABLE_ONEDNN_OPTS": "1",
        **environment,
    }
    output = run_with_tensorflow(call_to(programs.digests), settings, timeout=200).stdout
    digests: dict[str, str] = json.loads(output.splitlines()[-1])
    (recipe,) = cache.rglob("*.recipe")
    return {**digests, "recipe": recipe.name}


def test_numbers_are_those_of_a_lesser_processor(tmp_path: pathlib.Path) -> None:
    here, less = _digests(tmp_path / "here", {}), _digests(tmp_path / "less", _LESS)
    # The native target must select different code on any CPU with AVX2.
    if " avx2 " in pathlib.Path("/proc/cpuinfo").read_text():
        assert here["on the CPU"] != less["on the CPU"]
    del here["on the CPU"], less["on the CPU"]
    assert here == less
