"""What a program has learned of sizes that change is kept beside its recipes, and the next process begins with it."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import pytest

from habana_frameworks.tensorflow import recipe_store
from tests.recipes import notes_programs
from tests.support.processes import call_to, run_with_tensorflow

SIZES = [9, 10, 5, 16, 11, 6, 13, 12, 15, 7]
SETTINGS: dict[str, str | None] = {
    "HPU_RECIPE_CACHE_MIN_COMPILE_MS": "0",
    "HPU_COMPILE_MODE": "auto",
    "TF_CPU_RUNTIME_FALLBACK": "allow",
    "TF_CPP_MIN_LOG_LEVEL": "1",
}
BOUNDED: dict[str, str | None] = {"HPU_COMPILE_MODE": "strict", "TF_ENABLE_DYNAMIC_SHAPES": "1"}


def run(cache: pathlib.Path, sizes: list[int] = SIZES, environment: dict[str, str | None] | None = None) -> Any:
    variables = {**SETTINGS, "TF_RECIPE_CACHE_PATH": str(cache), **(environment or {})}
    done = run_with_tensorflow(call_to(notes_programs.train, sizes), variables)
    return {**json.loads(done.stdout.splitlines()[-1]), "messages": done.stderr}


def notes(cache: pathlib.Path) -> list[pathlib.Path]:
    return sorted(cache.glob("*.notes"))


@pytest.fixture(scope="module")
def expected() -> list[float]:
    done = run_with_tensorflow(call_to(notes_programs.train_on_cpu, SIZES), SETTINGS)
    return list(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture
def filled(tmp_path: pathlib.Path) -> pathlib.Path:
    """A cache with the bounded recipes of all sizes."""
    cache = tmp_path / "recipes"
    first = run(cache, environment=BOUNDED)
    assert first["compiled"] > 3 and first["padded"] == len(SIZES) - 1
    return cache


def test_the_next_process_uses_bounded_recipes_at_once(filled: pathlib.Path, expected: list[float]) -> None:
    assert len(notes(filled)) == 1
    second = run(filled)
    assert second["reasons"] == {} and second["compiled"] == 0, second
    assert second["padded"] == second["launches"] == len(SIZES)
    assert second["losses"] == pytest.approx(expected, rel=1e-5)
    other = run(filled, [14, 8, 10])  # other sizes of the same ranges
    assert (other["compiled"], other["padded"]) == (0, 3)


def test_a_range_without_a_recipe_runs_on_the_cpu_first(filled: pathlib.Path) -> None:
    second = run(filled, [10, 100, 11])
    assert (second["padded"], second["reasons"]) == (2, {"new-shape": 1})


def test_a_recipe_that_is_gone(filled: pathlib.Path, expected: list[float]) -> None:
    for path in filled.glob("*.recipe"):
        path.unlink()
    second = run(filled)
    assert second["disk_hits"] == 0 and second["compiled"] >= 1
    assert second["losses"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", ["cut", "changed", "empty", "directory", "writable by others"])
def test_damaged_notes_are_ignored(kind: str, filled: pathlib.Path, expected: list[float]) -> None:
    (path,) = notes(filled)
    data = path.read_bytes()
    if kind == "cut":
        path.write_bytes(data[:-40])
    elif kind == "changed":
        path.write_bytes(data[:-40] + bytes([data[-40] ^ 1]) + data[-39:])
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "directory":
        path.unlink()
        path.mkdir()
    else:
        path.chmod(0o666)
    second = run(filled)
    assert second["losses"] == pytest.approx(expected, rel=1e-5)
    assert second["reasons"].keys() <= {"new-shape", "compiling"} and second["reasons"]


def test_times_on_the_cpu_add_up_over_processes(tmp_path: pathlib.Path) -> None:
    environment = {**SETTINGS, "TF_RECIPE_CACHE_PATH": str(tmp_path / "recipes")}
    done = run_with_tensorflow(call_to(notes_programs.keep, [40, 41, 42]), environment)
    assert json.loads(done.stdout.splitlines()[-1])["turns"] > 1


def test_notes_are_kept_only_where_sizes_change(tmp_path: pathlib.Path) -> None:
    run(tmp_path / "fixed", [8, 8, 8])
    assert not notes(tmp_path / "fixed")
    run(tmp_path / "changing", [8, 9])
    assert len(notes(tmp_path / "changing")) == 1
    run(tmp_path / "changing", [8, 9], {"HPU_RECIPE_CACHE_READ_ONLY": "1"})
    run(tmp_path / "absent", [8, 9], {"HPU_RECIPE_CACHE_READ_ONLY": "1"})
    assert not (tmp_path / "absent").exists()


def test_recipes_used_longest_ago_are_dropped() -> None:
    """The device computes nothing, so that thousands of recipes take seconds."""
    environment: dict[str, str | None] = {
        "HPU_BACKEND": "null",
        "HPU_COMPILE_MODE": "strict",
        "TF_RECIPE_CACHE_PATH": None,
    }
    done = run_with_tensorflow(call_to(notes_programs.use_many, 2600, 100), environment)
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["kept"] <= 2100 and (counts["often"], counts["long ago"]) == (0, 1), counts


def test_a_bundle_carries_the_notes(filled: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "key").write_bytes(os.urandom(32))
    (tmp_path / "key").chmod(0o600)
    key, other = recipe_store.SigningKey(tmp_path / "key"), tmp_path / "other"
    exported = recipe_store.export_bundle(filled, tmp_path / "bundle", key)
    imported = recipe_store.import_bundle(other, tmp_path / "bundle", key)
    assert len(exported.entries) == len(imported.entries) == len(list(filled.glob("*.recipe"))) > 3
    assert [path.read_bytes() for path in notes(other)] == [path.read_bytes() for path in notes(filled)]
    second = run(other)
    assert (second["compiled"], second["padded"]) == (0, len(SIZES))


def test_a_full_cleaning_removes_the_notes(filled: pathlib.Path) -> None:
    recipes = len(list(filled.glob("*.recipe")))
    assert recipe_store.clean(filled, max_bytes=0).entries == recipes
    assert not notes(filled)
