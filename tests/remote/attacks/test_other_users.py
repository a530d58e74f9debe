"""Users of one machine: sockets of other users, and information about other clients at a port."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from habana_frameworks.tensorflow import monitor
from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.attacks.scene import Scene
from tests.remote.attacks.test_silent_clients import port_scene
from tests.support.processes import ROOT, WARM_PYTHON, run

DIRECTORY = ROOT / "tests" / "remote" / "attacks"
AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root may act for another user")
SECRET_COMMAND = b"train.py --password secret"


@pytest.fixture
def open_directory() -> Iterator[pathlib.Path]:
    """A directory in which every user may write."""
    with tempfile.TemporaryDirectory(prefix="hpu-squat-", dir="/tmp") as name:
        pathlib.Path(name).chmod(0o1777)
        yield pathlib.Path(name)


@contextlib.contextmanager
def squatter(path: pathlib.Path, port: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, str(DIRECTORY / "squatter.py"), str(path), port]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.set_blocking(process.stdout.fileno(), False)
        yield process
    finally:
        process.kill()
        process.wait(timeout=30)


def seen_by(process: subprocess.Popen[bytes]) -> bytes:
    """Returns the squatter's output so far."""
    assert process.stdout is not None
    return process.stdout.read() or b""


@AS_ROOT
def test_clients_use_no_socket_of_another_user(tmp_path: pathlib.Path, open_directory: pathlib.Path) -> None:
    path = open_directory / "hpu-server-0"
    with port_scene(tmp_path) as scene, squatter(path, scene.backend.rpartition(":")[2]) as process:
        assert path.stat().st_uid != os.getuid()
        backend = f"grpc+unix:{path}"
        environment = {"HPU_BACKEND": backend, "HPU_SERVER_TOKEN_FILE": str(tmp_path / "token")}
        said = run([WARM_PYTHON, str(DIRECTORY / "acquiring_client.py")], environment, check=False)
        assert "acquired" not in said.stdout, said
        assert str(path) in said.stdout + said.stderr, said
        assert seen_by(process) == b""


@AS_ROOT
def test_monitors_use_no_socket_of_another_user(
    tmp_path: pathlib.Path, open_directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = open_directory / "hpu-server-0"
    with port_scene(tmp_path) as scene, squatter(path, scene.backend.rpartition(":")[2]) as process:
        monkeypatch.setenv("HPU_SERVER_TOKEN_FILE", str(tmp_path / "token"))
        with pytest.raises((monitor.UnavailableError, ValueError)):
            monitor.read(f"grpc+unix:{path}")
        assert seen_by(process) == b""


@AS_ROOT
def test_a_server_takes_no_connection_of_another_user(scene: Scene, open_directory: pathlib.Path) -> None:
    for name in ("server", "server.memory"):
        path = scene.backend.removeprefix("grpc+unix:").rpartition("/")[0] + "/" + name
        reachable = open_directory / name
        os.link(path, reachable)  # the server's directory may be closed to other users
        for mode in (0o600, 0o666):  # 0666 simulates a wrong mode
            reachable.chmod(mode)
            done = run([sys.executable, str(DIRECTORY / "connecting_user.py"), str(reachable)])
            assert done.stdout.strip() in ("0 bytes", "PermissionError", "ConnectionResetError", "BrokenPipeError")
        reachable.chmod(0o600)


def test_commands_of_holders_are_not_shown_over_a_port(tmp_path: pathlib.Path) -> None:
    with port_scene(tmp_path) as scene:
        holder = pb.Holder(pid=4711, command=SECRET_COMMAND)
        with scene.attacker(holder=holder), scene.attacker(holder=holder):
            with pytest.raises(grpc.RpcError) as refusal:
                scene.attacker()
            text = details(refusal.value)
            assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
            assert "4711" in text
            assert "secret" not in text
            modules = scene.monitor.describe().modules
            assert [module.held for module in modules] == [True] * 3
            assert not any(module.holder.command for module in modules)


def details(error: Any) -> str:
    return str(error.details())
