"""Listening sockets of a device server, which survive a shortage of file descriptors or memory."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import logging
import os
import pathlib
import re
import resource
import socket
import stat
import struct
from collections.abc import Callable, Sequence

from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError

_logger = logging.getLogger(__name__)
MAX_PATH_BYTES = 107
"""Longest path of a Unix socket."""
_MAX_COMMAND_BYTES = 200
_BACKLOG = 1024
_ACCEPTS_AT_ONCE = 64
_PAUSE_SECONDS = 0.1
_QUIET_SECONDS = 10
_CREDENTIALS = struct.Struct("iII")
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class PathLock:
    """Lock file next to a Unix socket, for one server per path. The kernel releases the lock when the process ends.

    The file names its holder in the format of plugin/base/files/file_lock.h.
    """

    def __init__(self, path: str) -> None:
        """Raises StatusError if another process serves at this path, or if the file cannot be created."""
        name = f"{path}.lock"
        try:
            self._descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StatusError(
                Code.FAILED_PRECONDITION,
                f"cannot create {name}: {error.strerror}; pass --listen a path in a writable directory",
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = _holder(self._descriptor)
            os.close(self._descriptor)
            holder = f"process {pid}" if pid else "another process"
            raise StatusError(
                Code.FAILED_PRECONDITION,
                f"{holder} already serves at {path}: use that server (HPU_BACKEND=grpc+unix:{path}), or pass another "
                "path to --listen",
            ) from error
        with contextlib.suppress(OSError):  # a full disk is not an error: only error messages use the content
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n{_own_command()}\n".encode(), 0)

    def release(self) -> None:
        with contextlib.suppress(OSError):
            # Without this, the file would name this process while the next server holds the lock.
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


class Listener:
    """Accepts connections after resume() and passes them to a callback. Belongs to one event loop."""

    def __init__(self, sockets: Sequence[socket.socket], on_connection: Callable[[socket.socket], None]) -> None:
        """Takes ownership of `sockets`; on_connection takes ownership of each connection. All are non-blocking."""
        self._sockets = sockets
        self._on_connection = on_connection
        self._loop = asyncio.get_running_loop()
        self._accepting = False
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None

    def pause(self) -> None:
        """Stops accepting; new connections stay in the kernel's queue."""
        if self._accepting:
            self._accepting = False
            for listening in self._sockets:
                self._loop.remove_reader(listening)

    def resume(self) -> None:
        if not self._accepting and not self._closed:
            self._accepting = True
            for listening in self._sockets:
                self._loop.add_reader(listening, self._accept, listening)

    def close(self) -> None:
        """Closes the sockets. Repeated calls have no effect."""
        self.pause()
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for listening in self._sockets:
            listening.close()

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(_ACCEPTS_AT_ONCE):
            if not self._accepting:
                return
            try:
                connection, _address = listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in _SHORTAGES:
                    self._pause_for_a_moment(error)
                    return
                continue  # the client has disconnected
            connection.setblocking(False)
            self._on_connection(connection)

    def _pause_for_a_moment(self, error: OSError) -> None:
        now = self._loop.time()
        if self._timer is None or now - self._timer.when() > _QUIET_SECONDS:
            _logger.warning(
                "cannot accept connections: %s; trying again. Check ulimit -n and the free memory", error.strerror
            )
        self.pause()
        self._timer = self._loop.call_later(_PAUSE_SECONDS, self.resume)


def open_unix(path: str) -> socket.socket:
    """Listens at a path to which only this user can connect. Replaces a left-over socket. Raises OSError."""
    listening = socket.socket(socket.AF_UNIX)
    try:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(pathlib.Path(path).lstat().st_mode):
                pathlib.Path(path).unlink()
        os.fchmod(listening.fileno(), 0o600)  # bind() creates the file with this mode
        listening.bind(path)
        listening.listen(_BACKLOG)
        listening.setblocking(False)
    except BaseException:
        listening.close()
        raise
    return listening


def open_tcp(address: str) -> list[socket.socket]:
    """Listens at every address of "host:port", with the same port. Raises OSError."""
    host, _, number = address.rpartition(":")
    found = socket.getaddrinfo(host.strip("[]"), int(number), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    port = int(number)
    with contextlib.ExitStack() as stack:
        sockets = []
        for family, kind, protocol, _, name in dict.fromkeys(found):
            listening = stack.enter_context(socket.socket(family, kind, protocol))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # "::" includes the IPv4 addresses.
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, name[0] != "::")
            listening.bind((name[0], port, *name[2:]))
            listening.listen(_BACKLOG)
            listening.setblocking(False)
            port = listening.getsockname()[1]
            sockets.append(listening)
        stack.pop_all()
    return sockets


def peer_problem(connection: socket.socket) -> str:
    """Returns the reason why a Unix socket's peer may not use the server; empty if the peer may use it."""
    _, uid, _ = _credentials(connection)
    if uid in (os.geteuid(), 0):
        return ""
    return f"only user {os.geteuid()} and root may use this server"


def peer_name(connection: socket.socket) -> str:
    """Returns the client's name for the log: "ipv4:127.0.0.1:4711", "unix:pid 12 uid 1000"."""
    if connection.family == socket.AF_UNIX:
        pid, uid, _ = _credentials(connection)
        return f"unix:pid {pid} uid {uid}"
    try:
        host, port = connection.getpeername()[:2]
    except OSError:
        return "a disconnected client"
    return f"ipv6:[{host}]:{port}" if connection.family == socket.AF_INET6 else f"ipv4:{host}:{port}"


def raise_file_limit() -> None:
    """Raises the limit of open files to the hard limit, because each connection needs several."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _credentials(connection: socket.socket) -> tuple[int, int, int]:
    """Returns process, user and group of a Unix socket's peer at the time it connected."""
    pid, uid, gid = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid, gid


def _holder(descriptor: int) -> int:
    """Returns the id of the process named in the lock file; 0 if no process is named or the process has ended."""
    first = os.pread(descriptor, 32, 0).partition(b"\n")[0]
    if not re.fullmatch(rb"[0-9]+", first):
        return 0
    try:
        os.kill(int(first), 0)
    except PermissionError:
        pass
    except (ProcessLookupError, OverflowError):
        return 0
    return int(first)


def _own_command() -> str:
    command = pathlib.Path("/proc/self/cmdline").read_bytes()[:_MAX_COMMAND_BYTES]
    return re.sub(rb"[\x00-\x1f]", b" ", command).decode(errors="replace").rstrip()
