"""Storages of the remote cache: round trips, and rejection of each kind of faulty storage."""

from __future__ import annotations

import errno
import os
import pathlib
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from habana_frameworks.tensorflow.recipe_store.remote import RemoteCache, RemoteSettings, errors, signed_object
from habana_frameworks.tensorflow.recipe_store.remote import transfer_process as process_module
from habana_frameworks.tensorflow.recipe_store.remote.time_limit import time_limit
from tests.recipes import storage_server
from tests.recipes.storage_server import StorageServer

NAME, OTHER_NAME = "1" * 64, "2" * 64
# Spans many reads and writes of a socket.
ENTRY = secrets.token_bytes(3_000_000)
HANG_SECONDS = 60


@pytest.fixture
def key_file(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "key"
    path.write_bytes(bytes(range(32)))
    path.chmod(0o600)
    return path


@pytest.fixture
def entry(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "entry"
    path.write_bytes(ENTRY)
    return path


@pytest.fixture
def server() -> Iterator[StorageServer]:
    with storage_server.serving() as running:
        yield running


@pytest.fixture
def directory(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "storage"
    path.mkdir()
    return path


@pytest.fixture
def http(server: StorageServer, key_file: pathlib.Path) -> RemoteCache:
    return RemoteCache(RemoteSettings(server.url, str(key_file), timeout=HANG_SECONDS))


@pytest.fixture
def shared(directory: pathlib.Path, key_file: pathlib.Path) -> RemoteCache:
    return RemoteCache(RemoteSettings(directory.as_uri(), str(key_file)))


@pytest.fixture(params=["server", "directory"])
def url(request: pytest.FixtureRequest) -> str:
    storage = request.getfixturevalue(request.param)
    return storage.url if isinstance(storage, StorageServer) else storage.as_uri()


@pytest.fixture
def cache(url: str, key_file: pathlib.Path) -> RemoteCache:
    return RemoteCache(RemoteSettings(url, str(key_file)))


def fetched(cache: RemoteCache, name: str = NAME) -> bytes | None:
    file = cache.fetch(name)
    if file is None:
        return None
    with file:
        return file.read()


def test_round_trip(cache: RemoteCache, entry: pathlib.Path) -> None:
    cache.check()
    assert not cache.has(NAME) and fetched(cache) is None
    for _ in range(2):  # the second upload replaces the object
        cache.upload(NAME, entry)
        assert cache.has(NAME) and fetched(cache) == ENTRY
    assert fetched(cache, OTHER_NAME) is None


def test_empty_entry(cache: RemoteCache, entry: pathlib.Path) -> None:
    entry.write_bytes(b"")
    cache.upload(NAME, entry)
    assert fetched(cache) == b""


def test_removed_entry_is_skipped(cache: RemoteCache, tmp_path: pathlib.Path) -> None:
    with pytest.raises(errors.SkippedError, match=r"^$"):
        cache.upload(NAME, tmp_path / "nowhere")


def test_directory_lists_its_objects_and_holds_nothing_else(
    shared: RemoteCache, directory: pathlib.Path, entry: pathlib.Path
) -> None:
    shared.upload(NAME, entry)
    assert [path.name for path in directory.iterdir()] == [NAME]
    (directory / "README").touch()
    assert shared.keys() == [NAME]


def test_http_server_keeps_the_connection_and_lists_nothing(
    http: RemoteCache, server: StorageServer, entry: pathlib.Path
) -> None:
    http.upload(NAME, entry)
    connection = http._storage._connection  # type: ignore[attr-defined]
    assert connection is not None
    for _ in range(3):
        assert fetched(http) == ENTRY and fetched(http, OTHER_NAME) is None and http.has(NAME)
        assert http._storage._connection is connection  # type: ignore[attr-defined]
    with pytest.raises(errors.NotListableError):
        http.keys()


def test_closed_connection_is_reopened(http: RemoteCache, server: StorageServer, entry: pathlib.Path) -> None:
    for _ in range(2):
        http.upload(NAME, entry)
        http._storage._connection.sock.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]
        assert fetched(http) == ENTRY
        http._storage._connection.sock.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]


CHANGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "first byte": (lambda data: b"X" + data[1:], "no signature"),
    "version": (lambda data: data[:8] + b"\x02" + data[9:], "format 2"),
    "reserved field": (lambda data: data[:12] + b"\x01" + data[13:], "the reserved field is 1, expected 0"),
    "signature": (lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:], "does not match"),
    "entry": (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "does not match"),
    "cut off": (lambda data: data[:-1], "does not match"),
    "longer": (lambda data: data + b"\0", "does not match"),
    "header alone": (lambda data: data[: signed_object.HEADER_BYTES], "does not match"),
    "part of the header": (lambda data: data[:40], "no signature"),
    "unsigned": (lambda data: data[signed_object.HEADER_BYTES :], "no signature"),
    "empty": (lambda data: b"", "no signature"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_object_is_refused(
    shared: RemoteCache, directory: pathlib.Path, entry: pathlib.Path, change: str
) -> None:
    shared.upload(NAME, entry)
    function, reason = CHANGES[change]
    (directory / NAME).write_bytes(function((directory / NAME).read_bytes()))
    with pytest.raises(errors.RefusedError, match=reason):
        shared.fetch(NAME)


def test_object_of_another_key_under_this_name_is_refused(
    shared: RemoteCache, directory: pathlib.Path, entry: pathlib.Path
) -> None:
    shared.upload(OTHER_NAME, entry)
    (directory / OTHER_NAME).rename(directory / NAME)
    with pytest.raises(errors.RefusedError, match="does not match"):
        shared.fetch(NAME)


def test_signature_by_another_secret_is_refused(
    cache: RemoteCache, url: str, entry: pathlib.Path, key_file: pathlib.Path
) -> None:
    cache.upload(NAME, entry)
    key_file.write_bytes(bytes(32))
    other = RemoteCache(RemoteSettings(url, str(key_file)))
    with pytest.raises(errors.RefusedError, match="does not match"):
        other.fetch(NAME)


def test_directory_objects_that_are_not_files(
    shared: RemoteCache, directory: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    os.mkfifo(directory / NAME)
    with pytest.raises(errors.RefusedError, match="not a regular file"):
        shared.fetch(NAME)
    (directory / NAME).unlink()
    (directory / NAME).symlink_to(tmp_path / "key")
    with pytest.raises(errors.StorageError):
        shared.fetch(NAME)


def test_large_file_is_refused_before_it_is_read(shared: RemoteCache, directory: pathlib.Path) -> None:
    with (directory / NAME).open("wb") as file:
        os.truncate(file.fileno(), 1 << 42)
    with pytest.raises(errors.RefusedError, match="the object is too large"):
        shared.fetch(NAME)


def test_directory_that_is_missing_is_a_failure_and_not_made(
    shared: RemoteCache, directory: pathlib.Path, entry: pathlib.Path
) -> None:
    directory.rmdir()
    for call in (lambda: shared.fetch(NAME), lambda: shared.upload(NAME, entry), shared.check, shared.keys):
        with pytest.raises(errors.StorageError):
            call()
    assert not directory.exists()


@pytest.mark.parametrize(("code", "kind"), [(errno.EROFS, errors.DeniedError), (errno.ENOSPC, errors.StorageError)])
def test_directory_that_cannot_be_written(
    shared: RemoteCache,
    directory: pathlib.Path,
    entry: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    kind: type[errors.RemoteError],
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(kind, match=os.strerror(code)):
        shared.upload(NAME, entry)
    assert list(directory.iterdir()) == []


FAULTS: dict[str, tuple[Callable[[Any], None], type[errors.RemoteError], str]] = {
    "reset": (storage_server.reset, errors.StorageError, "reset|closed|Broken"),
    "500": (storage_server.status(500), errors.StorageError, "answered 500"),
    "401": (storage_server.status(401), errors.StorageError, "answered 401"),
    "short": (storage_server.short, errors.StorageError, "closed the connection after"),
    "huge": (storage_server.huge, errors.RefusedError, "the object is too large"),
    "redirect": (storage_server.redirect, errors.StorageError, "answered 302"),
    "garbage": (storage_server.garbage, errors.StorageError, "SSH"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_server_that_does_not_answer_as_it_should(
    http: RemoteCache, server: StorageServer, entry: pathlib.Path, fault: str
) -> None:
    http.upload(NAME, entry)
    act, kind, reason = FAULTS[fault]
    server.faults["GET"] = act
    with pytest.raises(kind, match=reason):
        http.fetch(NAME)
    server.faults.clear()
    assert fetched(http) == ENTRY  # uses a new connection


def test_body_without_a_size_is_bounded(
    http: RemoteCache, server: StorageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signed_object, "MAX_ENTRY_BYTES", 10_000_000)
    server.faults["GET"] = storage_server.endless
    with pytest.raises(errors.RefusedError, match="the object is too large"):
        http.fetch(NAME)


@pytest.mark.parametrize("fault", [storage_server.hang, storage_server.drip])
def test_time_limit_of_a_transfer(http: RemoteCache, server: StorageServer, fault: Callable[[Any], None]) -> None:
    server.faults["GET"] = fault
    with pytest.raises(errors.StorageError, match="transfer timed out"), time_limit(4 * storage_server.DRIP_SECONDS):
        http.fetch(NAME)


def test_server_that_is_not_running(server: StorageServer, key_file: pathlib.Path, entry: pathlib.Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    cache = RemoteCache(RemoteSettings(f"http://127.0.0.1:{port}", str(key_file)))
    calls: list[Callable[[], object]] = [lambda: cache.fetch(NAME), lambda: cache.upload(NAME, entry), cache.check]
    for call in calls:
        with pytest.raises(errors.StorageError, match="refused"):
            call()


UPLOAD_FAULTS: dict[int, type[errors.RemoteError]] = {
    403: errors.DeniedError,
    405: errors.DeniedError,
    413: errors.SkippedError,
    429: errors.StorageError,
    503: errors.StorageError,
}


@pytest.mark.parametrize("code", UPLOAD_FAULTS)
def test_server_that_takes_no_uploads(http: RemoteCache, server: StorageServer, entry: pathlib.Path, code: int) -> None:
    server.faults["PUT"] = storage_server.status(code)
    with pytest.raises(UPLOAD_FAULTS[code], match=f"answered {code}|PUT .* failed"):
        http.upload(NAME, entry)
    server.faults.clear()
    http.upload(NAME, entry)


def test_token(server: StorageServer, key_file: pathlib.Path, entry: pathlib.Path, tmp_path: pathlib.Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret-word\n")
    token.chmod(0o600)
    cache = RemoteCache(RemoteSettings(server.url, str(key_file), str(token)))
    cache.upload(NAME, entry)
    assert fetched(cache) == ENTRY and server.tokens == {"Bearer secret-word"}
    with pytest.raises(errors.SettingsError, match="https"):
        RemoteCache(RemoteSettings("http://storage.example/recipes", str(key_file), str(token)))
    token.chmod(0o644)
    with pytest.raises(errors.SettingsError, match=f"chmod 600 {token}"):
        RemoteCache(RemoteSettings(server.url, str(key_file), str(token)))


@pytest.mark.parametrize(
    "url",
    [
        "/directory",
        "file://other-machine/directory",
        "file://",
        "ftp://host/x",
        "http://",
        "http://host:port/",
        "http://a:b@host/",
    ],
)
def test_urls_that_name_no_storage(url: str, key_file: pathlib.Path) -> None:
    with pytest.raises(errors.SettingsError):
        RemoteCache(RemoteSettings(url, str(key_file)))


def test_key_file_is_needed(directory: pathlib.Path, key_file: pathlib.Path) -> None:
    with pytest.raises(errors.SettingsError, match="KEY_FILE is not set"):
        RemoteCache(RemoteSettings(directory.as_uri(), ""))
    key_file.chmod(0o644)
    with pytest.raises(errors.SettingsError, match="chmod 600"):
        RemoteCache(RemoteSettings(directory.as_uri(), str(key_file)))


def start_process(url: str, key_file: pathlib.Path, parent: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [
                sys.executable,
                "-I",
                process_module.__file__,
                f"--parent={parent}",
                f"--url={url}",
                f"--key-file={key_file}",
                "--token-file=",
                f"--timeout={HANG_SECONDS}",
            ],
            stdin=theirs.fileno(),
        )
    ours.settimeout(HANG_SECONDS)
    return process, ours


def test_transfer_process(directory: pathlib.Path, key_file: pathlib.Path, entry: pathlib.Path) -> None:
    process, connection = start_process(directory.as_uri(), key_file, os.getpid())

    def call(verb: str, operand: bytes = b"") -> tuple[str, bytes]:
        connection.sendall(f"{verb} {NAME} {len(operand)}\n".encode() + operand)
        with connection.makefile("rb") as replies:
            outcome, size = replies.readline().decode().split()
            return outcome, replies.read(int(size))

    assert call("get") == ("missing", b"")
    assert call("put", bytes(entry)) == ("stored", b"")
    assert call("get") == ("found", ENTRY)
    (directory / NAME).write_bytes(b"x" * 100)
    text = b"the object has no signature; replace it with hpu cache remote push --overwrite"
    assert call("get") == ("refused", text)
    assert call("put", b"/no/such/entry") == ("skipped", b"")
    (directory / NAME).unlink()
    directory.rmdir()
    assert call("get")[0] == call("put", bytes(entry))[0] == "failed"
    connection.close()
    assert process.wait(HANG_SECONDS) == 0


def test_transfer_process_reports_unusable_settings(directory: pathlib.Path, tmp_path: pathlib.Path) -> None:
    process, connection = start_process(directory.as_uri(), tmp_path / "nowhere", os.getpid())
    with connection, connection.makefile("rb") as replies:
        for _ in range(2):
            connection.sendall(f"get {NAME} 0\n".encode())
            outcome, size = replies.readline().decode().split()
            assert outcome == "unusable" and b"cannot be read" in replies.read(int(size))
    assert process.wait(HANG_SECONDS) == 0


def test_transfer_process_ends_with_its_parent_though_a_child_holds_the_socket(
    directory: pathlib.Path, key_file: pathlib.Path
) -> None:
    process, connection = start_process(directory.as_uri(), key_file, parent=1 << 30)
    with connection:
        assert process.wait(HANG_SECONDS) == 0
