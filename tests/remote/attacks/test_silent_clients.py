"""Silent connections and malformed calls do not keep honest clients from connecting."""

from __future__ import annotations

import contextlib
import pathlib
import random
import socket
import threading
import time
from collections.abc import Iterator

import grpc
import pytest

from habana_frameworks.tensorflow import device_channel
from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.attacks.footprint import thread_count
from tests.remote.attacks.scene import Scene, within
from tests.remote.device_client import Call, Monitor, connect

TOKEN = "0123456789abcdef0123456789abcdef"
CALLS = 800
MAX_THREADS = 150
# The time limit of a first message is 10 s, and of the token 30 s.
SECONDS_UNTIL_THE_END = 60.0
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")


def open_socket(backend: str) -> socket.socket:
    target = device_channel.target(backend)
    if target.startswith("unix:"):
        made = socket.socket(socket.AF_UNIX)
        made.connect(target.removeprefix("unix:"))
        return made
    host, _, port = target.rpartition(":")
    return socket.create_connection((host, int(port)))


@contextlib.contextmanager
def port_scene(directory: pathlib.Path) -> Iterator[Scene]:
    """Server with a token, at a port of the loopback interface."""
    token = directory / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    with Scene(directory, "--listen", "127.0.0.1:0", "--token-file", str(token), token=TOKEN) as scene:
        yield scene
        scene.assert_unharmed()


@pytest.mark.parametrize("token", [TOKEN, "wrong"])
def test_calls_without_a_message_cost_no_threads(tmp_path: pathlib.Path, token: str) -> None:
    with port_scene(tmp_path) as scene:
        channels = [connect(scene.backend) for _ in range(4)]
        calls = []
        for channel in channels:
            calls += [Call(channel, "Hold", pb.HoldResponse, seconds=30, token=token) for _ in range(CALLS // 4)]
            time.sleep(0.5)
            with scene.attacker() as honest:
                assert honest.stream.write_memory(honest.base, b"honest").code == 0
            assert all(thread_count(pid) < MAX_THREADS for pid in (scene.front, *scene.new_sessions()))
        for call in calls:
            call.cancel()
        for channel in channels:
            channel.close()


@pytest.mark.slow
def test_calls_without_a_message_end(scene: Scene) -> None:
    """Takes 30 s. test_front.py tests the time limit with a shorter one."""
    channel = connect(scene.backend)
    methods = ("Describe", "Hold", "Run", "MakeRecipe", "MakeCommunicator")
    calls = [Call(channel, method, pb.HoldResponse, seconds=300) for method in methods for _ in range(40)]
    begin = time.monotonic()
    codes = {call.outcome()[0] for call in calls}
    assert codes <= {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE}
    assert time.monotonic() - begin < SECONDS_UNTIL_THE_END
    channel.close()


@pytest.mark.parametrize("sent", [b"", b"P", PREFACE, PREFACE + b"\xff" * 64, b"GET / HTTP/1.1\r\n\r\n"])
def test_honest_clients_connect_beside_silent_connections(scene: Scene, sent: bytes) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            connection = stack.enter_context(open_socket(scene.backend))
            with contextlib.suppress(OSError):
                connection.sendall(sent)
        begin = time.monotonic()
        with scene.attacker() as honest:
            assert honest.stream.write_memory(honest.base, b"honest").code == 0
        assert time.monotonic() - begin < SECONDS_UNTIL_THE_END
        scene.victim.assert_unharmed()


def test_honest_clients_connect_beside_idle_monitors(scene: Scene) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            monitor = Monitor(scene.backend)
            stack.callback(monitor.close)
            threading.Thread(target=describe, args=(monitor,), daemon=True).start()
        time.sleep(2)
        begin = time.monotonic()
        with scene.attacker() as honest:
            assert honest.stream.write_memory(honest.base, b"honest").code == 0
        assert time.monotonic() - begin < SECONDS_UNTIL_THE_END


def describe(monitor: Monitor) -> None:
    with contextlib.suppress(grpc.RpcError, ValueError):  # the channel is closed
        monitor.describe()


def test_random_bytes_are_no_session(scene: Scene) -> None:
    chance = random.Random(5)
    for attempt in range(60):
        with open_socket(scene.backend) as connection, contextlib.suppress(OSError):
            connection.sendall((PREFACE if attempt % 2 else b"") + chance.randbytes(chance.randrange(1, 4096)))
            if attempt % 3 == 0:
                connection.shutdown(socket.SHUT_WR)


def test_the_socket_of_shared_memory_serves_only_own_memory(scene: Scene) -> None:
    path = device_channel.target(scene.backend).removeprefix("unix:") + ".memory"
    name = scene.victim.session.name
    guesses = [b"", bytes(16), name[:15], name[:15] + bytes([name[15] ^ 1]), bytes(reversed(name)), name[:8] * 2]
    chance = random.Random(6)
    guesses += [chance.randbytes(16) for _ in range(100)]
    for guess in guesses:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(path)
            connection.sendall(guess)
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                _, ancillary, _, _ = connection.recvmsg(64, socket.CMSG_SPACE(64))
                assert ancillary == []
    silent = [socket.socket(socket.AF_UNIX) for _ in range(100)]
    for connection in silent:
        connection.connect(path)
    scene.victim.assert_unharmed()
    for connection in silent:
        connection.close()


def test_floods_of_sessions_leave_nothing(scene: Scene) -> None:
    for _ in range(60):
        with scene.attacker() as session:
            session.stream.send(pb.Command(fill=pb.Fill(destination=session.base, value=1, bytes=1 << 20)))
    within(lambda: not scene.new_sessions(), lambda: f"processes {scene.new_sessions()} are left")
