"""TLS in the front process: certificates, and relayed data between clients and session processes."""

from __future__ import annotations

import contextlib
import pathlib
import socket
import ssl
import threading
from collections.abc import Iterator

import pytest

from habana_frameworks.tensorflow._internal.serve.settings import Tls
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from tests.remote import certificates, fake_fork_server
from tests.remote.certificates import Certificate
from tests.remote.fake_fork_server import Order
from tests.remote.fronts import SECONDS, Client, front
from tests.remote.servers import wait_until
from tests.remote.test_front import open_files

MIB = 1 << 20


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Certificate]:
    directory = tmp_path_factory.mktemp("certificates")
    return {name: certificates.make(directory, name) for name in ("server", "client", "stranger")}


def settings(server: Certificate, client: Certificate | None = None) -> Tls:
    client_ca = client.certificate.read_bytes() if client is not None else b""
    return Tls(server.certificate.read_bytes(), server.key.read_bytes(), client_ca)


def context(server: Certificate, client: Certificate | None = None) -> ssl.SSLContext:
    """Returns a client's TLS context."""
    made = ssl.create_default_context(cafile=str(server.certificate))
    made.set_alpn_protocols(["h2"])
    if client is not None:
        made.load_cert_chain(client.certificate, client.key)
    return made


@pytest.fixture
def spec(tmp_path: pathlib.Path, known: dict[str, Certificate]) -> Iterator[str]:
    with front(tmp_path, address="127.0.0.1:0", token="secret", tls=settings(known["server"])) as running:
        yield running.spec


def test_messages_cross_the_relay(spec: str, known: dict[str, Certificate]) -> None:
    assert spec.startswith("grpcs://127.0.0.1:")
    with Client(spec, context(known["server"])) as client:
        assert isinstance(client.socket, ssl.SSLSocket)
        assert client.socket.selected_alpn_protocol() == "h2"
        assert client.authorize() is Code.UNAUTHENTICATED
        assert client.authorize(b"Bearer secret") is Code.OK
        assert client.claim().claimed.module_id == 0
        assert client.describe().modules[0].held


def test_large_data_cross_it_whole(spec: str, known: dict[str, Certificate]) -> None:
    data = bytes(range(256)) * (40 * MIB // 256)
    with Client(spec, context(known["server"])) as client:
        client.authorize(b"Bearer secret")
        writer = threading.Thread(target=client.write, args=(Order.ECHO, data))
        writer.start()
        order, echo = fake_fork_server.read_frame(client.socket)
        writer.join()
        assert order is Order.ECHO
        assert echo == data


def test_a_client_that_does_not_read_stops_its_session(spec: str, known: dict[str, Certificate]) -> None:
    """Without flow control, the data would fill the front process's memory."""
    with Client(spec, context(known["server"])) as client:
        client.socket.settimeout(2)
        with pytest.raises(socket.timeout):
            for _ in range(200):
                client.write(Order.ECHO, bytes(MIB))
        with Client(spec, context(known["server"])) as other:
            assert other.authorize(b"Bearer secret") is Code.OK


def test_ends_are_passed_on(spec: str, known: dict[str, Certificate]) -> None:
    before = open_files()
    for _ in range(10):
        with Client(spec, context(known["server"])) as client:
            client.authorize(b"Bearer secret")
            assert client.claim().status.code == Code.OK
            client.write(Order.PASS_ON, b"\xff")  # ends the session
            assert client.is_ended()
        reset = Client(spec, context(known["server"]))
        reset.authorize(b"Bearer secret")
        assert reset.claim().status.code == Code.OK
        reset.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        reset.close()
    with Client(spec, context(known["server"])) as watch:
        watch.authorize(b"Bearer secret")
        wait_until(lambda: not any(module.held for module in watch.describe().modules))
    wait_until(lambda: open_files() <= before, "descriptors are left")


def test_certificates_of_clients_are_checked(
    tmp_path: pathlib.Path, known: dict[str, Certificate], caplog: pytest.LogCaptureFixture
) -> None:
    ours, friend, stranger = known["server"], known["client"], known["stranger"]
    with front(tmp_path, address="127.0.0.1:0", tls=settings(ours, friend)) as running:
        with Client(running.spec, context(ours, friend)) as client:
            assert client.authorize() is Code.OK  # no token
        for refused in (None, stranger):
            refusal = pytest.raises((ssl.SSLError, ConnectionError, EOFError))
            with refusal, Client(running.spec, context(ours, refused)) as client:
                client.authorize()
        with contextlib.suppress(ConnectionError), Client(running.spec) as clear:
            clear.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            clear.socket.recv(100)
        wait_until(lambda: caplog.text.count("TLS handshake of ipv4:127.0.0.1:") >= 3)
        with pytest.raises(ssl.SSLError):
            Client(running.spec, context(stranger, friend))


def test_old_versions_are_refused(spec: str, known: dict[str, Certificate]) -> None:
    old = context(known["server"])
    old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionError)):
        Client(spec, old)


@pytest.mark.parametrize("bytes_sent", [b"", b"\x16\x03\x01"])
def test_silent_handshakes_do_not_block_other_clients(
    spec: str, known: dict[str, Certificate], bytes_sent: bytes
) -> None:
    silent = [socket.create_connection(("127.0.0.1", int(spec.rpartition(":")[2])), SECONDS) for _ in range(100)]
    for connection in silent:
        connection.sendall(bytes_sent)
    with Client(spec, context(known["server"])) as client:
        assert client.authorize(b"Bearer secret") is Code.OK
    for connection in silent:
        connection.close()


def test_errors_of_unusable_certificates_name_the_reason(tmp_path: pathlib.Path, known: dict[str, Certificate]) -> None:
    ours, other = known["server"], known["client"]
    certificate, key = ours.certificate.read_bytes(), ours.key.read_bytes()
    for tls, text in (
        (Tls(certificate, other.key.read_bytes()), "do not match"),
        (Tls(certificate, b"nonsense"), "PEM files"),
        (Tls(certificate, key, b"nonsense"), "--tls-client-ca"),
        (Tls(certificate, b""), "only one of --tls-cert"),
        (Tls(b"", b"", certificate), "require TLS"),
    ):
        with pytest.raises(StatusError, match=text), front(tmp_path, address="127.0.0.1:0", token="secret", tls=tls):
            pass
    with pytest.raises(StatusError, match="TLS works only at host:port"), front(tmp_path, tls=Tls(certificate, key)):
        pass
