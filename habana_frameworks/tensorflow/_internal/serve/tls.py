"""TLS termination in the front process, which relays plaintext. Session processes never see the private key."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import struct
from collections.abc import Iterator

from habana_frameworks.tensorflow._internal.serve.settings import Tls
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError

_CHUNK_BYTES = 64 << 10
_LINGER = struct.Struct("ii")


def server_context(tls: Tls) -> ssl.SSLContext:
    """Returns the server's TLS context. Raises StatusError for an unusable certificate or key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["h2"])
    with _file_of(tls.certificate) as certificate, _file_of(tls.private_key) as key:
        try:
            # Without a password callback OpenSSL would prompt on the terminal.
            context.load_cert_chain(certificate, key, password=lambda: "")
        except (ssl.SSLError, ValueError) as error:
            raise StatusError(
                Code.INVALID_ARGUMENT, f"the certificate and its key (--tls-cert, --tls-key) {_problem(error)}"
            ) from error
    if tls.client_ca:
        try:
            context.load_verify_locations(cadata=tls.client_ca.decode("ascii"))
        except (ssl.SSLError, ValueError) as error:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                f"the client CA certificates (--tls-client-ca) are not valid PEM: {_reason(error)}",
            ) from error
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class HandshakeError(Exception):
    """The TLS handshake failed; the message is the reason."""


class TlsRelay:
    """Relays between a client's TLS connection and a plaintext socket. Belongs to one event loop.

    Holds at most two chunks in memory: if one side does not read, the relay stops reading from the other.
    """

    def __init__(self, connection: socket.socket, context: ssl.SSLContext) -> None:
        """Takes ownership of `connection`, which is non-blocking."""
        self._loop = asyncio.get_running_loop()
        self._connection = connection
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._flushing = asyncio.Lock()
        self._ended = False

    async def shake_hands(self) -> None:
        """Performs the TLS handshake. Raises HandshakeError, or OSError if the connection fails."""
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await self._flush()
                received = await self._loop.sock_recv(self._connection, _CHUNK_BYTES)
                if not received:
                    raise HandshakeError("the client disconnected") from None
                self._incoming.write(received)
            except ssl.SSLError as error:
                with contextlib.suppress(OSError):
                    await self._flush()  # the alert
                raise HandshakeError(_reason(error)) from error
        await self._flush()

    async def run(self, plain: socket.socket) -> None:
        """Relays until both directions have ended or one has failed. Takes ownership of the non-blocking `plain`."""
        with plain, self._connection:
            tasks = [
                self._loop.create_task(self._relay_in(plain)),
                self._loop.create_task(self._relay_out(plain)),
            ]
            try:
                await asyncio.gather(*tasks)
            except (OSError, ssl.SSLError):
                if not self._ended:
                    self._abort()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)

    def close(self) -> None:
        """Closes the connection of a relay that is not running."""
        self._connection.close()

    async def _relay_in(self, plain: socket.socket) -> None:
        """Relays from the client to the session."""
        while True:
            try:
                data = self._tls.read(_CHUNK_BYTES)
            except ssl.SSLWantReadError:
                await self._flush()
                received = await self._loop.sock_recv(self._connection, _CHUNK_BYTES)
                if received:
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
                continue
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                data = b""
            if not data:
                plain.shutdown(socket.SHUT_WR)
                return
            await self._loop.sock_sendall(plain, data)

    async def _relay_out(self, plain: socket.socket) -> None:
        """Relays from the session to the client."""
        while True:
            data = await self._loop.sock_recv(plain, _CHUNK_BYTES)
            if not data:
                # Sends close_notify, without waiting for the client's.
                with contextlib.suppress(ssl.SSLError):
                    self._tls.unwrap()
                await self._flush()
                self._connection.shutdown(socket.SHUT_WR)
                self._ended = True
                return
            self._tls.write(data)
            await self._flush()

    async def _flush(self) -> None:
        async with self._flushing:
            data = self._outgoing.read()
            if data:
                await self._loop.sock_sendall(self._connection, data)

    def _abort(self) -> None:
        """Makes close() reset the connection, so that the client gets an error instead of an end of file."""
        with contextlib.suppress(OSError):
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER.pack(1, 0))


@contextlib.contextmanager
def _file_of(content: bytes) -> Iterator[str]:
    """Yields the path of an in-memory file, because load_cert_chain() accepts only paths."""
    descriptor = os.memfd_create("hpu-pem", os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def _problem(error: Exception) -> str:
    if getattr(error, "reason", "") == "KEY_VALUES_MISMATCH":
        return "do not match: pass the private key of this certificate"
    return f"cannot be loaded ({_reason(error)}): both must be PEM files, the key without a password"


def _reason(error: Exception) -> str:
    """Returns OpenSSL's reason text without error numbers."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return (getattr(error, "reason", None) or str(error)).replace("_", " ").lower()
