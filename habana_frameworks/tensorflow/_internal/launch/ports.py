"""Ports on the loopback interface for servers that other processes will start."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def reserved(count: int) -> Iterator[list[int]]:
    """`count` free ports, which the system gives to nobody else meanwhile.

    Each is held by a socket that does not listen. Servers that set SO_REUSEADDR, as gRPC's do, may listen there
    nevertheless: Linux lets them as long as no other socket listens.
    """
    with contextlib.ExitStack() as stack:
        ports = []
        for _ in range(count):
            holder = stack.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
            ports.append(holder.getsockname()[1])
        yield ports
