"""Recipes on disk of several plugins: each plugin loads its own recipes only."""

from __future__ import annotations

import importlib.util
import pathlib

import pytest

from tests.recipes.conftest import run_training


def plugin(package: str, name: str) -> pathlib.Path:
    """Returns the plugin in an installed package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"the package {package} is not installed")
    return pathlib.Path(spec.submodule_search_locations[0]) / name


def test_other_plugins_and_other_builds_compile_their_own_recipes(tmp_path: pathlib.Path) -> None:
    file = plugin("lammps_jax_pjrt_cpu", "pjrt_c_api_cpu_plugin.so")
    other_build = tmp_path / file.name
    other_build.write_bytes(file.read_bytes() + b"\0")
    copy = tmp_path / "copy" / file.name
    copy.parent.mkdir()
    copy.write_bytes(file.read_bytes())
    cache = tmp_path / "recipes"
    hits = {}
    for path in (file, plugin("xla_plugins.xla_cpu_pjrt", "xla_cpu_pjrt.so"), other_build, copy):
        recipes = run_training(cache, {"HPU_BACKEND": f"pjrt:{path}"})["recipes"]
        assert recipes["refused"] == 0 and recipes["compiled"] + recipes["disk_hits"] > 0
        hits[path] = recipes["disk_hits"]
        assert recipes["compiled"] == 0 or recipes["disk_hits"] == 0
    assert [path for path, count in hits.items() if count > 0] == [copy]
