"""Front process of a device server within the test process, with session processes that obey the test."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import ssl
import sys
from collections.abc import Iterator
from typing import Any

from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.messages import device_pb2
from habana_frameworks.tensorflow._internal.serve.settings import ServerSettings
from habana_frameworks.tensorflow._internal.serve.status import Code
from habana_frameworks.tensorflow._internal.serve.thread import FrontThread
from tests.remote import fake_fork_server
from tests.remote.fake_fork_server import Order

SECONDS = 30
"""Time limit after which a test counts as hanging."""


def command(failure: str = "") -> list[str]:
    return [sys.executable, "-I", fake_fork_server.__file__, str(pathlib.Path(pb.__file__).parent), failure]


@contextlib.contextmanager
def front(directory: pathlib.Path, failure: str = "", **settings: Any) -> Iterator[FrontThread]:
    """Runs a server with two modules at directory/"server", unless `settings` override this."""
    settings = {"address": f"unix:{directory / 'server'}", "modules": 2, **settings}
    running = FrontThread(ServerSettings(**settings), command(failure), os.environ)
    try:
        yield running
    finally:
        running.stop()


class Client:
    """A connection to a server that controls its session process."""

    def __init__(self, spec: str, context: ssl.SSLContext | None = None) -> None:
        scheme, _, address = spec.partition(":")
        if scheme == "grpc+unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(SECONDS)
            self.socket.connect(address)
        else:
            host, _, port = address.strip("/").rpartition(":")
            self.socket = socket.create_connection((host, int(port)), SECONDS)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self._number = 0

    def write(self, order: Order, payload: bytes = b"") -> None:
        fake_fork_server.write_frame(self.socket, order, payload)

    def send(self, **kind: Any) -> int:
        """Sends a message to the front process, and returns its number."""
        self._number += 1
        self.write(Order.PASS_ON, pb.ToFront(number=self._number, **kind).SerializeToString())
        return self._number

    def send_file(self, size: int, content: bytes = b"", **kind: Any) -> int:
        """Sends a message with a file, and returns its number. size 0: a pipe."""
        self._number += 1
        packet = pb.ToFront(number=self._number, **kind).SerializeToString()
        self.write(Order.PASS_ON_WITH_FILE, fake_fork_server.with_file(size, content, packet))
        return self._number

    def read(self) -> tuple[Any, bytes]:
        """Returns the next message of the front process, and its file's content. Raises EOFError."""
        order, payload = fake_fork_server.read_frame(self.socket)
        content = b""
        if order is Order.PASS_ON_WITH_FILE:
            _, content, payload = fake_fork_server.split_file(payload)
        return pb.ToSession.FromString(payload), content

    def ask(self, **kind: Any) -> Any:
        """Sends a message and returns its answer. Ignores requests that arrive in between."""
        number = self.send(**kind)
        while True:
            answer, _ = self.read()
            if not answer.HasField("report"):
                assert answer.number == number, answer
                return answer

    def authorize(self, authorization: bytes = b"") -> Code:
        return Code(self.ask(authorize=pb.Authorize(authorization=authorization)).status.code)

    def claim(self, **fields: Any) -> Any:
        """Requests a module and returns the answer."""
        holder = device_pb2.Holder(pid=4711, command=b"python\ntrain.py")
        request = device_pb2.Acquire(holder=holder, **fields)
        return self.ask(claim=pb.Claim(acquire=request.SerializeToString()))

    def describe(self) -> Any:
        """Returns the server's DescribeResponse."""
        answer = self.ask(describe=pb.Describe())
        assert answer.status.code == Code.OK, answer
        return device_pb2.DescribeResponse.FromString(answer.modules)

    def is_ended(self) -> bool:
        """Waits for the end of the connection, and drops remaining data."""
        with contextlib.suppress(ConnectionError, EOFError):
            while True:
                self.read()
        return True

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def session(spec: str, **fields: Any) -> Client:
    """Returns a client that holds a module."""
    client = Client(spec)
    assert client.authorize() is Code.OK
    answer = client.claim(**fields)
    assert answer.status.code == Code.OK, answer
    return client
