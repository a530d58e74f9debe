"""Fake fork server. The test controls its session processes as their client.

    fake_fork_server.py DIRECTORY [FAILURE]

DIRECTORY contains control_pb2.py. FAILURE: "exit" ends immediately, "error" reports an error, "deaf" forks once and
ends.

A connection carries frames in both directions: a letter, the payload's size in 4 bytes, the payload. The session
process forwards messages between client and front process, and executes the other frames of its client (Order).
"""

from __future__ import annotations

import enum
import fcntl
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Sequence

_HEADER = struct.Struct("<cI")
_FILE = struct.Struct("<QI")
_PACKET_BYTES = 1 << 16
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Order(enum.Enum):
    """Kind of a frame, by its letter."""

    PASS_ON = b"M"
    """The payload is a packet for the other side."""
    PASS_ON_WITH_FILE = b"F"
    """Like PASS_ON with a file. The payload starts with file size, content length and content; size 0: a pipe."""
    FLOOD = b"L"
    """Sends the payload repeatedly, and reads no answer."""
    ECHO = b"E"
    """Returns the payload to the client."""
    CLOSE_CONTROL = b"C"
    IGNORE_STOP = b"S"


def write_frame(connection: socket.socket, order: Order, payload: bytes) -> None:
    connection.sendall(_HEADER.pack(order.value, len(payload)) + payload)


def read_frame(connection: socket.socket) -> tuple[Order, bytes]:
    """Reads one frame. Raises EOFError at the end."""
    letter, size = _HEADER.unpack(_read(connection, _HEADER.size))
    return Order(letter), _read(connection, size)


def with_file(size: int, content: bytes, packet: bytes) -> bytes:
    """Returns the payload of PASS_ON_WITH_FILE."""
    return _FILE.pack(size, len(content)) + content + packet


def split_file(payload: bytes) -> tuple[int, bytes, bytes]:
    """Returns size and content of the file, and the packet."""
    size, length = _FILE.unpack_from(payload)
    packet = payload[_FILE.size :]
    return size, packet[:length], packet[length:]


def _read(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        received = connection.recv(size - len(data))
        if not received:
            raise EOFError
        data += received
    return bytes(data)


class _Session:
    def __init__(self, connection: socket.socket, control: socket.socket) -> None:
        self._connection = connection
        self._control = control
        self._obeys_stop = True

    def run(self) -> None:
        from control_pb2 import ToSession  # type: ignore[import-not-found]  # in DIRECTORY

        readable: Sequence[socket.socket]
        while True:
            sockets = [end for end in (self._connection, self._control) if end.fileno() >= 0]
            readable, _, _ = select.select(sockets, [], [])
            if self._control in readable:
                packet, files, _, _ = socket.recv_fds(self._control, _PACKET_BYTES, 4)
                if not packet:
                    return
                self._pass_to_client(packet, files)
                if ToSession.FromString(packet).HasField("stop") and self._obeys_stop:
                    return
            if self._connection in readable:
                self._obey(*read_frame(self._connection))

    def _pass_to_client(self, packet: bytes, files: Sequence[int]) -> None:
        if not files:
            write_frame(self._connection, Order.PASS_ON, packet)
            return
        size, content = os.fstat(files[0]).st_size, os.pread(files[0], 64, 0).rstrip(b"\0")
        os.close(files[0])
        write_frame(self._connection, Order.PASS_ON_WITH_FILE, with_file(size, content, packet))

    def _obey(self, order: Order, payload: bytes) -> None:
        if order is Order.PASS_ON:
            self._control.send(payload)
        elif order is Order.PASS_ON_WITH_FILE:
            self._pass_on_with_file(*split_file(payload))
        elif order is Order.FLOOD:
            while True:
                self._control.send(payload)
        elif order is Order.ECHO:
            write_frame(self._connection, Order.ECHO, payload)
        elif order is Order.CLOSE_CONTROL:
            self._control.close()
        else:
            self._obeys_stop = False

    def _pass_on_with_file(self, size: int, content: bytes, packet: bytes) -> None:
        if size == 0:
            ends = os.pipe()
            socket.send_fds(self._control, [packet], [ends[0]])
            return
        file = os.memfd_create("test", os.MFD_ALLOW_SEALING)
        os.ftruncate(file, size)
        os.pwrite(file, content, 0)
        if not content.startswith(b"unsealed"):
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEALS)
        socket.send_fds(self._control, [packet], [file])
        os.close(file)


def _run_session(descriptors: Sequence[int]) -> None:
    connection, control = (socket.socket(fileno=descriptor) for descriptor in descriptors)
    connection.setblocking(True)
    try:
        _Session(connection, control).run()
    except (EOFError, OSError):
        return


def main(directory: str, failure: str = "") -> int:
    sys.path.insert(0, directory)
    from control_pb2 import Forked, ForkRequest, Options

    if failure == "exit":
        return 3
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    front = socket.socket(fileno=0)
    options = Options.FromString(front.recv(_PACKET_BYTES))
    assert options.backend, options
    front.send(Forked(pid=os.getpid(), error="no backend" if failure == "error" else "").SerializeToString())
    while True:
        packet, files, _, _ = socket.recv_fds(front, _PACKET_BYTES, 4)
        if not packet:
            return 0
        assert ForkRequest.FromString(packet).present
        pid = os.fork()
        if pid == 0:
            front.close()
            _run_session(files)
            os._exit(0)
        for file in files:
            os.close(file)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(front, [Forked(pid=pid).SerializeToString()], [pidfd])
        os.close(pidfd)
        if failure == "deaf":
            return 4


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
