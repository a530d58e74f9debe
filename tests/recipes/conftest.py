"""Fixtures for tests of recipes: a private cache directory, and a program that compiles a few recipes."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
from collections.abc import Mapping
from typing import Any

import pytest

from tests.recipes import training_programs
from tests.support.processes import call_to, run_with_tensorflow


def run_training(cache: pathlib.Path, environment: Mapping[str, str | None] | None = None, before: str = "") -> Any:
    """Runs `before` and train() in one new process. Returns the output, with stderr as "messages"."""
    variables: dict[str, str | None] = {"TF_RECIPE_CACHE_PATH": str(cache), "TF_CPP_MIN_LOG_LEVEL": "1"}
    done = run_with_tensorflow(before + call_to(training_programs.train), {**variables, **(environment or {})})
    return {**json.loads(done.stdout.splitlines()[-1]), "messages": done.stderr}


@dataclasses.dataclass(frozen=True)
class Warm:
    """Results of a first process, and the cache directory that it filled."""

    cache: pathlib.Path
    first: dict[str, Any]

    def copy(self, cache: pathlib.Path) -> Warm:
        shutil.copytree(self.cache, cache)
        return Warm(cache, self.first)


@pytest.fixture(scope="session")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Warm:
    cache = tmp_path_factory.mktemp("first") / "recipes"
    return Warm(cache, run_training(cache))


@pytest.fixture
def warm(first_run: Warm, tmp_path: pathlib.Path) -> Warm:
    """Copy of the filled cache directory for one test."""
    return first_run.copy(tmp_path / "recipes")


@pytest.fixture(scope="session")
def several_run(tmp_path_factory: pytest.TempPathFactory) -> Warm:
    """Results of a first process with two more clusters, so three recipes."""
    cache = tmp_path_factory.mktemp("several") / "recipes"
    return Warm(cache, run_training(cache, before=call_to(training_programs.two_recipes)))


@pytest.fixture
def several(several_run: Warm, tmp_path: pathlib.Path) -> Warm:
    """Copy of the cache directory with three recipes, for one test."""
    return several_run.copy(tmp_path / "several")
