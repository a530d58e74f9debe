"""HTTP storage server in this process, on loopback, with selectable faults."""

from __future__ import annotations

import contextlib
import http.server
import socket
import struct
import threading
from collections.abc import Callable, Iterator

DRIP_SECONDS = 0.2


class StorageServer(http.server.ThreadingHTTPServer):
    """Server of objects by name, below the prefix /recipes."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.tokens: set[str | None] = set()
        self.faults: dict[str, Callable[[_Handler], None]] = {}
        """Faults by HTTP method. A fault replaces the regular answer."""
        self.stopped = threading.Event()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/recipes"

    def count(self, method: str) -> int:
        with self.lock:
            return sum(request[0] == method for request in self.requests)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores errors of clients that disconnect, which tests do on purpose."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: StorageServer

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def _handle(self) -> None:
        with self.server.lock:
            self.server.requests.append((self.command, self.name))
            self.server.tokens.add(self.headers["Authorization"])
        if self.command in self.server.faults:
            self.server.faults[self.command](self)
        elif self.command == "PUT":
            self.server.objects[self.name] = self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(201)
        elif self.name not in self.server.objects or not self.path.startswith("/recipes/"):
            self.answer(404, b"no such object")
        else:
            self.answer(200, self.server.objects[self.name])

    do_GET = do_HEAD = do_PUT = _handle  # noqa: N815 (names that http.server looks for)

    def answer(self, status: int, body: bytes = b"", length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 (as the base class)
        """Suppresses the log, because pytest would show it."""


def hang(handler: _Handler) -> None:
    handler.server.stopped.wait()
    handler.close_connection = True


def reset(handler: _Handler) -> None:
    # SO_LINGER with zero timeout makes close() reset the connection.
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def status(code: int) -> Callable[[_Handler], None]:
    """Returns a fault that answers immediately with the code, without reading the body, and closes the connection."""

    def fault(handler: _Handler) -> None:
        handler.answer(code)
        handler.close_connection = True

    return fault


def drip(handler: _Handler) -> None:
    """Fault that sends single bytes at intervals, so that no read times out."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.server.stopped.wait(DRIP_SECONDS):
        handler.wfile.write(b"x")
        handler.wfile.flush()


def huge(handler: _Handler) -> None:
    """Fault that announces more than the maximum entry size, and sends without end."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 50))
    handler.end_headers()
    while not handler.server.stopped.is_set():
        handler.wfile.write(bytes(1 << 16))


def endless(handler: _Handler) -> None:
    """Fault that announces no size, and sends without end."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    while not handler.server.stopped.is_set():
        handler.wfile.write(b"10000\r\n" + bytes(1 << 16) + b"\r\n")


def short(handler: _Handler) -> None:
    """Fault that closes the connection before all announced bytes are sent."""
    data = handler.server.objects.get(handler.name, b"part")
    handler.answer(200, data[: len(data) // 2], len(data))
    handler.close_connection = True


def redirect(handler: _Handler) -> None:
    handler.send_response(302)
    handler.send_header("Location", f"{handler.server.url}/elsewhere")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def garbage(handler: _Handler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH\r\n" * 10)
    handler.close_connection = True


@contextlib.contextmanager
def serving() -> Iterator[StorageServer]:
    with StorageServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()
