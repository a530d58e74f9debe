"""`hpu serve` and device_server: output, errors and log, with fake session processes."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator

import pytest

from habana_frameworks.tensorflow import device_server, errors
from habana_frameworks.tensorflow._internal.serve.status import Code
from habana_frameworks.tensorflow.cli import main
from tests.remote import fronts, serve_program
from tests.remote.fronts import Client, session
from tests.support.processes import ROOT


class Command:
    """A running `hpu serve`, with its first line of output and its log."""

    def __init__(self, directory: pathlib.Path, *arguments: str, **environment: str) -> None:
        listen = [] if "--listen" in arguments else ["--listen", f"unix:{directory / 'server'}"]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(directory / "state"), **environment}
        self._log = directory / "log"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, serve_program.__file__, *listen, *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                env=variables,
                text=True,
            )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        assert self.line, self.log()

    def log(self) -> str:
        return self._log.read_text()

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0, self.log()


def test_it_serves_without_tensorflow_and_the_plugin(tmp_path: pathlib.Path) -> None:
    with Command(tmp_path, "--modules", "3") as command:
        spec = f"grpc+unix:{tmp_path / 'server'}"
        assert command.line == f"Serving 3 modules: HPU_BACKEND={spec}\n"
        maps = pathlib.Path(f"/proc/{command.process.pid}/maps").read_text()
        assert "libtensorflow" not in maps
        assert "habana_device" not in maps
        with session(spec) as client:
            assert len(client.describe().modules) == 3
            assert client.describe().pid == command.process.pid
    assert not (tmp_path / "server").exists()


def test_one_module(tmp_path: pathlib.Path) -> None:
    with Command(tmp_path, "--modules", "1") as command:
        assert command.line.startswith("Serving 1 module: HPU_BACKEND=")


def test_a_port_has_a_token_of_the_users(tmp_path: pathlib.Path) -> None:
    with Command(tmp_path, "--listen", "127.0.0.1:0", "--json") as command:
        report = json.loads(command.line)
        path = pathlib.Path(report["token_file"])
        assert path == tmp_path / "state" / "hpu-tensorflow" / "serve.token"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with Client(report["backend"]) as client:
            assert client.authorize() is Code.UNAUTHENTICATED
            assert client.authorize(b"Bearer " + path.read_bytes()) is Code.OK
    with Command(tmp_path, "--listen", "127.0.0.1:0") as command:
        assert command.process.stdout is not None
        assert command.process.stdout.readline() == f"Clients need the server's token: HPU_SERVER_TOKEN_FILE={path}\n"


def test_the_log_goes_to_stderr(tmp_path: pathlib.Path) -> None:
    for level, logged in (("2", True), ("3", False)):
        with Command(tmp_path, "--modules", "1", LOG_LEVEL_BACKEND=level) as command:
            for _ in range(2):  # the second iteration waits for the first server's end
                with session(f"grpc+unix:{tmp_path / 'server'}"):
                    pass
            assert (" I BACKEND: module 0 is assigned to pid 4711\n" in command.log()) == logged
            assert (" I BACKEND: module 0 is free again\n" in command.log()) == logged


def test_its_sessions_end_with_it(tmp_path: pathlib.Path) -> None:
    with Command(tmp_path) as command, session(f"grpc+unix:{tmp_path / 'server'}") as client:
        command.process.kill()
        assert client.is_ended()
        command.process.wait()
        command.process.returncode = 0
        # The next server replaces the left-over socket.
        with Command(tmp_path), session(f"grpc+unix:{tmp_path / 'server'}"):
            pass


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--launch-timeout", "-1"], "-1 is not a whole number from 0"),
        (["--max-memory-mb", "-5"], "-5 is not a whole number from 1"),
        (["--compile-timeout", "x"], "x is not a whole number"),
    ],
)
def test_numbers_are_checked(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", *arguments])
    assert text in capsys.readouterr().err


@pytest.fixture
def address(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Address for a server in this process."""
    monkeypatch.setattr(device_server, "_fork_server_command", fronts.command)
    yield f"unix:{tmp_path / 'server'}"
    device_server.stop()


def test_a_process_has_one_server(address: str) -> None:
    for _ in range(2):
        spec = device_server.start(address)
        assert spec == f"grpc+{address}"
        with session(spec):
            pass
        with pytest.raises(errors.DeviceError, match="already runs a device server") as error:
            device_server.start(address)
        assert error.value.code == Code.FAILED_PRECONDITION
        device_server.stop()
        device_server.stop()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"address": "127.0.0.1:0"}, "--token-file or --tls-client-ca"),
        ({"address": "somewhere"}, "neither unix:/path nor host:port"),
        ({"launch_timeout_seconds": -1}, "launch_timeout_seconds is out of range: expected 0 to 4294967295, got -1"),
        ({"limits": device_server.Limits(recipes=1 << 64)}, "limits.recipes is out of range"),
        ({"compilation": device_server.Compilation(workers=-1)}, "compilation.workers is out of range"),
        ({"recipe_key": b"short"}, "has 5 bytes"),
        ({"faults": ["lots@1"]}, "lots@1"),
    ],
)
def test_settings_that_cannot_be_used_are_errors(address: str, settings: dict[str, object], text: str) -> None:
    with pytest.raises(errors.DeviceError, match=text):
        device_server.start(**{"address": address, **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value"), [("HPU_MODULES", "65"), ("HPU_MEMORY_MB", str(1 << 40))])
def test_numbers_of_the_environment_are_checked(
    address: str, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(errors.DeviceError, match=f"{name}={value} is not between 1 and"):
        device_server.start(address)
