"""Front process of a device server: listens, and has the fork server start a session process per connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pathlib
import secrets
import socket
from collections.abc import Mapping, Sequence

from habana_frameworks.tensorflow import device_channel
from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.serve import listener, packets, tls
from habana_frameworks.tensorflow._internal.serve.access import Access
from habana_frameworks.tensorflow._internal.serve.fork_server import ForkServer
from habana_frameworks.tensorflow._internal.serve.memory_socket import SUFFIX, MemorySocket
from habana_frameworks.tensorflow._internal.serve.refusals import RefusalLog
from habana_frameworks.tensorflow._internal.serve.service import SESSION_BYTES, FrontService
from habana_frameworks.tensorflow._internal.serve.session_process import SessionProcess
from habana_frameworks.tensorflow._internal.serve.settings import ServerSettings
from habana_frameworks.tensorflow._internal.serve.slots import Slots
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from habana_frameworks.tensorflow._internal.version import REPORT_BUG

_logger = logging.getLogger(__name__)
# Session processes in excess of the modules, for `hpu smi` and for waiting clients.
_EXTRA_PROCESSES = 32
_MAX_WAITING = 1024
_FIRST_BYTE_SECONDS = 10
# While a connection waits for a slot, one idle connection is closed per _PRESSURE_SECONDS.
# A connection counts as idle after _IDLE_SECONDS.
_PRESSURE_SECONDS = 0.25
_IDLE_SECONDS = 2.0
_STOP_SECONDS = 1.0
_KILL_SECONDS = 0.5
_FLUSH_SECONDS = 5.0


class Front:
    """A device server. Belongs to one event loop."""

    def __init__(self, settings: ServerSettings) -> None:
        """Raises StatusError for invalid settings."""
        self._settings = settings
        self._access = Access(settings.tls, settings.token)
        _check_address(settings.address, self._access)
        self._context = tls.server_context(settings.tls) if self._access.encrypted else None
        self._refusals = RefusalLog()
        self._slots = Slots(settings.modules + _EXTRA_PROCESSES)
        self._service = FrontService(settings, self._access, self._refusals, self._fork_server_pid, self._slots)
        self._fork_server: ForkServer | None = None
        self._lock: listener.PathLock | None = None
        self._listener: listener.Listener | None = None
        self._memory: MemorySocket | None = None
        self._connections: set[asyncio.Task[None]] = set()
        # Connections without a session process, oldest first.
        self._waiting: dict[asyncio.Task[None], None] = {}
        self._stopping = False

    async def start(self, command: Sequence[str], environment: Mapping[str, str]) -> str:
        """Starts listening and returns the value of HPU_BACKEND for this server. Raises StatusError.

        `command` and `environment` start the fork server.
        """
        listener.raise_file_limit()
        try:
            sockets = self._open()
            self._listener = listener.Listener(sockets, self._accept)
            self._share_memory()
            options = _options(self._settings, self._service.seal.key_id, shares_memory=self._memory is not None)
            self._fork_server = ForkServer(command, options, environment)
            await self._fork_server.start()
        except BaseException:
            await self.stop()
            raise
        self._listener.resume()
        if self._settings.path:
            return f"grpc+{self._settings.address}"
        scheme = "grpcs" if self._access.encrypted else "grpc"
        host, port = self._settings.address.rpartition(":")[0], sockets[0].getsockname()[1]
        return f"{scheme}://{host}:{port}"

    async def stop(self) -> None:
        """Ends all sessions and the server, in about 3 s at most."""
        self._stopping = True
        if self._memory is not None:
            self._memory.close()
            pathlib.Path(self._settings.path + SUFFIX).unlink(missing_ok=True)
        if self._listener is not None:
            self._listener.close()
            if self._settings.path:
                pathlib.Path(self._settings.path).unlink(missing_ok=True)
        for task in tuple(self._waiting):
            task.cancel()
        for process in self._service.processes():
            process.send(pb.ToSession(stop=pb.Stop()))
        await self._wait_for_processes(_STOP_SECONDS)
        await self._kill_processes()
        if self._fork_server is not None:
            await self._fork_server.stop()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=_KILL_SECONDS)
        await self._kill_processes()  # processes started in the meantime
        if self._lock is not None:
            self._lock.release()

    async def _kill_processes(self) -> None:
        for process in self._service.processes():
            process.kill("")
        await self._wait_for_processes(_KILL_SECONDS)

    async def _wait_for_processes(self, seconds: float) -> None:
        ends = [asyncio.ensure_future(process.ended.wait()) for process in self._service.processes()]
        if not ends:
            return
        _, late = await asyncio.wait(ends, timeout=seconds)
        for end in late:
            end.cancel()

    def _open(self) -> list[socket.socket]:
        """Opens the listening sockets, after locking the path of a Unix socket. Raises StatusError."""
        address, path = self._settings.address, self._settings.path
        if path:
            self._lock = listener.PathLock(path)
        try:
            return [listener.open_unix(path)] if path else listener.open_tcp(address)
        except OSError as error:
            raise StatusError(
                Code.UNAVAILABLE,
                f"cannot listen at {address}: {error.strerror or error}; pass another address to --listen",
            ) from error

    def _share_memory(self) -> None:
        """Opens the socket for shared memory. If that fails, copies use the server's socket."""
        if not (self._settings.share_memory and self._settings.path):
            return
        path = self._settings.path + SUFFIX
        try:
            self._memory = MemorySocket(path, SESSION_BYTES, self._service.shared_memory, self._refusals)
        except OSError as error:
            _logger.warning(
                "no shared memory, so copies use the socket: cannot listen at %s: %s; pass another path to --listen",
                path,
                error.strerror or error,
            )

    def _fork_server_pid(self) -> int | None:
        return self._fork_server.pid if self._fork_server is not None else None

    def _accept(self, connection: socket.socket) -> None:
        peer = listener.peer_name(connection)
        if self._settings.path:
            problem = listener.peer_problem(connection)
            if problem:
                self._refusals.add(f"refused the connection of {peer}: {problem}")
                connection.close()
                return
        else:
            with contextlib.suppress(OSError):  # the client has disconnected
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = asyncio.get_running_loop().create_task(self._serve(connection, peer))
        self._connections.add(task)
        self._waiting[task] = None
        task.add_done_callback(lambda task: self._forget(task, connection, peer))
        if len(self._waiting) > _MAX_WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.cancel()

    def _forget(self, task: asyncio.Task[None], connection: socket.socket, peer: str) -> None:
        connection.close()
        self._connections.discard(task)
        self._waiting.pop(task, None)
        if not task.cancelled() and task.exception() is not None:
            _logger.error(
                "the connection of %s failed; %s, with this traceback", peer, REPORT_BUG, exc_info=task.exception()
            )

    async def _serve(self, connection: socket.socket, peer: str) -> None:
        """Starts a session process for a connection. With TLS, then relays data until the connection ends.

        _forget() closes this process's copy of the connection afterwards.
        """
        try:
            if self._context is not None:
                await self._serve_tls(tls.TlsRelay(connection, self._context), peer)
            elif await asyncio.wait_for(_has_data(connection), _FIRST_BYTE_SECONDS):
                await self._start_process(connection, peer)
        except asyncio.TimeoutError:
            _logger.info("closed the connection of %s, which was silent for %d s", peer, _FIRST_BYTE_SECONDS)
        except tls.HandshakeError as error:
            self._refusals.add(f"TLS handshake of {peer} failed: {error}")
        except OSError as error:
            self._refusals.add(f"no session for {peer}: {error.strerror or error}")
        except StatusError as error:
            self._refusals.add(f"no session for {peer}: {error.message}")

    async def _serve_tls(self, relay: tls.TlsRelay, peer: str) -> None:
        await asyncio.wait_for(relay.shake_hands(), _FIRST_BYTE_SECONDS)
        plain, theirs = socket.socketpair()
        with plain, theirs:
            plain.setblocking(False)
            process = await self._start_process(theirs, peer)
            theirs.close()
            relaying = asyncio.ensure_future(relay.run(plain))
            ending = asyncio.ensure_future(process.ended.wait())
            try:
                await asyncio.wait([relaying, ending], return_when=asyncio.FIRST_COMPLETED)
                if not relaying.done():  # the session's last data may not have reached the client yet
                    await asyncio.wait([relaying], timeout=_FLUSH_SECONDS)
            finally:
                relaying.cancel()
                ending.cancel()
                await asyncio.wait([relaying, ending])

    async def _start_process(self, connection: socket.socket, peer: str) -> SessionProcess:
        """Waits for a slot and hands the connection to a new session process. Raises StatusError or OSError."""
        task = asyncio.current_task()
        assert task is not None
        await self._enter(task)
        try:
            if self._stopping:
                raise StatusError(Code.UNAVAILABLE, "the device server is shutting down; start it again (hpu serve)")
            self._waiting.pop(task, None)
            assert self._fork_server is not None
            control, theirs = packets.pair()
            with contextlib.ExitStack() as stack:
                stack.enter_context(theirs)
                control_is_ours = stack.enter_context(contextlib.ExitStack())
                control_is_ours.callback(control.close)
                forked = await self._fork_server.fork(connection, theirs)
                control_is_ours.pop_all()
            process = SessionProcess(forked, control, peer, self._service)
            self._service.add(process)
            return process
        finally:
            self._slots.discard(task)

    async def _enter(self, task: asyncio.Task[None]) -> None:
        """Waits for a slot, and meanwhile closes idle connections that hold no module."""
        entering = asyncio.ensure_future(self._slots.enter(task))
        try:
            while not (await asyncio.wait([entering], timeout=_PRESSURE_SECONDS))[0]:
                self._service.end_oldest_idle(_IDLE_SECONDS)
        except asyncio.CancelledError:
            entering.cancel()
            self._slots.discard(task)
            raise


async def _has_data(connection: socket.socket) -> bool:
    """Waits for the client's first byte. Returns False if the client has disconnected."""
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(connection, lambda: None if readable.done() else readable.set_result(None))
    try:
        await readable
        return bool(connection.recv(1, socket.MSG_PEEK))
    except ConnectionError:
        return False
    finally:
        loop.remove_reader(connection)


def _check_address(address: str, access: Access) -> None:
    """Raises StatusError for an invalid or forbidden listen address."""
    try:
        device_channel.check_address(address)
    except ValueError as error:
        raise StatusError(Code.INVALID_ARGUMENT, str(error)) from None
    path_bytes = len(os.fsencode(address)) - len("unix:")
    if address.startswith("unix:") and path_bytes > listener.MAX_PATH_BYTES:
        raise StatusError(
            Code.INVALID_ARGUMENT,
            f"{address}: the socket path has {path_bytes} bytes, but the maximum is {listener.MAX_PATH_BYTES}; pass a "
            "shorter path to --listen",
        )
    access.check_address(address)


def _options(settings: ServerSettings, key_id: str, shares_memory: bool) -> pb.Options:
    """Options of the fork server. Raises StatusError, which names the limit, if a limit is negative or too large."""
    limits, compilation = settings.limits, settings.compilation
    for name, value, bits in (
        ("limits.memory_bytes", limits.memory_bytes, 64),
        ("limits.recipes", limits.recipes, 64),
        ("limits.recipe_bytes", limits.recipe_bytes, 64),
        ("limits.in_flight_bytes", limits.in_flight_bytes, 64),
        ("compilation.workers", compilation.workers, 32),
        ("compilation.timeout_seconds", compilation.timeout_seconds, 32),
        ("launch_timeout_seconds", settings.launch_timeout_seconds, 32),
    ):
        if not 0 <= value < 1 << bits:
            raise StatusError(
                Code.INVALID_ARGUMENT, f"{name} is out of range: expected 0 to {(1 << bits) - 1}, got {value}"
            )
    return pb.Options(
        backend=settings.backend,
        allow_faults=settings.allow_faults,
        faults=settings.faults,
        max_memory_bytes=limits.memory_bytes,
        max_recipes=limits.recipes,
        max_recipe_bytes=limits.recipe_bytes,
        max_in_flight_bytes=limits.in_flight_bytes,
        max_compile_workers=compilation.workers,
        compile_timeout_seconds=compilation.timeout_seconds,
        launch_timeout_seconds=settings.launch_timeout_seconds,
        share_memory=shares_memory,
        confine=True,
        seal_key_id=key_id,
        network=secrets.token_hex(16),
    )
