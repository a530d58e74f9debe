"""Endless programs: the client's end frees module and CPU, and SIGTERM ends the server."""

from __future__ import annotations

import contextlib
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import grpc

from tests.remote.attacks.footprint import processor_seconds
from tests.remote.attacks.programs import endless_loop
from tests.remote.attacks.scene import RECOVERY_SECONDS, Scene, within
from tests.remote.device_client import MIB
from tests.support.processes import ROOT, WARM_PYTHON, start

DIRECTORY = ROOT / "tests" / "remote" / "attacks"


@contextlib.contextmanager
def client(program: str, backend: str, python: str = sys.executable) -> Iterator[subprocess.Popen[Any]]:
    """Starts a client process, and waits for its first line of output."""
    command = [python, str(DIRECTORY / program)]
    process = start(command, {"HPU_BACKEND": backend}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


def computes(pids: list[int]) -> bool:
    """Whether the processes use CPU time. On a busy machine they may get little."""
    before = sum(map(processor_seconds, pids))
    time.sleep(0.5)
    return sum(map(processor_seconds, pids)) - before > 0.03


def test_a_killed_client_frees_module_and_processor(scene: Scene) -> None:
    with client("endless_client.py", scene.backend) as process:
        sessions = scene.new_sessions()
        assert len(sessions) == 1
        within(lambda: computes(sessions), lambda: "the loop does not run")
        process.kill()
        within(lambda: len(scene.monitor.held()) == 1, lambda: "the module is held")
        within(lambda: not scene.new_sessions(), lambda: f"processes {scene.new_sessions()} go on")


def test_a_client_that_leaves_frees_module_and_processor(scene: Scene) -> None:
    with scene.attacker(memory_bytes=MIB) as session:
        recipe = session.compile(endless_loop())
        base = session.base
        with contextlib.suppress(grpc.RpcError):
            session.hold.cancel()
            session.launch(recipe, [base], [base + 4096], base + 8192)


def test_an_interrupted_training_frees_module_and_processor(scene: Scene) -> None:
    with client("endless_training.py", scene.backend, WARM_PYTHON) as process:
        sessions = scene.new_sessions()
        within(lambda: computes(sessions), lambda: "the loop does not run")
        process.send_signal(signal.SIGINT)
        process.wait(timeout=RECOVERY_SECONDS)
        within(lambda: len(scene.monitor.held()) == 1, lambda: "the module is held")


def test_sigterm_ends_a_server_whose_sessions_compute(tmp_path: pathlib.Path) -> None:
    with Scene(tmp_path) as scene, client("endless_client.py", scene.backend) as process:
        sessions = scene.new_sessions()
        within(lambda: computes(sessions), lambda: "the loop does not run")
        begin = time.monotonic()
        scene.server.process.send_signal(signal.SIGTERM)
        assert scene.server.process.wait(timeout=RECOVERY_SECONDS) == 0
        within(lambda: not scene.processes(), lambda: f"processes {scene.processes()} go on")
        assert time.monotonic() - begin < RECOVERY_SECONDS
        assert process.poll() is None


def test_a_launch_ends_by_its_limit_of_time(tmp_path: pathlib.Path) -> None:
    with Scene(tmp_path, "--launch-timeout", "2") as scene:
        with scene.attacker(memory_bytes=MIB) as session:
            recipe = session.compile(endless_loop())
            begin = time.monotonic()
            with contextlib.suppress(grpc.RpcError):
                session.launch(recipe, [session.base], [session.base + 4096], session.base + 8192)
            code, error = session.wait_for_end()
            assert code is grpc.StatusCode.DEADLINE_EXCEEDED
            assert "--launch-timeout" in error
            assert 1.5 < time.monotonic() - begin < RECOVERY_SECONDS
        scene.assert_unharmed()
