"""Recipes on disk: a second process compiles nothing and computes equal results.

plugin/recipes/*_test.cc tests the files: locks, damage, full disks.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Callable

import pytest

from tests.recipes import training_programs
from tests.recipes.conftest import Warm, run_training
from tests.support.processes import ROOT, WARM_PYTHON, call_to, start


def test_second_process_compiles_nothing(warm: Warm) -> None:
    first, second = warm.first, run_training(warm.cache)
    assert first["recipes"]["compiled"] == first["recipes"]["stored"] > 0
    assert second["recipes"]["compiled"] == 0
    assert second["recipes"]["disk_hits"] == first["recipes"]["compiled"]
    # Random numbers continue the program's sequence: a recipe does not contain their state.
    assert second["losses"] == first["losses"]
    assert len(set(first["losses"])) == 4
    assert {path.suffix for path in warm.cache.iterdir()} == {".recipe"}


def test_entries_of_other_programs_are_not_read(warm: Warm) -> None:
    """Opening a FIFO without a writer blocks, so the program would not end."""
    for digit in "0f":
        os.mkfifo(warm.cache / f"{digit * 64}.recipe")
    second = run_training(warm.cache)
    assert second["recipes"]["disk_hits"] == warm.first["recipes"]["compiled"]
    assert (second["recipes"]["compiled"], second["recipes"]["refused"]) == (0, 0)


def test_path_set_after_loading_and_unrelated_functions_traced_first(warm: Warm) -> None:
    before = call_to(training_programs.one_recipe_in, str(warm.cache))
    second = run_training(warm.cache, {"TF_RECIPE_CACHE_PATH": None}, before)
    assert second["recipes"]["disk_hits"] == warm.first["recipes"]["compiled"]
    assert second["recipes"]["compiled"] == second["recipes"]["stored"] == 1  # compiles only the new function
    assert second["losses"] == warm.first["losses"]


def test_directory_may_be_cleared_by_the_program(warm: Warm) -> None:
    before = call_to(training_programs.one_recipe_and_clear, str(warm.cache))
    second = run_training(warm.cache, before=before)
    assert second["recipes"]["disk_hits"] == 0
    assert second["recipes"]["compiled"] == second["recipes"]["stored"] == warm.first["recipes"]["compiled"] + 1


def test_other_compiler_settings_make_other_recipes(warm: Warm) -> None:
    second = run_training(warm.cache, {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"})
    assert second["recipes"]["compiled"] == warm.first["recipes"]["compiled"]
    assert second["recipes"]["disk_hits"] == 0


def test_damaged_entries_are_recompiled_and_reported_once(warm: Warm) -> None:
    for path in warm.cache.glob("*.recipe"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    second = run_training(warm.cache)
    count = warm.first["recipes"]["compiled"]
    assert (second["recipes"]["refused"], second["recipes"]["compiled"], second["recipes"]["stored"]) == (count,) * 3
    assert second["losses"] == warm.first["losses"]
    assert second["messages"].count("the checksum is wrong") == count


def test_threshold_keeps_small_recipes_out(tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "recipes"
    assert run_training(cache, {"HPU_RECIPE_CACHE_MIN_COMPILE_MS": "1000000"})["recipes"]["stored"] == 0


def test_read_only(warm: Warm) -> None:
    names = {path.name: path.stat().st_mtime_ns for path in warm.cache.iterdir()}
    before = call_to(training_programs.one_recipe)
    second = run_training(warm.cache, {"HPU_RECIPE_CACHE_READ_ONLY": "1"}, before)
    assert second["recipes"]["disk_hits"] == warm.first["recipes"]["compiled"]
    assert {path.name: path.stat().st_mtime_ns for path in warm.cache.iterdir()} == names


def test_changed_sources_make_another_version(tmp_path: pathlib.Path) -> None:
    def version() -> str:
        arguments = [f"-Ddirectory={tmp_path}", f"-Dheader={tmp_path}/hash.h"]
        subprocess.run(["cmake", *arguments, "-P", str(ROOT / "cmake" / "SourceHash.cmake")], check=True)
        return (tmp_path / "hash.h").read_text()

    source = tmp_path / "plugin" / "passes" / "some_pass.cc"
    source.parent.mkdir(parents=True)
    versions = []
    for text in ("int a;", "int b;", "int a;"):
        source.write_text(text)
        versions.append(version())
    source.with_name("some_pass_test.cc").touch()
    assert version() == versions[0]
    source.rename(source.with_name("other_pass.cc"))
    versions.append(version())
    assert versions[0] == versions[2] and len(set(versions)) == 3


@pytest.mark.parametrize(
    ("name", "before", "reason"),
    [
        ("a file", training_programs.one_recipe, "Not a directory"),
        ("new", training_programs.one_recipe_with_small_files, "large"),
    ],
)
def test_a_place_that_cannot_be_written_costs_one_warning(
    first_run: Warm, tmp_path: pathlib.Path, name: str, before: Callable[[], None], reason: str
) -> None:
    (tmp_path / "a file").touch()
    done = run_training(tmp_path / name, before=call_to(before))
    # On a card, the order of additions may change between processes.
    assert done["losses"] == pytest.approx(first_run.first["losses"], rel=1e-6)
    assert (done["recipes"]["compiled"], done["recipes"]["stored"]) == (first_run.first["recipes"]["compiled"] + 1, 0)
    (warning,) = [line for line in done["messages"].splitlines() if "Recipe cache: " in line]
    assert reason in warning and "recipes are compiled but not cached" in warning


def test_processes_that_start_together_compile_each_recipe_once(tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "recipes"
    program = call_to(training_programs.train)
    environment = {
        "TF_RECIPE_CACHE_PATH": str(cache),
        "HPU_MODULE_LOCK_DIR": str(tmp_path / "modules"),  # this process may hold one of the eight modules
    }
    processes = [start([WARM_PYTHON, "-c", program], environment, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    try:
        outputs = [json.loads(process.communicate(timeout=200)[0].splitlines()[-1]) for process in processes]
    finally:
        for process in processes:
            process.kill()
    compiled = [output["recipes"]["compiled"] for output in outputs]
    assert sum(compiled) == len(list(cache.glob("*.recipe"))) > 0, compiled
    assert len({tuple(output["losses"]) for output in outputs}) == 1
    assert {path.suffix for path in cache.iterdir()} == {".recipe"}
