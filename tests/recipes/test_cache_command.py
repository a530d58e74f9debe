"""`hpu cache`: exit code, JSON and effect of each command on real recipes."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pathlib
import subprocess
import sys
from typing import Any
from unittest import mock

import pytest

from habana_frameworks.tensorflow.cli import main
from tests.recipes import training_programs
from tests.recipes.conftest import Warm, run_training
from tests.support.processes import call_to, own_lines, run

COMMAND = [sys.executable, "-m", "habana_frameworks.tensorflow", "cache"]


def hpu_cache(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in this process, because starting a process takes much longer than the command."""
    command = ["cache", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        if "TF_RECIPE_CACHE_PATH" not in environment:
            os.environ.pop("TF_RECIPE_CACHE_PATH", None)
        try:
            code = main(command)
        except SystemExit as end:
            assert isinstance(end.code, int)
            code = end.code
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())


def hpu_cache_alone(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a new process, as users do."""
    return run([*COMMAND, *map(str, arguments)], {"TF_RECIPE_CACHE_PATH": None, **environment}, check=False)


def as_json(*arguments: object, code: int = 0) -> Any:
    done = hpu_cache(*arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def entry_files(cache: pathlib.Path) -> list[pathlib.Path]:
    return sorted(cache.glob("*.recipe"))


def flip_a_byte(path: pathlib.Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_ls(several: Warm) -> None:
    entries = as_json("ls", "--path", several.cache)["entries"]
    assert sorted(entry["key"] + ".recipe" for entry in entries) == [path.name for path in entry_files(several.cache)]
    step = next(entry for entry in entries if "step" in entry["cluster"])
    assert step["bytes"] == (several.cache / f"{step['key']}.recipe").stat().st_size > step["payload_bytes"] > 0
    assert step["ops"] > 10 and step["compile_seconds"] > 0
    assert step["backend"] == os.environ.get("HPU_BACKEND", "emulator").partition(":")[0]
    assert "float32[16,4]" in step["arguments"] and step["problem"] == ""
    text = hpu_cache_alone("ls", "step", TF_RECIPE_CACHE_PATH=str(several.cache))
    (line,) = text.stdout.splitlines()[1:]
    assert step["cluster"] in line and step["key"][:12] in line and own_lines(text.stderr) == ""


def test_listing_changes_nothing(several: Warm) -> None:
    files = {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in several.cache.iterdir()}
    for command in ("ls", "stat", "verify"):
        assert hpu_cache_alone(command, "--path", several.cache).returncode == 0
    assert {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in several.cache.iterdir()} == files


def test_stat(several: Warm) -> None:
    files = entry_files(several.cache)
    flip_a_byte(files[0])
    (several.cache / "x.damaged").touch()
    totals = as_json("stat", "--path", several.cache)
    assert totals["bytes"] == sum(path.stat().st_size for path in files)
    counts = (totals["entries"], totals["fitting"], totals["unusable"], totals["damaged"])
    assert counts == (len(files), len(files) - 1, 1, 1)


def test_verify_lists_unloadable_entries(several: Warm) -> None:
    assert as_json("verify", "--path", several.cache)["refused"] == {}
    files = entry_files(several.cache)
    flip_a_byte(files[0])
    assert as_json("verify", "--path", several.cache, code=1)["refused"] == {files[0].stem: "the checksum is wrong"}
    files[1].chmod(0o666)
    refused = as_json("verify", "--path", several.cache, code=1)["refused"]
    assert "can be written by other users" in refused[files[1].stem]
    # Simulates a damaged file system: the file claims to be larger than memory.
    os.truncate(files[0], 1 << 42)
    refused = as_json("verify", "--path", several.cache, code=1)["refused"]
    assert "a recipe has at most" in refused[files[0].stem]
    (several.cache / f"{'0' * 64}.recipe").write_bytes(files[2].read_bytes())
    refused = as_json("verify", "--path", several.cache, code=1)["refused"]
    assert "does not match its key" in refused["0" * 64]


def test_gc_by_size_removes_the_least_recently_used(several: Warm) -> None:
    files = entry_files(several.cache)
    for age, path in enumerate(files):
        os.utime(path, (1e9 - age, 1e9 - age))
    (several.cache / ".tmp-1-2-x").write_text("part")
    (several.cache / "x.lock").touch()
    (several.cache / "x.damaged").touch()
    done = as_json("gc", "--path", several.cache, "--max-mb", 0)
    assert done["entries"] == len(files) and done["leftovers"] == 2 and done["damaged"] == 1
    assert entry_files(several.cache) == [] and as_json("ls", "--path", several.cache)["entries"] == []


def test_gc_by_age(several: Warm) -> None:
    files = entry_files(several.cache)
    os.utime(files[1], (1e9, 1e9))
    assert as_json("gc", "--path", several.cache)["entries"] == 0
    assert as_json("gc", "--path", several.cache, "--max-age", "30d")["entries"] == 1
    assert entry_files(several.cache) == [path for path in files if path != files[1]]


def test_gc_bound_of_the_setting(several: Warm) -> None:
    big = several.cache / f"{'0' * 64}.recipe"
    big.write_bytes(bytes(2 << 20))
    os.utime(big, (1e9, 1e9))
    assert hpu_cache("gc", "--path", several.cache, HPU_RECIPE_CACHE_MAX_MB="1").returncode == 0
    assert not big.exists() and entry_files(several.cache)


def test_gc_keeps_entries_that_are_being_read(several: Warm) -> None:
    first = entry_files(several.cache)[0]
    with first.open("rb") as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        done = as_json("gc", "--path", several.cache, "--max-mb", 0, code=1)
    assert done["in_use"] == 1 and entry_files(several.cache) == [first]


def test_gc_beside_another(several: Warm) -> None:
    with (several.cache / ".eviction.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert as_json("gc", "--path", several.cache, "--max-mb", 0, code=1)["busy"]
    assert entry_files(several.cache)


def test_clear_asks(several: Warm) -> None:
    refused = hpu_cache("clear", "--path", several.cache)
    assert refused.returncode == 2 and "--yes" in refused.stderr and entry_files(several.cache)
    assert as_json("clear", "--path", several.cache, "--yes")["entries"] > 0
    assert entry_files(several.cache) == []


def test_clear_takes_the_answer(several: Warm) -> None:
    # Uses a pseudo-terminal whose input is typed in advance.
    for answer, code in ((b"n\n", 1), (b"y\n", 0)):
        controller, terminal = os.openpty()
        os.write(controller, answer)
        done = subprocess.run([*COMMAND, "clear", "--path", str(several.cache)], stdin=terminal, timeout=60)
        os.close(controller)
        os.close(terminal)
        assert done.returncode == code
        assert bool(entry_files(several.cache)) == (code == 1)


CHANGES = [
    pytest.param({"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}, "flags: ", "fast_math", id="XLA_FLAGS"),
    pytest.param({"HPU_EMULATOR_THREADS": "1", "OMP_NUM_THREADS": "1"}, "threads: ", "not 1", id="THREADS"),
]


@pytest.mark.parametrize(("environment", "ingredient", "value"), CHANGES)
def test_explain_miss_of_other_surroundings(
    several: Warm, environment: dict[str, str | None], ingredient: str, value: str
) -> None:
    if run_training(several.cache, environment)["recipes"]["compiled"] == 0:
        pytest.skip("this machine computes with one thread anyway")
    misses = as_json("explain-miss", "step", "--path", several.cache)["misses"]
    (line,) = misses[-1]["differences"]
    if os.environ.get("HPU_BACKEND", "").startswith("pjrt:"):  # the target of a plugin has no named ingredients
        ingredient = "pjrt-"
    assert line.startswith(f"target, {ingredient}") and value in line
    assert misses[-1]["nearest"]["program"] == misses[-1]["entry"]["program"]


def test_explain_miss_of_changing_constants_and_shapes(tmp_path: pathlib.Path) -> None:
    run_training(tmp_path / "recipes", before=call_to(training_programs.changing_constants_and_shapes))
    misses = as_json("explain-miss", "head", "--path", tmp_path / "recipes")["misses"]
    first, constant, shape = (miss["differences"] for miss in misses)
    assert first == ["no similar entry: the cluster was compiled for the first time, or the earlier entry was removed"]
    assert any("slice" in line and "limit: 3 -> 4" in line for line in constant), constant
    assert shape[0].startswith("program: parameter 0: shape.dimensions[0]: 9 -> 7"), shape


def test_explain_miss_of_a_damaged_entry(several: Warm) -> None:
    step = as_json("ls", "step", "--path", several.cache)["entries"][0]["key"]
    flip_a_byte(several.cache / f"{step}.recipe")
    assert run_training(several.cache)["recipes"]["stored"] == 1
    (miss,) = as_json("explain-miss", step[:10], "--path", several.cache)["misses"]
    assert miss["differences"] == ["the earlier entry with this key was damaged and set aside"]


def test_explain_miss_without_such_a_recipe(several: Warm) -> None:
    assert as_json("explain-miss", "no_such_cluster", "--path", several.cache, code=1)["misses"] == []


def test_usage(tmp_path: pathlib.Path) -> None:
    assert "TF_RECIPE_CACHE_PATH" in hpu_cache_alone("ls").stderr
    assert f"pass --path {tmp_path}\n" in hpu_cache("ls", tmp_path).stderr
    assert "No such file" in hpu_cache_alone("ls", "--path", tmp_path / "nowhere").stderr
    assert not (tmp_path / "nowhere").exists()
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert "can be written by other users" in hpu_cache("ls", "--path", shared).stderr
    for arguments in (("ls",), ("ls", "--path", tmp_path / "nowhere"), (), ("gc", "--max-age", "soon")):
        assert hpu_cache(*arguments).returncode == 2
