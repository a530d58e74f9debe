"""HPU_RECIPE_CACHE_REMOTE: machines of a team compile each recipe once, and faulty storages do no harm.

A local directory stands for a machine. test_remote_storage.py tests storages without programs.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from habana_frameworks.tensorflow.recipe_store.remote import RemoteCache, RemoteSettings, signed_object
from tests.recipes import storage_server, training_programs
from tests.recipes.conftest import run_training
from tests.recipes.storage_server import StorageServer
from tests.support.processes import ROOT, WARM_PYTHON, call_to, run, start

# Three recipes: the train step, and these two.
BEFORE = call_to(training_programs.two_recipes)
RECIPES = 3
MAX_FAILURES = 3
HANG_SECONDS = 200


@dataclasses.dataclass(frozen=True)
class Team:
    """A storage that the first machine has filled."""

    storage: pathlib.Path
    key_file: pathlib.Path
    first: Any

    @property
    def settings(self) -> RemoteSettings:
        return RemoteSettings(self.storage.as_uri(), str(self.key_file))

    def run(self, machine: pathlib.Path, url: str = "", before: str = BEFORE, **environment: str | None) -> Any:
        variables: dict[str, str | None] = {
            "HPU_RECIPE_CACHE_REMOTE": url or self.storage.as_uri(),
            "HPU_RECIPE_CACHE_REMOTE_KEY_FILE": str(self.key_file),
        }
        return run_training(machine, {**variables, **environment}, before)

    def objects(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.storage.iterdir()}


@pytest.fixture(scope="session")
def first_team(tmp_path_factory: pytest.TempPathFactory) -> Team:
    base = tmp_path_factory.mktemp("team")
    key_file = base / "key"
    key_file.write_bytes(bytes(range(32)))
    key_file.chmod(0o600)
    storage = base / "storage"
    storage.mkdir()
    first = Team(storage, key_file, None).run(base / "first")
    shutil.rmtree(base / "first")
    return Team(storage, key_file, first)


@pytest.fixture
def team(first_team: Team, tmp_path: pathlib.Path) -> Team:
    """Copy of the filled storage for one test."""
    shutil.copytree(first_team.storage, tmp_path / "storage")
    shutil.copy(first_team.key_file, tmp_path / "key")
    return Team(tmp_path / "storage", tmp_path / "key", first_team.first)


@pytest.fixture
def machine(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "machine"


@pytest.fixture
def server(team: Team) -> Iterator[StorageServer]:
    with storage_server.serving() as running:
        running.objects.update(team.objects())
        yield running


def warnings_of(done: Any) -> list[str]:
    return [line for line in done["messages"].splitlines() if "Recipe cache: " in line]


def counts(done: Any, *names: str) -> tuple[int, ...]:
    return tuple(done["recipes"][name] for name in names)


def assert_compiled_all(done: Any, team: Team) -> None:
    assert counts(done, "compiled", "remote_hits") == (RECIPES, 0)
    assert done["losses"] == team.first["losses"]


def test_first_machine_uploads_its_recipes(team: Team) -> None:
    assert counts(team.first, "compiled", "stored", "uploaded", "remote_misses") == (RECIPES,) * 4
    assert len(team.objects()) == RECIPES and warnings_of(team.first) == []


@pytest.mark.parametrize("kind", ["directory", "http"])
def test_second_machine_compiles_nothing(team: Team, server: StorageServer, machine: pathlib.Path, kind: str) -> None:
    url = server.url if kind == "http" else ""
    second = team.run(machine, url)
    assert counts(second, "compiled", "remote_hits", "uploaded", "disk_hits") == (0, RECIPES, 0, 0)
    assert second["losses"] == team.first["losses"] and warnings_of(second) == []
    # The local directory contains exactly the complete fetched entries.
    entries = {name: data[signed_object.HEADER_BYTES :] for name, data in team.objects().items()}
    assert {path.stem: path.read_bytes() for path in machine.iterdir()} == entries
    requests = len(server.requests)
    assert requests == (RECIPES if kind == "http" else 0)
    again = team.run(machine, url)
    assert counts(again, "compiled", "disk_hits", "remote_hits") == (0, RECIPES, 0)
    assert len(server.requests) == requests  # the local directory takes precedence


def test_first_machine_uploads_over_http(team: Team, server: StorageServer, machine: pathlib.Path) -> None:
    server.objects.clear()
    assert counts(team.run(machine, server.url), "compiled", "uploaded") == (RECIPES, RECIPES)
    assert server.objects.keys() == team.objects().keys()


def flip_a_byte(data: bytes, other: bytes) -> bytes:
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


CHANGES: dict[str, Callable[[bytes, bytes], bytes]] = {
    "flipped byte": flip_a_byte,
    "truncated": lambda data, other: data[:-10],
    "empty": lambda data, other: b"",
    "without a signature": lambda data, other: data[signed_object.HEADER_BYTES :],
    "of another key": lambda data, other: other,
}


@pytest.mark.parametrize("change", CHANGES)
def test_bad_objects_are_never_loaded(team: Team, machine: pathlib.Path, change: str) -> None:
    objects = team.objects()
    names = list(objects)
    for name, other in zip(names, names[1:] + names[:1]):
        (team.storage / name).write_bytes(CHANGES[change](objects[name], objects[other]))
    done = team.run(machine)
    assert_compiled_all(done, team)
    assert counts(done, "remote_refused", "uploaded") == (RECIPES, RECIPES)
    warnings = warnings_of(done)
    assert len(warnings) == RECIPES and all(any(name in warning for warning in warnings) for name in names)
    # The recipes that had to be compiled are uploaded.
    cache = RemoteCache(team.settings)
    assert all(cache.fetch(name) for name in names)


def test_signed_object_that_is_not_an_entry(team: Team, machine: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "damaged").write_bytes(b"HPURECIP" + bytes(200))
    cache = RemoteCache(team.settings)
    for name in team.objects():
        cache.upload(name, tmp_path / "damaged")
    done = team.run(machine, HPU_RECIPE_CACHE_REMOTE_READ_ONLY="1")
    assert_compiled_all(done, team)
    assert counts(done, "remote_refused") == (RECIPES,)


def test_another_secret(team: Team, machine: pathlib.Path) -> None:
    team.key_file.write_bytes(bytes(32))
    done = team.run(machine, HPU_RECIPE_CACHE_REMOTE_READ_ONLY="1")
    assert_compiled_all(done, team)
    assert counts(done, "remote_refused") == (RECIPES,)
    assert all("the signature does not match" in warning for warning in warnings_of(done))


UNUSABLE: dict[str, tuple[dict[str, str | None], str]] = {
    "no key": ({"HPU_RECIPE_CACHE_REMOTE_KEY_FILE": None}, "HPU_RECIPE_CACHE_REMOTE_KEY_FILE is not set"),
    "no such key": ({"HPU_RECIPE_CACHE_REMOTE_KEY_FILE": "/no/such/file"}, "cannot be read"),
    "no storage": ({"HPU_RECIPE_CACHE_REMOTE": "ftp://host/recipes"}, "not a storage"),
    "no local directory": ({"TF_RECIPE_CACHE_PATH": None}, "set TF_RECIPE_CACHE_PATH"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_settings_that_are_unusable_cost_one_warning(team: Team, machine: pathlib.Path, case: str) -> None:
    before = team.objects()
    environment, reason = UNUSABLE[case]
    done = team.run(machine, "", BEFORE, **environment)
    assert_compiled_all(done, team)
    (warning,) = warnings_of(done)
    assert reason in warning and team.objects() == before


def test_key_file_that_is_readable_by_other_users(team: Team, machine: pathlib.Path) -> None:
    team.key_file.chmod(0o644)
    done = team.run(machine)
    assert_compiled_all(done, team)
    (warning,) = warnings_of(done)
    assert f"chmod 600 {team.key_file}" in warning


FAULTS = {
    "hang": storage_server.hang,
    "drip": storage_server.drip,
    "reset": storage_server.reset,
    "500": storage_server.status(500),
    "short": storage_server.short,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_server_that_fails_costs_one_warning(
    team: Team, server: StorageServer, machine: pathlib.Path, fault: str
) -> None:
    # A truncated answer to an upload would still be an answer, so uploads use another fault.
    server.faults |= {"GET": FAULTS[fault], "PUT": FAULTS["500" if fault == "short" else fault]}
    done = team.run(machine, server.url, HPU_RECIPE_CACHE_REMOTE_TIMEOUT_S="1")
    assert_compiled_all(done, team)
    failures, uploaded = counts(done, "remote_failures", "uploaded")
    # An upload may have started before the last failure.
    assert MAX_FAILURES <= failures <= MAX_FAILURES + 1 and uploaded == 0
    warnings = [line for line in warnings_of(done) if " failed: " in line]
    assert len(warnings) == 1 and server.url in warnings[0]
    assert len(list(machine.glob("*.recipe"))) == RECIPES


def test_server_that_announces_too_much(team: Team, server: StorageServer, machine: pathlib.Path) -> None:
    server.faults["GET"] = storage_server.huge
    done = team.run(machine, server.url, HPU_RECIPE_CACHE_REMOTE_READ_ONLY="1")
    assert_compiled_all(done, team)
    assert counts(done, "remote_refused", "remote_failures") == (RECIPES, 0)
    assert all("the object is too large" in warning for warning in warnings_of(done))


def test_share_that_is_not_mounted(team: Team, machine: pathlib.Path) -> None:
    shutil.rmtree(team.storage)
    done = team.run(machine)
    assert_compiled_all(done, team)
    (warning,) = warnings_of(done)
    assert "is not a directory" in warning and not team.storage.exists()


def test_read_only(team: Team, server: StorageServer, machine: pathlib.Path) -> None:
    kept = dict(list(server.objects.items())[:1])
    server.objects = dict(kept)
    done = team.run(machine, server.url, HPU_RECIPE_CACHE_REMOTE_READ_ONLY="1")
    assert counts(done, "remote_hits", "remote_misses", "compiled", "uploaded") == (1, RECIPES - 1, RECIPES - 1, 0)
    assert server.objects == kept and server.count("PUT") == 0


def test_local_directory_that_is_read_only(team: Team, server: StorageServer, machine: pathlib.Path) -> None:
    machine.mkdir()
    server.objects = dict(list(server.objects.items())[:1])
    done = team.run(machine, server.url, HPU_RECIPE_CACHE_READ_ONLY="1")
    assert counts(done, "remote_hits", "compiled", "uploaded", "stored") == (1, RECIPES - 1, 0, 0)
    assert list(machine.iterdir()) == []


def test_refused_uploads_stop_and_downloads_continue(team: Team, server: StorageServer, machine: pathlib.Path) -> None:
    server.objects = dict(list(server.objects.items())[:1])
    server.faults["PUT"] = storage_server.status(403)
    done = team.run(machine, server.url)
    assert counts(done, "remote_hits", "compiled", "uploaded") == (1, RECIPES - 1, 0)
    (warning,) = warnings_of(done)
    assert "refuses uploads" in warning and server.count("PUT") == 1 and server.count("GET") == RECIPES


def test_program_ends_while_an_upload_hangs(team: Team, server: StorageServer, machine: pathlib.Path) -> None:
    server.objects.clear()
    server.faults["PUT"] = storage_server.hang
    begin = time.monotonic()
    done = team.run(machine, server.url, HPU_RECIPE_CACHE_REMOTE_TIMEOUT_S="2")
    assert time.monotonic() - begin < HANG_SECONDS
    assert counts(done, "compiled", "stored", "uploaded") == (RECIPES, RECIPES, 0)
    assert any("were not uploaded within 2s" in warning for warning in warnings_of(done))


def test_processes_of_one_machine_fetch_each_recipe_once(
    team: Team, server: StorageServer, machine: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    environment = {
        "TF_RECIPE_CACHE_PATH": str(machine),
        "HPU_RECIPE_CACHE_REMOTE": server.url,
        "HPU_RECIPE_CACHE_REMOTE_KEY_FILE": str(team.key_file),
        "HPU_MODULE_LOCK_DIR": str(tmp_path / "modules"),  # this process may hold one of the eight modules
    }
    program = BEFORE + call_to(training_programs.train)
    processes = [start([WARM_PYTHON, "-c", program], environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    try:
        outputs = [json.loads(process.communicate(timeout=HANG_SECONDS)[0].splitlines()[-1]) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert sum(output["recipes"]["compiled"] for output in outputs) == 0
    assert sum(output["recipes"]["remote_hits"] for output in outputs) == RECIPES
    assert sorted(server.requests) == sorted(("GET", name) for name in team.objects())


def test_transfer_process_ends_with_the_program(team: Team, machine: pathlib.Path) -> None:
    def running() -> bool:
        listed = run(["ps", "-wweo", "args"]).stdout
        return any("transfer_process.py" in line and team.storage.as_uri() in line for line in listed.splitlines())

    # The process is killed, so it runs no code at exit.
    program = call_to(training_programs.two_recipes_and_die)
    environment = {
        "TF_RECIPE_CACHE_PATH": str(machine),
        "HPU_RECIPE_CACHE_REMOTE": team.storage.as_uri(),
        "HPU_RECIPE_CACHE_REMOTE_KEY_FILE": str(team.key_file),
    }
    done = run([WARM_PYTHON, "-c", program], environment, check=False, cwd=ROOT)
    assert done.returncode != 0 and team.storage.as_uri() in done.stdout
    deadline = time.monotonic() + HANG_SECONDS
    while running():
        assert time.monotonic() < deadline
        time.sleep(0.1)
