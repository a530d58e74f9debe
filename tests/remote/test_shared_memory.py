"""Copies through shared memory: equal to copies over the socket, and without leftovers."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import pathlib
import random
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator

import grpc
import pytest

from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote import shared_memory_programs as programs
from tests.remote.servers import Server, wait_until
from tests.remote.test_protocol import MEMORY, Client, Session
from tests.remote.test_training import numbers
from tests.support.processes import WARM_PYTHON, call_to, run_with_tensorflow, start

OFF = {"HPU_REMOTE_SHARED_MEMORY": "0"}


def test_copies_are_the_same_with_and_without(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        shared = run_with_tensorflow(call_to(programs.copy), {"HPU_BACKEND": server.backend}).stdout.split()
        messages = run_with_tensorflow(call_to(programs.copy), {"HPU_BACKEND": server.backend, **OFF}).stdout.split()
    assert shared == [messages[0], "True"]
    assert messages[1] == "False"


def test_training_is_the_same_with_and_without(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        assert numbers(server.backend, "remote") == numbers(server.backend, "remote", OFF)


def test_a_server_need_not_offer_it(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path, environment=OFF) as server:
        assert not (tmp_path / "server.memory").exists()
        assert run_with_tensorflow(call_to(programs.copy), {"HPU_BACKEND": server.backend}).stdout.split()[1] == "False"


def test_a_port_has_no_shared_memory(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path, "--listen", "127.0.0.1:0") as server:
        environment = {"HPU_BACKEND": server.backend, "HPU_SERVER_TOKEN_FILE": server.token_file}
        assert run_with_tensorflow(call_to(programs.copy), environment).stdout.split()[1] == "False"


def shared_files(pid: int) -> list[str]:
    """Returns a process's open files and mappings of shared memory."""
    process = pathlib.Path("/proc", str(pid))
    names = process.joinpath("maps").read_text().splitlines()
    for file in process.joinpath("fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed in the meantime
            names.append(str(file.readlink()))
    return [name for name in names if "memfd:hpu" in name]


def test_a_client_killed_while_it_copies_leaves_nothing(tmp_path: pathlib.Path) -> None:
    moments = random.Random(5)
    with Server(tmp_path, "--modules", "1") as server:
        environment = {"HPU_BACKEND": server.backend}
        watch = Client(server.backend)
        for _ in range(4):
            client = start([WARM_PYTHON, "-c", call_to(programs.copy_for_ever)], environment, stdout=subprocess.PIPE)
            assert client.stdout is not None
            assert client.stdout.readline() == b"copied\n"
            assert shared_files(server.process.pid)
            time.sleep(moments.uniform(0, 0.1))
            client.send_signal(signal.SIGKILL)
            client.communicate(timeout=30)
            wait_until(
                lambda: not (watch.describe().modules[0].held or shared_files(server.process.pid)),
                "the module or the memory is still there",
            )
        watch.channel.close()
        assert run_with_tensorflow(call_to(programs.copy), {"HPU_BACKEND": server.backend}).stdout.split()[1] == "True"
    assert not (tmp_path / "server.memory").exists()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def client(directory: pathlib.Path) -> Iterator[Client]:
    with Server(directory, "--modules", "2") as server:
        made = Client(server.backend)
        yield made
        made.channel.close()


def fetch(directory: pathlib.Path, token: bytes) -> int | None:
    """Returns the descriptor of a session's shared memory; None if the server sends none."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(directory / "server.memory"))
        connection.sendall(token)
        try:
            _, files, _, _ = socket.recv_fds(connection, 1, 1)
        except ConnectionResetError:
            return None
    return files[0] if files else None


def test_data_go_through_it_and_ranges_are_checked(client: Client, directory: pathlib.Path) -> None:
    session = Session(client)
    size = session.acquired.shared_memory_bytes
    base = session.acquired.base_address
    file = fetch(directory, session.acquired.session)
    assert file is not None
    with mmap.mmap(file, size) as memory:
        memory[size - 3 :] = b"abc"
        to_device = pb.CopySharedToDevice(offset=size - 3, destination=base + 5, bytes=3)
        to_host = pb.CopyToShared(source=base + 4, offset=7, bytes=5)
        for sequence, command in ((1, {"copy_shared_to_device": to_device}), (2, {"copy_to_shared": to_host})):
            progress = session.run.ask(pb.RunRequest(commands=[pb.Command(**command)])).progress
            assert (progress.sequence, progress.status.code) == (sequence, 0)
        assert memory[7:12] == b"\0abc\0"
        outside = pb.CopyToShared(source=base + MEMORY - 1, offset=0, bytes=2)
        refused = session.run.ask(pb.RunRequest(commands=[pb.Command(copy_to_shared=outside)]))
        assert refused.progress.status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    os.close(file)
    session.hold.end()


@pytest.mark.parametrize("past", [(0, 1), (1, 0), (1, 1), (-1, 2), (0, 1 << 63), (1 << 63, 1 << 63)])
def test_ranges_outside_of_it_end_the_call(client: Client, past: tuple[int, int]) -> None:
    for to_host in (False, True):
        session = Session(client)
        offset, size, base = past[0] + session.acquired.shared_memory_bytes, past[1], session.acquired.base_address
        command = (
            pb.Command(copy_to_shared=pb.CopyToShared(source=base, offset=offset, bytes=size))
            if to_host
            else pb.Command(copy_shared_to_device=pb.CopySharedToDevice(destination=base, offset=offset, bytes=size))
        )
        code, details = session.run.refusal(pb.RunRequest(commands=[command]))
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "of shared memory" in details
        session.hold.end()


def test_its_size_is_sealed(client: Client, directory: pathlib.Path) -> None:
    session = Session(client)
    file = fetch(directory, session.acquired.session)
    assert file is not None
    for size in (0, 2 * session.acquired.shared_memory_bytes):
        with pytest.raises(PermissionError):
            os.ftruncate(file, size)
    with pytest.raises(PermissionError):
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    os.close(file)
    session.end()


def test_only_sessions_get_it(client: Client, directory: pathlib.Path) -> None:
    assert stat.S_IMODE((directory / "server.memory").stat().st_mode) == 0o600
    session = Session(client)
    token = session.acquired.session
    for wrong in (b"x" * 16, token[:-1] + bytes([token[-1] ^ 1]), b"", token[:8]):
        assert fetch(directory, wrong) is None
    session.end()
    assert fetch(directory, token) is None


def test_a_silent_connection_does_not_block_other_clients(client: Client, directory: pathlib.Path) -> None:
    session = Session(client)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(directory / "server.memory"))
        file = fetch(directory, session.acquired.session)
        assert file is not None
        os.close(file)
    session.end()
