"""Access to device servers: tokens, TLS, rejections and their log."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess

import grpc
import pytest

from habana_frameworks.tensorflow import device_channel, device_server, monitor
from habana_frameworks.tensorflow.cli import main
from tests.remote import access_programs as programs
from tests.remote import certificates
from tests.remote.certificates import Certificate
from tests.remote.servers import Server, wait_until
from tests.support import device_programs
from tests.support.processes import WARM_PYTHON, call_to, run_with_tensorflow, start

TOKEN = "0123456789abcdef"


def acquire(backend: str, environment: dict[str, str] | None = None) -> str:
    """Returns the output of a program that acquires the device."""
    return run_with_tensorflow(
        call_to(device_programs.acquire), {"HPU_BACKEND": backend, **(environment or {})}
    ).stdout.strip()


def refusals(backend: str, environments: list[dict[str, str]]) -> list[str]:
    """Returns the errors of programs with these settings."""
    done = run_with_tensorflow(call_to(programs.try_environments, environments), {"HPU_BACKEND": backend})
    return [str(refusal) for refusal in json.loads(done.stdout)]


def write_token(path: pathlib.Path, token: str = TOKEN) -> str:
    path.touch(0o600)
    path.write_text(token + "\n")
    return str(path)


def test_a_client_needs_the_token(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token_file = write_token(tmp_path / "token")
    with Server(tmp_path, "--token-file", token_file) as server:
        guesses = [TOKEN[:-1], TOKEN + "0", "x" * len(TOKEN)]
        without, *wrong = refusals(server.backend, [{}, *({"HPU_SERVER_TOKEN": guess} for guess in guesses)])
        assert without.startswith(f"device server at {server.backend}: "), without
        assert "set HPU_SERVER_TOKEN or HPU_SERVER_TOKEN_FILE" in without
        assert "by default ~/.local/state/hpu-tensorflow/serve.token" in without
        assert all("correct HPU_SERVER_TOKEN" in refusal for refusal in wrong), wrong
        refused = r"refused /hpu.device.v1.DeviceService/Describe of unix:pid \d+ uid \d+: UNAUTHENTICATED"
        assert len(re.findall(refused, server.log())) == 4
        assert TOKEN[:-1] not in server.log()
        assert acquire(server.backend, {"HPU_SERVER_TOKEN": TOKEN}) == "acquired 0"
        assert acquire(server.backend, {"HPU_SERVER_TOKEN_FILE": token_file}) == "acquired 0"
        # The Python client.
        with pytest.raises(monitor.UnavailableError, match="set HPU_SERVER_TOKEN"):
            monitor.read(server.backend)
        monkeypatch.setenv("HPU_SERVER_TOKEN_FILE", token_file)
        assert len(monitor.read(server.backend).modules) == 8


def test_wrong_settings_are_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token_file = write_token(tmp_path / "token")
    open_file = write_token(tmp_path / "open")
    pathlib.Path(open_file).chmod(0o640)
    cases: list[tuple[dict[str, str], str]] = [
        ({"HPU_SERVER_TOKEN": TOKEN, "HPU_SERVER_TOKEN_FILE": token_file}, "both set"),
        (
            {"HPU_SERVER_TOKEN_FILE": f"{tmp_path}/none"},
            f"HPU_SERVER_TOKEN_FILE={tmp_path}/none cannot be read: No such",
        ),
        (
            {"HPU_SERVER_TOKEN_FILE": open_file},
            f"HPU_SERVER_TOKEN_FILE={open_file} is accessible to other users: chmod 600",
        ),
        ({"HPU_SERVER_KEY": open_file}, f"HPU_SERVER_KEY={open_file} is accessible to other users: chmod 600"),
        ({"HPU_SERVER_TOKEN": "a\x01b"}, "printable"),
        ({"HPU_SERVER_CERT": token_file}, "only one of HPU_SERVER_CERT and HPU_SERVER_KEY"),
        ({"HPU_SERVER_CA": token_file}, "HPU_BACKEND=grpcs://192.0.2.1:1"),
        ({"HPU_SERVER_TOKEN": TOKEN}, "a token must not be sent unencrypted over the network"),
    ]
    found = refusals("grpc://192.0.2.1:1", [environment for environment, _ in cases])
    for (_, reason), refusal in zip(cases, found):
        assert reason in refusal
    # The Python client.
    monkeypatch.setenv("HPU_SERVER_TOKEN_FILE", open_file)
    with pytest.raises(ValueError, match="is accessible to other users"):
        device_channel.open_channel("grpc://127.0.0.1:1")


def test_the_address_of_all_interfaces_becomes_the_name_of_the_machine() -> None:
    name = socket.gethostname()
    assert device_server.reachable("grpcs://0.0.0.0:7070") == f"grpcs://{name}:7070"
    assert device_server.reachable("grpcs://[::]:7070") == f"grpcs://{name}:7070"
    for spec in ("grpc://127.0.0.1:7070", "grpc+unix:/run/0.0.0.0:1"):
        assert device_server.reachable(spec) == spec


def test_errors_of_unusable_addresses_name_the_reason(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "file"
    file.write_text("of the user's")
    with socket.create_server(("127.0.0.1", 0)) as other:
        cases = [
            (f"unix:{tmp_path}/{'x' * 107}", "bytes, but the maximum is 107; pass a shorter path to --listen"),
            (f"unix:{tmp_path}/none/socket", "No such file or directory; pass --listen a path in a writable directory"),
            (f"unix:{file}", "Address already in use"),
            ("127.0.0.1:99999", "'99999' is not a port"),
            ("127.0.0.1:http", "'http' is not a port"),
            (f"127.0.0.1:{other.getsockname()[1]}", "Address already in use"),
        ]
        said = run_with_tensorflow(
            call_to(programs.start_servers, [address for address, _ in cases], TOKEN)
        ).stdout.splitlines()
    assert len(said) == len(cases)
    for (_, reason), message in zip(cases, said):
        assert reason in message
    assert file.read_text() == "of the user's"
    (refusal,) = refusals("grpc://127.0.0.1:99999", [{}])
    assert "'99999' is not a port" in refusal
    with pytest.raises(monitor.UnavailableError, match="'99999' is not a port"):
        monitor.read("grpc://127.0.0.1:99999")


@pytest.mark.parametrize("address", ["somewhere", ":7070", "unix:here", "[::1]:65536", "127.0.0.1:"])
def test_the_command_takes_addresses_only(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["serve", "--listen", address])
    assert end.value.code == 2
    assert f"argument --listen: {address}" in capsys.readouterr().err


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Certificate]:
    directory = tmp_path_factory.mktemp("certificates")
    return {name: certificates.make(directory, name) for name in ("server", "client", "stranger")}


def credentials(ca: Certificate, client: Certificate | None = None) -> dict[str, str]:
    environment = {"HPU_SERVER_CA": str(ca.certificate)}
    if client is not None:
        environment |= {"HPU_SERVER_CERT": str(client.certificate), "HPU_SERVER_KEY": str(client.key)}
    return environment


def test_both_sides_check_certificates(
    tmp_path: pathlib.Path, known: dict[str, Certificate], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, client, stranger = known["server"], known["client"], known["stranger"]
    tls = ["--tls-cert", str(ours.certificate), "--tls-key", str(ours.key), "--tls-client-ca", str(client.certificate)]
    with Server(tmp_path, "--listen", "127.0.0.1:0", *tls) as server:
        assert server.backend.startswith("grpcs://127.0.0.1:")
        good = credentials(ours, client)
        assert run_with_tensorflow(
            call_to(programs.compute), {"HPU_BACKEND": server.backend, **good}
        ).stdout.strip() == str(512.0**3)
        assert "TLS" not in server.log()
        *unknown, strange = refusals(
            server.backend, [credentials(ours), credentials(ours, stranger), credentials(stranger, client)]
        )
        for refusal in unknown:
            assert refusal.startswith(f"cannot connect to the device server at {server.backend}"), refusal
            assert "HPU_SERVER_CERT and HPU_SERVER_KEY satisfy its --tls-client-ca" in refusal
        # Clients may receive the error before the log is written.
        wait_until(lambda: server.log().count("TLS handshake of ipv4:127.0.0.1:") >= 2)
        # Older gRPC (Ubuntu 22.04) does not report the reason.
        untold = "(failed to connect to all addresses)" in strange
        assert untold or "CERTIFICATE_VERIFY_FAILED" in strange.upper().replace(" ", "_")
        assert "HPU_SERVER_CA" in strange
        unencrypted = server.backend.replace("grpcs:", "grpc:")
        (clear,) = refusals(unencrypted, [{}])
        assert f"if the server uses TLS, set HPU_BACKEND={server.backend}" in clear
        # The Python client.
        with pytest.raises(monitor.UnavailableError, match="HPU_SERVER_CA verifies its certificate"):
            monitor.read(server.backend)
        with pytest.raises(monitor.UnavailableError, match=f"uses TLS .*; set HPU_BACKEND={server.backend}$"):
            monitor.read(unencrypted)
        for name, value in good.items():
            monkeypatch.setenv(name, value)
        assert len(monitor.read(server.backend).modules) == 8


def test_a_dead_server_is_noticed_over_tls(tmp_path: pathlib.Path, known: dict[str, Certificate]) -> None:
    ours = known["server"]
    tls = ["--tls-cert", str(ours.certificate), "--tls-key", str(ours.key)]
    with Server(tmp_path, "--listen", "127.0.0.1:0", *tls) as server:
        command = [WARM_PYTHON, "-c", call_to(programs.compute_when_told)]
        environment = {"HPU_BACKEND": server.backend, "HPU_SERVER_TOKEN_FILE": server.token_file, **credentials(ours)}
        client = start(command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert client.stdout is not None
        assert client.stdout.readline().strip() == "acquired"
        server.kill()
        output, _ = client.communicate("\n", timeout=60)
        assert f"the device server at {server.backend} is unreachable" in output


def test_a_forked_child_does_not_keep_the_module_over_tls(
    tmp_path: pathlib.Path, known: dict[str, Certificate]
) -> None:
    ours = known["server"]
    tls = ["--tls-cert", str(ours.certificate), "--tls-key", str(ours.key)]
    with Server(tmp_path, "--listen", "127.0.0.1:0", *tls, environment={"LOG_LEVEL_BACKEND": "2"}) as server:
        environment = {"HPU_BACKEND": server.backend, "HPU_SERVER_TOKEN_FILE": server.token_file, **credentials(ours)}
        # The client's child outlives it.
        command = [WARM_PYTHON, "-c", call_to(programs.leave_a_child)]
        with start(command, environment, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            child = int(program.stdout.readline())
        try:
            wait_until(lambda: "module 0 is free again" in server.log())
            os.kill(child, 0)  # the child still exists
            assert "was silent" not in server.log()
        finally:
            os.kill(child, signal.SIGKILL)


def test_public_addresses_require_tls(tmp_path: pathlib.Path, known: dict[str, Certificate]) -> None:
    ours = known["server"]
    tls = ["--tls-cert", str(ours.certificate), "--tls-key", str(ours.key)]
    cases: list[tuple[str, list[str], str]] = [
        ("0.0.0.0:0", [], "without TLS"),
        ("0.0.0.0:0", ["--token-file", write_token(tmp_path / "token")], "without TLS"),
        ("127.0.0.1:0", tls[:2], "only one of --tls-cert"),
        ("127.0.0.1:0", [*tls[:2], "--tls-key", str(known["client"].key)], "do not match"),
        ("127.0.0.1:0", ["--tls-client-ca", tls[1]], "require TLS"),
        ("127.0.0.1:0", ["--tls-cert", str(tmp_path / "none")], "none cannot be read"),
        ("127.0.0.1:0", ["--token-file", write_token(tmp_path / "short", "short")], "a token needs at least 16"),
        (f"unix:{tmp_path}/socket", tls, "TLS works only at host:port"),
    ]
    arguments = [["--listen", listen, *more] for listen, more, _ in cases]
    said = run_with_tensorflow(call_to(programs.serve, arguments), {"XDG_STATE_HOME": str(tmp_path)}).stderr
    for (_, _, reason), message in zip(cases, said.split("\n\n")):
        assert reason in message


def test_a_port_has_a_token(tmp_path: pathlib.Path) -> None:
    tokens = []
    for _ in range(2):
        with Server(tmp_path, "--backend", "null", "--listen", "127.0.0.1:0") as server:
            assert server.backend.startswith("grpc://127.0.0.1:")
            assert stat.S_IMODE(pathlib.Path(server.token_file).stat().st_mode) == 0o600
            assert "set HPU_SERVER_TOKEN" in refusals(server.backend, [{}])[0]
            assert acquire(server.backend, {"HPU_SERVER_TOKEN_FILE": server.token_file}) == "acquired 0"
            tokens.append(pathlib.Path(server.token_file).read_text())
    assert tokens[0] == tokens[1]  # the token persists, so clients can use the next server
    assert len(tokens[0]) >= 32
    done = run_with_tensorflow(call_to(programs.start_servers, ["127.0.0.1:0"]))
    assert "--token-file or --tls-client-ca" in done.stdout


def test_every_call_needs_the_token(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path, "--token-file", write_token(tmp_path / "token")) as server:
        channel = grpc.insecure_channel(device_channel.target(server.backend))
        for method in ("Describe", "Hold", "Run", "MakeRecipe", "Nothing"):
            call = channel.stream_stream(f"/hpu.device.v1.DeviceService/{method}")(iter([b""]), timeout=30)
            with pytest.raises(grpc.RpcError):
                list(call)
            assert call.code() is grpc.StatusCode.UNAUTHENTICATED
        channel.close()
