"""`hpu warmup`: its directory contains all recipes of the program, and its limits stop the program."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

from tests.support.processes import WARM_PYTHON, run

COMMAND = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "warmup"]
SCRIPT = pathlib.Path(__file__).parent / "programs" / "steps.py"
FOR_EVER = 10**6


def warmup(*arguments: object, **environment: str | None) -> subprocess.CompletedProcess[str]:
    return run([*COMMAND, *map(str, arguments)], {"TF_RECIPE_CACHE_PATH": None, **environment}, check=False)


def as_json(*arguments: object, code: int = 0, **environment: str | None) -> Any:
    done = warmup("--json", *arguments, **environment)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_second_run_finds_all(tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "recipes"
    # Settings that would prevent storing recipes.
    settings: dict[str, Any] = {"HPU_COMPILE_MODE": "never", "HPU_RECIPE_CACHE_READ_ONLY": "1"}
    first = as_json("--path", cache, SCRIPT, 6, 0, **settings)
    assert first["compiled"] == len(first["made"]) == 2 and first["not_kept"] == 0 and first["stopped"] == ""
    assert {entry["key"] for entry in first["made"]} == {path.stem for path in cache.glob("*.recipe")}
    done = warmup(SCRIPT, 6, 0, TF_RECIPE_CACHE_PATH=str(cache))
    assert done.returncode == 0 and done.stdout == "the end\n"
    assert f"0 recipes compiled, 2 found in {cache}" in done.stderr


def test_stops_after_steps(tmp_path: pathlib.Path) -> None:
    outcome = as_json("--path", tmp_path / "recipes", "--steps", 10, SCRIPT, FOR_EVER, 0)
    assert len(outcome["made"]) == 2 and outcome["stopped"] == "a cluster was launched 10 times"


def test_stops_when_idle(tmp_path: pathlib.Path) -> None:
    outcome = as_json("--path", tmp_path / "recipes", "--idle", 4, SCRIPT, FOR_EVER, 0)
    assert len(outcome["made"]) == 2 and outcome["stopped"] == "no new recipe for 4 s"


def test_exit_codes(tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "recipes"
    assert as_json("--path", cache, SCRIPT, 0, 0, code=3)["made"] == []
    assert len(as_json("--path", cache, SCRIPT, 1, 5, code=5)["made"]) == 1
    not_kept: dict[str, Any] = {"HPU_RECIPE_CACHE_MIN_COMPILE_MS": "1000000"}
    assert as_json("--path", tmp_path / "other", SCRIPT, 1, 0, code=1, **not_kept)["not_kept"] == 1


def test_usage(tmp_path: pathlib.Path) -> None:
    assert "TF_RECIPE_CACHE_PATH" in warmup(SCRIPT).stderr
    assert "no program at" in warmup("--path", tmp_path, tmp_path / "nowhere.py").stderr
    for arguments in ((SCRIPT,), ("--path", tmp_path, "nowhere.py"), ("--path", tmp_path, "--steps", "0", SCRIPT)):
        assert warmup(*arguments).returncode == 2


def test_sizes_that_change_share_bounded_recipes(tmp_path: pathlib.Path) -> None:
    program = pathlib.Path(__file__).parents[1] / "check" / "programs" / "thirty_batch_sizes.py"
    assert as_json("--path", tmp_path / "auto", program, HPU_COMPILE_MODE="auto")["compiled"] == 8
    assert as_json("--path", tmp_path / "strict", program, HPU_COMPILE_MODE="strict")["compiled"] == 30
