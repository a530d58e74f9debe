"""Recipes that clients store: a server accepts only recipes that it signed."""

from __future__ import annotations

import hashlib
import os
import pathlib
import stat
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.recipes.conftest import Warm, run_training
from tests.remote.servers import Server
from tests.support.processes import ROOT

CHECKSUM_BYTES = 32
PAYLOAD_SIZE = slice(32, 40)
# Header of the payload, a container (plugin/program/recipe_container.h).
CONTAINER_HEADER_BYTES = 88
DIGEST = slice(24, 56)
SIGNATURE_AT = 56
NOT_SIGNED = "the recipe is not signed with this server's key"


def run_client(server: Server, cache: pathlib.Path) -> Any:
    """Runs a client that trains, and returns its counters and messages."""
    return run_training(cache, {"HPU_BACKEND": server.backend})


def change(entry: pathlib.Path, position: int | float, *, correct_digest: bool) -> None:
    """Changes a byte of the recipe and corrects the entry's checksum.

    position: offset in the container's header, or position after the header as a fraction (1.0: the last byte).
    correct_digest: also corrects the digest in the container's header.
    """
    data = bytearray(entry.read_bytes()[:-CHECKSUM_BYTES])
    start = len(data) - int.from_bytes(data[PAYLOAD_SIZE], "little")
    recipe = data[start:]
    if isinstance(position, float):
        position = CONTAINER_HEADER_BYTES + int(position * (len(recipe) - CONTAINER_HEADER_BYTES - 1))
    recipe[position] ^= 1
    if correct_digest:
        recipe[DIGEST] = hashlib.sha256(recipe[: DIGEST.start] + recipe[CONTAINER_HEADER_BYTES:]).digest()
    covered = data[:start] + recipe[:CONTAINER_HEADER_BYTES]
    entry.write_bytes(data[:start] + recipe + hashlib.sha256(covered).digest())


def test_a_restarted_server_uses_earlier_recipes(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        first = run_client(server, tmp_path / "cache")
    assert first["recipes"]["compiled"] > 0
    key = tmp_path / "state" / "hpu-tensorflow" / "serve.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with Server(tmp_path) as server:
        second = run_client(server, tmp_path / "cache")
        assert "refused" not in server.log()
    assert second["recipes"]["compiled"] == 0
    assert second["losses"] == first["losses"]


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def signed(shared_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Warm:
    """Recipes that the shared server signed for a first client."""
    cache = tmp_path_factory.mktemp("signed") / "cache"
    return Warm(cache, run_client(shared_server, cache))


@pytest.mark.parametrize(
    ("position", "correct_digest", "code", "reason"),
    [
        pytest.param(0, False, "INVALID_ARGUMENT", "not a serialised recipe", id="another format"),
        pytest.param(0.5, False, "INVALID_ARGUMENT", "the checksum is wrong", id="damaged"),
        pytest.param(0.0, True, "PERMISSION_DENIED", NOT_SIGNED, id="forged description"),
        pytest.param(0.5, True, "PERMISSION_DENIED", NOT_SIGNED, id="forged code"),
        pytest.param(1.0, True, "PERMISSION_DENIED", NOT_SIGNED, id="forged end"),
        pytest.param(SIGNATURE_AT, False, "PERMISSION_DENIED", NOT_SIGNED, id="forged signature"),
        pytest.param(DIGEST.start, False, "PERMISSION_DENIED", NOT_SIGNED, id="forged digest"),
    ],
)
def test_a_changed_recipe_is_refused_and_recompiled(
    shared_server: Server,
    signed: Warm,
    tmp_path: pathlib.Path,
    position: int | float,
    correct_digest: bool,
    code: str,
    reason: str,
) -> None:
    server, cache, first = shared_server, signed.copy(tmp_path / "cache").cache, signed.first
    logged = len(server.log())
    count = first["recipes"]["compiled"]
    entries = list(cache.glob("*.recipe"))
    assert len(entries) == count > 0
    for entry in entries:
        change(entry, position, correct_digest=correct_digest)
    second = run_client(server, cache)
    said = second["messages"]
    assert second["losses"] == first["losses"]
    assert second["recipes"]["compiled"] == second["recipes"]["stored"] == count
    assert said.count(reason) == count
    assert said.count(f"the device server at {server.backend} refused it: {NOT_SIGNED}") == said.count(NOT_SIGNED)
    assert said.count("the recipe is recompiled") == count
    log = server.log()[logged:]
    assert log.count("refused /hpu.device.v1.DeviceService/MakeRecipe of unix:") == count, log
    assert f"{code}: " in log and reason in log, log
    third = run_client(server, cache)
    assert third["recipes"]["compiled"] == 0


def test_clients_of_two_servers_share_a_cache_without_harm(tmp_path: pathlib.Path) -> None:
    results = []
    for _ in range(2):
        for name in ("one", "two"):
            (tmp_path / name).mkdir(exist_ok=True)
            with Server(tmp_path / name) as server:
                results.append(run_client(server, tmp_path / "cache"))
                assert "refused" not in server.log()
    compiled = [result["recipes"]["compiled"] for result in results]
    assert compiled[0] == compiled[1] > 0
    assert compiled[2:] == [0, 0]
    assert len({str(result["losses"]) for result in results}) == 1


def test_servers_with_one_key_accept_each_others_recipes(tmp_path: pathlib.Path) -> None:
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(os.urandom(40))
    compiled = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with Server(tmp_path / name, "--key", str(key)) as server:
            compiled.append(run_client(server, tmp_path / "cache")["recipes"]["compiled"])
    assert compiled[0] > 0
    assert compiled[1] == 0


def test_a_key_that_is_readable_by_other_users_or_short_is_refused(tmp_path: pathlib.Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(bytes(31))
    for mode, reason in ((0o644, f"chmod 600 {key}"), (0o600, "has 31 bytes, but a key needs at least 32")):
        key.chmod(mode)
        command = [sys.executable, "-m", "habana_frameworks.tensorflow", "serve", "--key", str(key)]
        command += ["--listen", f"unix:{tmp_path / 'server'}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert reason in done.stderr


def test_without_a_directory_for_the_key_the_server_warns(tmp_path: pathlib.Path) -> None:
    (tmp_path / "state").touch()
    with Server(tmp_path) as server:
        assert "pass --key" in server.log()
        assert run_client(server, tmp_path / "cache")["recipes"]["compiled"] > 0
