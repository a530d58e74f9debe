"""Errors of programs if the server dies, modules are held, clients die, or the server rejects a request."""

from __future__ import annotations

import os
import pathlib
import signal
import stat
import subprocess
import sys

import pytest

from tests.remote import failures_programs as programs
from tests.remote.servers import Server
from tests.support import device_programs
from tests.support.processes import ROOT, WARM_PYTHON, call_to, run_with_tensorflow, start

UNAVAILABLE = "14"


def start_client(program: str, backend: str) -> subprocess.Popen[bytes]:
    """Starts a client that runs concurrently with the test and reports its progress as output."""
    command = [WARM_PYTHON, "-c", program]
    return start(command, {"HPU_BACKEND": backend}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class Holder:
    """A process that holds a module of a server."""

    def __init__(self, backend: str) -> None:
        self.process = start_client(call_to(device_programs.hold), backend)
        assert self.process.stdout is not None
        self.pid = int(self.process.stdout.readline())

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.communicate(timeout=30)


def acquire(backend: str, environment: dict[str, str] | None = None) -> str:
    return run_with_tensorflow(
        call_to(device_programs.acquire), {"HPU_BACKEND": backend, **(environment or {})}
    ).stdout.strip()


def test_a_busy_module_names_its_holder_and_a_dead_client_frees_it(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path, "--modules", "1") as server:
        for number in (signal.SIGKILL, signal.SIGTERM):
            holder = Holder(server.backend)
            try:
                busy = acquire(server.backend)
                assert busy.startswith(UNAVAILABLE), busy
                assert f"module 0: pid {holder.pid} (" in busy
                assert server.backend in busy
            finally:
                holder.end(number)
            assert acquire(server.backend) == "acquired 0"


def test_modules_are_chosen_as_on_a_card(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path, "--modules", "3") as server:
        assert acquire(server.backend, {"HLS_MODULE_ID": "2"}) == "acquired 2"
        assert acquire(server.backend, {"HABANA_VISIBLE_MODULES": "1,2"}) == "acquired 1"
        assert "module 3 does not exist" in acquire(server.backend, {"HLS_MODULE_ID": "3"})


def test_a_dead_server_is_named_and_the_next_one_can_be_used(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        command = [WARM_PYTHON, "-c", call_to(programs.train)]
        client = start(command, {"HPU_BACKEND": server.backend}, stdout=subprocess.PIPE, text=True)
        assert client.stdout is not None
        assert client.stdout.readline().strip() == "64.0"
        server.kill()
        output, _ = client.communicate(timeout=90)  # 10 s until the error, and time for the process to end
        assert client.returncode == 0, output
        assert f"the device server at {server.backend} is unreachable" in output
    with Server(tmp_path) as server:
        assert acquire(server.backend) == "acquired 0"


def test_a_hanging_server_is_detected(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        client = start_client(call_to(programs.compute_when_told), server.backend)
        assert client.stdout is not None
        assert client.stdout.readline() == b"ready\n"
        with server.stopped():
            output, _ = client.communicate(timeout=60)
        assert client.returncode == 0, output
        assert f"the device server at {server.backend} is unreachable" in output.decode()


@pytest.mark.slow
def test_a_hanging_server_does_not_block_other_starts(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        with server.stopped():
            done = run_with_tensorflow(call_to(programs.load), {"HPU_BACKEND": server.backend}, check=False)
        assert f"device server at {server.backend}: the server accepted the connection" in done.stderr


def test_without_a_server_loading_names_the_remedy(tmp_path: pathlib.Path) -> None:
    done = run_with_tensorflow(call_to(programs.load), {"HPU_BACKEND": f"grpc+unix:{tmp_path}/none"}, check=False)
    assert done.returncode != 0
    assert f"no device server answers at grpc+unix:{tmp_path}/none" in done.stderr
    assert "hpu serve --listen unix:" in done.stderr


def test_invalid_addresses_are_refused() -> None:
    assert run_with_tensorflow(call_to(programs.wrong_addresses)).stdout == ""


def test_only_the_user_may_connect_and_one_server_has_the_path(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        mode = (tmp_path / "server").stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
        command = [sys.executable, "-m", "habana_frameworks.tensorflow", "serve", "--listen"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        for address, reason in (
            (f"unix:{tmp_path / 'server'}", f"process {server.process.pid} already serves"),
            ("0.0.0.0:0", "TLS"),
        ):
            done = subprocess.run(
                [*command, address], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60
            )
            assert done.returncode == 1, done
            assert reason in done.stderr
        assert acquire(server.backend) == "acquired 0"


def test_a_loopback_port_serves_too_and_faults_need_consent(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path, "--listen", "127.0.0.1:0") as server:
        assert server.backend.startswith("grpc://127.0.0.1:")
        token = {"HPU_SERVER_TOKEN_FILE": server.token_file}
        assert acquire(server.backend, token) == "acquired 0"
        assert "--allow-faults" in acquire(server.backend, {"HPU_FAULTS": "copy@1", **token})
