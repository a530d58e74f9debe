"""Recipes on disk of several plugins: each plugin loads its own recipes only."""

from __future__ import annotations

import pathlib

import pytest

from tests.pjrt.cpu_plugins import LAMMPS, XLA
from tests.recipes.conftest import run_training


@pytest.mark.skipif(not (XLA.exists() and LAMMPS.exists()), reason="needs both plugins for the CPU")
def test_other_plugins_and_other_builds_compile_their_own_recipes(tmp_path: pathlib.Path) -> None:
    file = LAMMPS
    other_build = tmp_path / file.name
    other_build.write_bytes(file.read_bytes() + b"\0")
    copy = tmp_path / "copy" / file.name
    copy.parent.mkdir()
    copy.write_bytes(file.read_bytes())
    cache = tmp_path / "recipes"
    hits = {}
    for path in (file, XLA, other_build, copy):
        recipes = run_training(cache, {"HPU_BACKEND": f"pjrt:{path}"})["recipes"]
        assert recipes["refused"] == 0 and recipes["compiled"] + recipes["disk_hits"] > 0
        hits[path] = recipes["disk_hits"]
        assert recipes["compiled"] == 0 or recipes["disk_hits"] == 0
    assert [path for path, count in hits.items() if count > 0] == [copy]
