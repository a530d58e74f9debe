"""Second Unix socket of a server, which sends clients the file descriptor of their session's shared memory."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

from habana_frameworks.tensorflow._internal.serve import listener, packets
from habana_frameworks.tensorflow._internal.serve.refusals import RefusalLog
from habana_frameworks.tensorflow._internal.serve.status import StatusError

SUFFIX = ".memory"
_MAX_CLIENTS = 64
_SECONDS = 1.0


class MemorySocket:
    """Receives a session's name and answers with one byte and the session's file. Belongs to one event loop."""

    def __init__(
        self, path: str, name_bytes: int, memory_of: Callable[[bytes], packets.File], refusals: RefusalLog
    ) -> None:
        """memory_of: returns a session's file, or raises StatusError. The constructor raises OSError."""
        self._name_bytes = name_bytes
        self._memory_of = memory_of
        self._refusals = refusals
        self._loop = asyncio.get_running_loop()
        self._clients: set[asyncio.Task[None]] = set()
        self._listener = listener.Listener([listener.open_unix(path)], self._accept)
        self._listener.resume()

    def close(self) -> None:
        self._listener.close()
        for client in self._clients:
            client.cancel()

    def _accept(self, connection: socket.socket) -> None:
        task = self._loop.create_task(self._serve(connection))
        self._clients.add(task)
        task.add_done_callback(self._forget)
        task.add_done_callback(lambda _: connection.close())
        if len(self._clients) >= _MAX_CLIENTS:
            self._listener.pause()

    def _forget(self, client: asyncio.Task[None]) -> None:
        self._clients.discard(client)
        self._listener.resume()

    async def _serve(self, connection: socket.socket) -> None:
        peer = listener.peer_name(connection)
        try:
            problem = listener.peer_problem(connection)
            if problem:
                self._refusals.add(f"refused shared memory to {peer}: {problem}")
                return
            name = await asyncio.wait_for(self._receive(connection), _SECONDS)
            socket.send_fds(connection, [b"\0"], [self._memory_of(name).descriptor()])
        except StatusError as error:
            self._refusals.add(f"refused shared memory to {peer}: {error}")
        except (OSError, asyncio.TimeoutError) as error:
            reason = error or "the client sent no session name"
            logging.getLogger(__name__).info("no shared memory for %s: %s", peer, reason)

    async def _receive(self, connection: socket.socket) -> bytes:
        """Receives the name of the client's session. The name is truncated if the client disconnects early."""
        name = b""
        while len(name) < self._name_bytes:
            received = await self._loop.sock_recv(connection, self._name_bytes - len(name))
            if not received:
                break
            name += received
        return name
