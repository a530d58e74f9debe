"""`hpu cache remote`: transfer of recipes between directories through each kind of storage."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.recipes import storage_server
from tests.recipes.conftest import Warm, run_training
from tests.recipes.storage_server import StorageServer
from tests.recipes.test_cache_command import entry_files, flip_a_byte, hpu_cache

SECRET = bytes(range(32))


@pytest.fixture
def key(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "key"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    return path


@pytest.fixture
def server() -> Iterator[StorageServer]:
    with storage_server.serving() as running:
        yield running


@pytest.fixture
def storage(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "storage"
    path.mkdir()
    return path


class Remote:
    """The command with one storage."""

    def __init__(self, url: str, key: pathlib.Path) -> None:
        self.environment = {"HPU_RECIPE_CACHE_REMOTE": url, "HPU_RECIPE_CACHE_REMOTE_KEY_FILE": str(key)}

    def __call__(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return hpu_cache("remote", *arguments, **self.environment, **environment)

    def as_json(self, *arguments: object, code: int = 0) -> Any:
        done = self(*arguments, "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(params=["http", "directory"])
def remote(request: pytest.FixtureRequest, key: pathlib.Path) -> Remote:
    if request.param == "http":
        return Remote(request.getfixturevalue("server").url, key)
    return Remote(request.getfixturevalue("storage").as_uri(), key)


@pytest.fixture
def shared(storage: pathlib.Path, key: pathlib.Path) -> Remote:
    return Remote(storage.as_uri(), key)


def contents(cache: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in entry_files(cache)}


def test_push_and_pull(several: Warm, remote: Remote, tmp_path: pathlib.Path) -> None:
    keys = [path.stem for path in entry_files(several.cache)]
    assert remote.as_json("status", "--path", several.cache)["shared"] == 0
    pushed = remote.as_json("push", "--path", several.cache)
    assert [entry["key"] for entry in pushed["entries"]] == keys and (pushed["present"], pushed["failed"]) == (0, {})
    assert remote.as_json("push", "--path", several.cache)["present"] == len(keys)
    assert len(remote.as_json("push", "--overwrite", "--path", several.cache)["entries"]) == len(keys)
    status = remote.as_json("status", "--path", several.cache)
    assert status["shared"] == status["local_entries"] == len(keys)
    is_listable = remote.environment["HPU_RECIPE_CACHE_REMOTE"].startswith("file:")
    assert status["remote_entries"] == (len(keys) if is_listable else None)
    other = tmp_path / "other"
    pulled = remote.as_json("pull", "--path", other, *([] if is_listable else keys))
    assert [entry["key"] for entry in pulled["entries"]] == keys and pulled["refused"] == pulled["failed"] == {}
    assert contents(other) == contents(several.cache)
    assert remote.as_json("pull", "--path", other, *keys)["present"] == len(keys)


def test_texts_for_people(several: Warm, shared: Remote, tmp_path: pathlib.Path) -> None:
    count = len(entry_files(several.cache))
    assert f"{count} recipes (" in shared("push", "--path", several.cache).stdout
    assert f"has {count} of {count} local recipes" in shared("status", "--path", several.cache).stdout
    assert f"{count} recipes fetched" in shared("pull", "--path", tmp_path / "other").stdout


def test_pull_skips_mismatched_recipes(shared: Remote, tmp_path: pathlib.Path) -> None:
    run_training(tmp_path / "null", {"HPU_BACKEND": "null"})
    shared("push", "--path", tmp_path / "null")
    pulled = shared.as_json("pull", "--path", tmp_path / "other")
    assert pulled["entries"] == [] and set(pulled["misfits"]) == {path.stem for path in entry_files(tmp_path / "null")}
    assert all(reasons[0].startswith("compiled with backend null") for reasons in pulled["misfits"].values()), pulled


def test_pull_refuses_unverifiable_recipes(
    several: Warm, shared: Remote, storage: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    shared("push", "--path", several.cache)
    changed, *_ = sorted(storage.iterdir())
    flip_a_byte(changed)
    pulled = shared.as_json("pull", "--path", tmp_path / "other", code=1)
    assert set(pulled["refused"]) == {changed.name} and "does not match" in pulled["refused"][changed.name]
    assert len(pulled["entries"]) == len(entry_files(several.cache)) - 1


def test_pull_of_a_missing_key(shared: Remote, tmp_path: pathlib.Path) -> None:
    pulled = shared.as_json("pull", "--path", tmp_path / "other", "0" * 64, code=1)
    assert pulled["failed"] == {
        "0" * 64: "the remote cache has no entry with this key; upload it with hpu cache remote push"
    }


def test_push_ends_after_some_failures(several: Warm, server: StorageServer, key: pathlib.Path) -> None:
    for number in range(3):
        shutil.copy(entry_files(several.cache)[0], several.cache / f"{number}.recipe")  # damaged, so not pushed
    server.faults["HEAD"] = storage_server.status(500)
    pushed = Remote(server.url, key).as_json("push", "--path", several.cache, code=1)
    assert len(pushed["failed"]) == len(list(several.cache.glob("*.recipe"))) - 3
    assert server.count("HEAD") == 3 and server.count("PUT") == 0


def test_server_that_takes_no_uploads(several: Warm, server: StorageServer, key: pathlib.Path) -> None:
    server.faults["PUT"] = storage_server.status(403)
    done = Remote(server.url, key)("push", "--path", several.cache)
    assert done.returncode == 2 and "answered 403" in done.stderr


def test_explain_miss_shows_the_remote_caches_entry(
    several: Warm, shared: Remote, storage: pathlib.Path, key: pathlib.Path
) -> None:
    def explained() -> str:
        return hpu_cache("explain-miss", "step", "--path", several.cache, **shared.environment).stdout

    assert "in the remote cache: no" in explained()
    shared("push", "--path", several.cache)
    assert "in the remote cache: yes" in explained()
    shutil.rmtree(storage)
    assert "in the remote cache: unknown" in explained()
    assert "remote cache" not in hpu_cache("explain-miss", "step", "--path", several.cache).stdout


def test_usage(several: Warm, server: StorageServer, key: pathlib.Path, tmp_path: pathlib.Path) -> None:
    done = hpu_cache("remote", "status", "--path", several.cache, HPU_RECIPE_CACHE_REMOTE="")
    assert done.returncode == 2 and "set HPU_RECIPE_CACHE_REMOTE" in done.stderr
    http = Remote(server.url, key)
    done = http("pull", "--path", several.cache)
    assert done.returncode == 2 and "hpu cache remote pull KEY" in done.stderr
    assert http("pull", "--path", several.cache, "no-key").returncode == 2
    assert http("push", "--path", tmp_path / "nowhere").returncode == 2
    done = Remote((tmp_path / "nowhere").as_uri(), key)("status", "--path", several.cache)
    assert done.returncode == 2 and "is not a directory" in done.stderr
    key.chmod(0o640)
    for command in ("status", "push", "pull"):
        done = http(command, "--path", several.cache)
        assert done.returncode == 2 and f"chmod 600 {key}" in done.stderr
