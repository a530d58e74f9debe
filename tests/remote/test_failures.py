"""What programs see when the server dies, modules are held, clients die, or the server refuses."""

from __future__ import annotations

import os
import pathlib
import signal
import stat
import subprocess
import sys
import textwrap
import time

from tests.remote.servers import Server
from tests.support.processes import ROOT, WARM_PYTHON, run_with_tensorflow, start

HOLD = """
import os, sys
from habana_frameworks.tensorflow import habana_device
habana_device.acquire()
print(os.getpid(), flush=True)
sys.stdin.read()
"""
ACQUIRE = """
from habana_frameworks.tensorflow import errors, habana_device
try:
    habana_device.acquire()
    print("acquired", habana_device.info()["module_id"])
except errors.DeviceError as error:
    print(error.code, error)
"""
UNAVAILABLE = "14"


def start_client(code: str, backend: str) -> subprocess.Popen[bytes]:
    """A client of a server that goes on while the test does other things; it says by its output how far it is."""
    command = [WARM_PYTHON, "-c", code]
    return start(command, {"HPU_BACKEND": backend}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class Holder:
    """A process that holds a module of a server."""

    def __init__(self, backend: str) -> None:
        self.process = start_client(HOLD, backend)
        assert self.process.stdout is not None
        self.pid = int(self.process.stdout.readline())

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.communicate(timeout=30)


def acquire(backend: str, environment: dict[str, str] | None = None) -> str:
    return run_with_tensorflow(ACQUIRE, {"HPU_BACKEND": backend, **(environment or {})}).stdout.strip()


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
    train = """
        import time
        import tensorflow as tf
        from habana_frameworks.tensorflow import load_habana_module
        load_habana_module()
        weight = tf.Variable(tf.ones([64, 64]))
        @tf.function
        def step():
            weight.assign(tf.nn.softmax(weight @ weight))
            return tf.reduce_sum(weight)
        print(float(step()), flush=True)
        try:
            while True:
                float(step())
        except tf.errors.UnavailableError as error:
            print(error.message)
    """
    with Server(tmp_path) as server:
        command = [WARM_PYTHON, "-c", textwrap.dedent(train)]
        client = start(command, {"HPU_BACKEND": server.backend}, stdout=subprocess.PIPE, text=True)
        assert client.stdout is not None
        assert client.stdout.readline().strip() == "64.0"
        server.kill()
        killed = time.monotonic()
        output, _ = client.communicate(timeout=30)
        assert time.monotonic() - killed < 20  # 10 for the error, the rest for the process to end
        assert client.returncode == 0, output
        assert f"the device server at {server.backend} is unreachable" in output
    with Server(tmp_path) as server:
        assert acquire(server.backend) == "acquired 0"


def test_a_server_that_hangs_is_found_out(tmp_path: pathlib.Path) -> None:
    compute = """
        import sys, time
        import tensorflow as tf
        from habana_frameworks.tensorflow import errors, habana_device
        habana_device.acquire()
        with tf.device("HPU:0"):
            ones = tf.ones([100])
        print("ready", flush=True)
        sys.stdin.read()
        begun = time.monotonic()
        try:
            (ones + 1).numpy()
            habana_device.synchronize()
            print("no error")
        except (tf.errors.UnavailableError, errors.DeviceError) as error:
            print(error)
        assert time.monotonic() - begun < 12.5, time.monotonic() - begun
    """
    with Server(tmp_path) as server:
        client = start_client(textwrap.dedent(compute), server.backend)
        assert client.stdout is not None
        assert client.stdout.readline() == b"ready\n"
        with server.stopped():
            output, _ = client.communicate(timeout=60)
        assert client.returncode == 0, output
        assert f"the device server at {server.backend} is unreachable" in output.decode()


def test_a_server_that_hangs_keeps_nobody_from_starting(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        with server.stopped():
            code = "from habana_frameworks.tensorflow import load_habana_module\nload_habana_module()"
            done = run_with_tensorflow(code, {"HPU_BACKEND": server.backend}, check=False)
        assert f"device server at {server.backend}: it accepted the connection" in done.stderr


def test_without_a_server_loading_says_how_to_start_one(tmp_path: pathlib.Path) -> None:
    code = "from habana_frameworks.tensorflow import load_habana_module\nload_habana_module()"
    done = run_with_tensorflow(code, {"HPU_BACKEND": f"grpc+unix:{tmp_path}/none"}, check=False)
    assert done.returncode != 0
    assert f"no device server answers at grpc+unix:{tmp_path}/none" in done.stderr
    assert "hpu serve --listen unix:" in done.stderr


def test_addresses_that_are_none_are_refused() -> None:
    code = """
        import os
        from habana_frameworks.tensorflow import errors, load_habana_module
        for backend in ("grpc://nowhere", "grpc+unix:relative", "grpcs:127.0.0.1:1"):
            os.environ["HPU_BACKEND"] = backend
            try:
                load_habana_module()
                print("loaded")
            except errors.BackendError as error:
                assert f"HPU_BACKEND={backend}" in str(error), error
        """
    assert run_with_tensorflow(code).stdout == ""


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
