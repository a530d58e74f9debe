"""`hpu warmup`: what it leaves is all that the program needs, and it stops when it is told to."""

from __future__ import annotations

import json
import pathlib
import subprocess
import textwrap
from typing import Any

import pytest

from tests.support.processes import WARM_PYTHON, run

COMMAND = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "warmup"]
PROGRAM = """
    import sys, time
    import habana_frameworks.tensorflow as htf
    htf.load_habana_module()
    import tensorflow as tf

    @tf.function
    def step(x):
        return tf.reduce_sum(x * 2.0)

    for i in range(int(sys.argv[1])):
        step(tf.constant([1.0] * (3 + (i > 2))))
        time.sleep(0.02)
    print("the end")
    sys.exit(int(sys.argv[2]))
"""
FOR_EVER = 10**6


@pytest.fixture
def script(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    return path


def warmup(*arguments: object, **environment: str | None) -> subprocess.CompletedProcess[str]:
    return run([*COMMAND, *map(str, arguments)], {"TF_RECIPE_CACHE_PATH": None, **environment}, check=False)


def as_json(*arguments: object, code: int = 0, **environment: str | None) -> Any:
    done = warmup("--json", *arguments, **environment)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_second_run_finds_all(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "recipes"
    # Which would keep nothing.
    settings: dict[str, Any] = {"HPU_COMPILE_MODE": "never", "HPU_RECIPE_CACHE_READ_ONLY": "1"}
    first = as_json("--path", cache, script, 6, 0, **settings)
    assert first["compiled"] == len(first["made"]) == 2 and first["not_kept"] == 0 and first["stopped"] == ""
    assert {entry["key"] for entry in first["made"]} == {path.stem for path in cache.glob("*.recipe")}
    done = warmup(script, 6, 0, TF_RECIPE_CACHE_PATH=str(cache))
    assert done.returncode == 0 and done.stdout == "the end\n"
    assert f"0 recipes compiled, 2 found in {cache}" in done.stderr


def test_stops_after_steps(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outcome = as_json("--path", tmp_path / "recipes", "--steps", 10, script, FOR_EVER, 0)
    assert len(outcome["made"]) == 2 and outcome["stopped"].startswith("a cluster was launched ")


def test_stops_when_idle(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outcome = as_json("--path", tmp_path / "recipes", "--idle", 4, script, FOR_EVER, 0)
    assert len(outcome["made"]) == 2 and outcome["stopped"] == "no new recipe for 4 s"


def test_exit_codes(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "recipes"
    assert as_json("--path", cache, script, 0, 0, code=3)["made"] == []
    assert len(as_json("--path", cache, script, 1, 5, code=5)["made"]) == 1
    not_kept: dict[str, Any] = {"HPU_RECIPE_CACHE_MIN_COMPILE_MS": "1000000"}
    assert as_json("--path", tmp_path / "other", script, 1, 0, code=1, **not_kept)["not_kept"] == 1


def test_usage(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert "TF_RECIPE_CACHE_PATH" in warmup(script).stderr
    assert "no program at" in warmup("--path", tmp_path, tmp_path / "nowhere.py").stderr
    for arguments in ((script,), ("--path", tmp_path, "nowhere.py"), ("--path", tmp_path, "--steps", "0", script)):
        assert warmup(*arguments).returncode == 2
