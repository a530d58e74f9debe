"""Reserves ports on the loopback interface for servers that other processes will start."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def reserved(count: int) -> Iterator[list[int]]:
    """Yields `count` free ports that the system assigns to no other process within the context.

    A bound socket that does not listen holds each port. A server with SO_REUSEADDR, such as gRPC's, can still listen on
    the port: Linux allows this as long as no other socket listens.
    """
    with contextlib.ExitStack() as stack:
        ports = []
        for _ in range(count):
            holder = stack.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
            ports.append(holder.getsockname()[1])
        yield ports
