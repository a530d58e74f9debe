"""Packets with file descriptors between processes (SOCK_SEQPACKET, SCM_RIGHTS)."""

from __future__ import annotations

import array
import contextlib
import dataclasses
import fcntl
import os
import socket
import threading
from collections.abc import Sequence

MAX_BYTES = 64 << 10
_FILE_BYTES = array.array("i").itemsize


class PacketError(Exception):
    """A packet is too large, or its files cannot all be received."""


class File:
    """Owns the descriptor of a received file."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def is_memory(self) -> bool:
        """Whether the file is in memory (memfd_create, tmpfs)."""
        try:
            self.seals()
        except OSError:
            return False
        return True

    def seals(self) -> int:
        """The file's seals (F_SEAL_...). Raises OSError for a file type without seals."""
        return fcntl.fcntl(self._descriptor, fcntl.F_GET_SEALS)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def descriptor(self) -> int:
        """Returns the descriptor; this object keeps ownership."""
        return self._descriptor

    def detach(self) -> int:
        """Returns the descriptor and passes ownership to the caller."""
        descriptor, self._descriptor = self._descriptor, -1
        return descriptor

    def close(self) -> None:
        """Closes the file. Repeated calls have no effect."""
        # A hostile process may send a file whose close() blocks, such as a socket with SO_LINGER.
        blocks = self._descriptor >= 0 and not self.is_memory
        descriptor = self.detach()
        if blocks:
            threading.Thread(target=os.close, args=(descriptor,), daemon=True).start()
        elif descriptor >= 0:
            os.close(descriptor)


@dataclasses.dataclass(frozen=True)
class Packet:
    data: bytes
    files: Sequence[File] = ()

    def close(self) -> None:
        """Closes the files that were not detached."""
        for file in self.files:
            file.close()


def pair() -> tuple[socket.socket, socket.socket]:
    """Returns both ends of a new connection. The first is non-blocking."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    return ours, theirs


def send(end: socket.socket, data: bytes, files: Sequence[int] = ()) -> None:
    """Sends one packet. Raises BlockingIOError if the queue is full, another OSError if the peer has disconnected."""
    if files:
        socket.send_fds(end, [data], list(files))
    else:
        end.send(data)


def receive(end: socket.socket, max_files: int) -> Packet | None:
    """Receives one packet, or returns None if no packet is queued.

    Raises EOFError if the peer has closed its end, PacketError if the packet is too large or its files cannot all be
    received.
    """
    try:
        data, control, flags, _ = end.recvmsg(
            MAX_BYTES, socket.CMSG_LEN(max_files * _FILE_BYTES), socket.MSG_CMSG_CLOEXEC | socket.MSG_DONTWAIT
        )
    except (BlockingIOError, InterruptedError):
        return None
    except ConnectionError as error:
        raise EOFError from error
    packet = Packet(data, _files_in(control))
    with contextlib.ExitStack() as stack:
        stack.callback(packet.close)
        if flags & socket.MSG_TRUNC:
            raise PacketError(f"a packet is larger than {MAX_BYTES} bytes")
        if flags & socket.MSG_CTRUNC:
            raise PacketError(f"a packet carries more than {max_files} files, or no file descriptor is free")
        if not data and not packet.files:
            raise EOFError
        stack.pop_all()
    return packet


def _files_in(control: Sequence[tuple[int, int, bytes]]) -> list[File]:
    descriptors = array.array("i")
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) // _FILE_BYTES * _FILE_BYTES])
    return [File(descriptor) for descriptor in descriptors]
