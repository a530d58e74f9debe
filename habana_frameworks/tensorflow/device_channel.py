"""gRPC channels to device servers for Python clients: `hpu smi`, tests. See docs/user/remote.md."""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import pathlib
import socket
import ssl
import struct
from collections.abc import Iterator
from typing import Any

from habana_frameworks.tensorflow import flags

_SCHEMES = {"grpc": "grpc://", "grpcs": "grpcs://", "grpc+unix": "grpc+"}
_MAX_PORT = 65535
_HANDSHAKE_SECONDS = 5
_CREDENTIALS = struct.Struct("3i")
# By default gRPC shares connections among channels; a server accepts one session per connection.
_OPTIONS = (("grpc.use_local_subchannel_pool", 1),)


def is_address(backend: str) -> bool:
    """Whether this value of HPU_BACKEND names a device server."""
    return backend.partition(":")[0] in _SCHEMES


def target(backend: str) -> str:
    """Returns the address in a value of HPU_BACKEND, as "unix:/path" or "host:port"."""
    return backend.removeprefix(_SCHEMES[backend.partition(":")[0]])


def check_address(address: str) -> None:
    """Raises ValueError unless `address` is "unix:/path" or "host:port"."""
    if address.startswith("unix:"):
        if not address.startswith("unix:/"):
            raise ValueError(f"{address}: the path after unix: must be absolute")
        return
    host, _, port = address.rpartition(":")
    if not host:
        raise ValueError(f"{address} is neither unix:/path nor host:port")
    # A larger number would silently wrap to a different port.
    if not (port.isdecimal() and int(port) <= _MAX_PORT):
        raise ValueError(f"{address}: {port!r} is not a port: expected a number from 0 to {_MAX_PORT}")


def open_channel(backend: str) -> Any:
    """Returns a grpc.Channel to the server, with the credentials of HPU_SERVER_…. Connects at the first call.

    Each channel has its own connection, for at most one session.

    Raises ValueError if a setting or the address is wrong, ImportError without grpcio.
    """
    import grpc

    try:
        check_address(target(backend))
    except ValueError as error:
        raise ValueError(f"HPU_BACKEND={backend}: {error}; correct HPU_BACKEND") from None
    _check_owner(target(backend))
    token, encrypted = _token(), backend.startswith("grpcs:")
    root, chain = _read("HPU_SERVER_CA", flags.server_ca()), _read("HPU_SERVER_CERT", flags.server_cert())
    key = _read_secret("HPU_SERVER_KEY", flags.server_key())
    if bool(chain) != bool(key):
        raise ValueError("only one of HPU_SERVER_CERT and HPU_SERVER_KEY is set: set both, or unset both")
    if encrypted:
        channel = grpc.secure_channel(target(backend), grpc.ssl_channel_credentials(root, key, chain), _OPTIONS)
    else:
        _check_secrecy(backend, token, bool(root or chain))
        channel = grpc.insecure_channel(target(backend), _OPTIONS)
    return grpc.intercept_channel(channel, _authorization(token)) if token else channel


def speaks_tls(address: str) -> bool:
    """Whether a server at host:port begins a TLS handshake. Verifies no certificate and sends no data."""
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])  # gRPC servers refuse a handshake without it
    server = (host.strip("[]"), int(port))
    try:
        with socket.create_connection(server, _HANDSHAKE_SECONDS) as connection, context.wrap_socket(connection):
            return True
    except ssl.SSLError as error:
        # A server that requires a certificate of the client answers with an alert.
        return "ALERT" in (error.reason or "")
    except OSError:
        return False


def _check_owner(address: str) -> None:
    """Raises ValueError if another user's process, other than root's, serves the Unix socket.

    The plugin makes the same check.
    """
    if not address.startswith("unix:"):
        return
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(address.removeprefix("unix:"))
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        except OSError:
            return  # no server: the first call reports it
    _, user, _ = _CREDENTIALS.unpack(peer)
    if user not in (os.geteuid(), 0):
        raise ValueError(
            f"{address}: the socket belongs to a process of user {user}; only servers of your own user or root are "
            "trusted: start your own server at another path"
        )


def _read(setting: str, path: str) -> bytes | None:
    if not path:
        return None
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{setting}={path} cannot be read: {error.strerror}; correct or unset {setting}") from error


def _read_secret(setting: str, path: str) -> bytes | None:
    """Reads a secret file. Raises ValueError if its group or other users have any access."""
    file = pathlib.Path(path)
    if path and file.exists() and file.stat().st_mode & 0o077:
        raise ValueError(f"{setting}={path} is accessible to other users: chmod 600 {path}")
    return _read(setting, path)


def _token() -> str:
    file = _read_secret("HPU_SERVER_TOKEN_FILE", flags.server_token_file())
    if file is not None and flags.server_token():
        raise ValueError("HPU_SERVER_TOKEN and HPU_SERVER_TOKEN_FILE are both set: unset one")
    return (flags.server_token() if file is None else file.decode("ascii", errors="replace")).strip()


def _check_secrecy(backend: str, token: str, certificates: bool) -> None:
    """Raises ValueError if certificates are set without TLS, or if a token would cross the network unencrypted.

    The plugin makes the same check.
    """
    if not backend.startswith("grpc:"):
        return
    if certificates:
        raise ValueError(
            f"{'HPU_SERVER_CA' if flags.server_ca() else 'HPU_SERVER_CERT'} is set, but grpc:// is not encrypted: set "
            f"HPU_BACKEND=grpcs://{target(backend)}"
        )
    if token and not _is_loopback(target(backend).rpartition(":")[0].strip("[]")):
        setting = "HPU_SERVER_TOKEN_FILE" if flags.server_token_file() else "HPU_SERVER_TOKEN"
        raise ValueError(f"{setting} is set, but grpc:// is not encrypted: set HPU_BACKEND=grpcs://{target(backend)}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _authorization(token: str) -> Any:
    """Returns an interceptor that adds the token to each call. All calls of the protocol are bidirectional streams."""
    import grpc

    @dataclasses.dataclass
    class Details(grpc.ClientCallDetails):
        method: str
        timeout: float | None
        metadata: list[tuple[str, str]]
        credentials: Any
        wait_for_ready: bool | None
        compression: Any

    class Authorization(grpc.StreamStreamClientInterceptor):
        def intercept_stream_stream(self, continuation: Any, details: Any, requests: Iterator[Any]) -> Iterator[Any]:
            metadata = [*(details.metadata or ()), ("authorization", f"Bearer {token}")]
            ours = Details(
                details.method,
                details.timeout,
                metadata,
                details.credentials,
                details.wait_for_ready,
                details.compression,
            )
            return continuation(ours, requests)

    return Authorization()
