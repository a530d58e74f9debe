"""Client of the fork server, which starts the session processes (control.proto)."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence

from google.protobuf.message import DecodeError

from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.serve import packets
from habana_frameworks.tensorflow._internal.serve.child_output import ChildOutput
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from habana_frameworks.tensorflow._internal.version import REPORT_BUG

_logger = logging.getLogger(__name__)
# Loading the libraries takes a second, and much longer on a busy machine.
_READY_SECONDS = 120
_FORK_SECONDS = 30
_STOP_SECONDS = 0.3
_FORK = pb.ForkRequest(present=True).SerializeToString()
_STDERR = 2


@dataclasses.dataclass(frozen=True)
class Forked:
    """A session process; the caller owns `pidfd`."""

    pid: int
    pidfd: int


class _EndedError(Exception):
    """The fork server has ended, or was killed because its answer was late or malformed."""


class _Process:
    """One fork server process, from start to end."""

    def __init__(self, command: Sequence[str], options: bytes, environment: Mapping[str, str]) -> None:
        self._loop = asyncio.get_running_loop()
        self._answers: asyncio.Queue[packets.Packet | None] = asyncio.Queue()
        self.ended = asyncio.Event()
        self._stopping = False
        self._end, theirs = packets.pair()
        self._output = ChildOutput(_STDERR)
        with theirs, contextlib.ExitStack() as on_error:
            on_error.callback(self._output.close)
            on_error.callback(self._end.close)
            try:
                # start_new_session: only the front process receives the terminal's Ctrl-C.
                self._popen = subprocess.Popen(
                    list(command),
                    stdin=theirs.fileno(),
                    stdout=self._output.write_end,
                    stderr=self._output.write_end,
                    start_new_session=True,
                    env=dict(environment),
                )
            finally:
                self._output.close_write_end()
            on_error.pop_all()
        self.pid = self._popen.pid
        self._pidfd = os.pidfd_open(self.pid)
        self._loop.add_reader(self._pidfd, self._on_end)
        self._loop.add_reader(self._end, self._on_packet)
        with contextlib.suppress(OSError):  # the fork server has already ended; _on_end() handles this
            packets.send(self._end, options)

    async def ask(self, files: Sequence[int]) -> tuple[pb.Forked, packets.Packet]:
        """Requests a session process. The caller closes the packet. Raises _EndedError, or OSError if sending fails."""
        try:
            if self._end.fileno() >= 0:
                packets.send(self._end, _FORK, files)
        except ConnectionError:
            self.kill()
        # If the fork server has ended, answer() raises _EndedError.
        return await self.answer(_FORK_SECONDS)

    async def answer(self, seconds: float) -> tuple[pb.Forked, packets.Packet]:
        """Waits for the next answer. The caller closes the packet. Raises _EndedError."""
        try:
            packet = await asyncio.wait_for(self._answers.get(), seconds)
        except asyncio.TimeoutError:
            _logger.error("killing the fork server (process %d): it did not answer within %d s", self.pid, seconds)
            self.kill()
            await self.ended.wait()
            raise _EndedError from None
        if packet is None:
            await self.ended.wait()
            raise _EndedError
        try:
            return pb.Forked.FromString(packet.data), packet
        except DecodeError as error:
            packet.close()
            self.kill()
            await self.ended.wait()
            raise _EndedError from error

    def kill(self) -> None:
        self._popen.kill()

    async def stop(self) -> None:
        """Ends the process group: closes the connection, then sends SIGKILL if necessary."""
        self._stopping = True
        self._close_end()
        for kills in (False, True):
            if kills:
                self._kill_group()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.ended.wait(), _STOP_SECONDS)
                return

    def _kill_group(self) -> None:
        """Kills the process group. Call it only before the process is reaped, since its id may be reused afterwards."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def how_it_ended(self) -> str:
        code = self._popen.returncode
        if code is None or code >= 0:
            return f"exit code {code}"
        return f"signal {-code} ({signal.strsignal(-code)})"

    def _on_packet(self) -> None:
        try:
            packet = packets.receive(self._end, 1)
        except (EOFError, packets.PacketError, OSError):
            self._close_end()
            self.kill()
            return
        if packet is not None:
            self._answers.put_nowait(packet)

    def _on_end(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._close_end()
        if self._stopping:
            self._kill_group()
        self._popen.wait()
        self._output.pass_on()  # the session processes keep running and may write more
        if self._stopping:
            self._output.close()
        while not self._answers.empty():
            packet = self._answers.get_nowait()
            if packet is not None:
                packet.close()
        self._answers.put_nowait(None)
        self.ended.set()

    def _close_end(self) -> None:
        if self._end.fileno() >= 0:
            self._loop.remove_reader(self._end)
            self._end.close()


class ForkServer:
    """Starts session processes; replaces a fork server that ends. Belongs to one event loop."""

    def __init__(self, command: Sequence[str], options: pb.Options, environment: Mapping[str, str]) -> None:
        """`command` is the command line of host.py with its libraries."""
        self._command = command
        self._options = options.SerializeToString()
        self._environment = environment
        self._lock = asyncio.Lock()
        self._process: _Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def pid(self) -> int | None:
        """Process id of the running fork server; None if it is not running."""
        return None if self._process is None or self._process.ended.is_set() else self._process.pid

    async def start(self) -> None:
        """Waits until the fork server is ready. Raises StatusError if it cannot start."""
        async with self._lock:
            await self._ready()

    async def fork(self, connection: socket.socket, control: socket.socket) -> Forked:
        """Starts a session process for the connection. Raises StatusError if that fails.

        control: the session's end of its control socket. The caller closes its own copies of both sockets.
        """
        files = (connection.fileno(), control.fileno())
        async with self._lock:
            for _ in range(2):
                process = await self._ready()
                try:
                    forked, packet = await process.ask(files)
                except _EndedError:
                    continue
                except asyncio.CancelledError:
                    process.kill()  # a late answer would be taken for the answer to the next request
                    raise
                except OSError as error:
                    raise StatusError(
                        Code.UNAVAILABLE,
                        f"cannot start a session process: {error.strerror}; check ulimit -n and the free memory",
                    ) from error
                with contextlib.closing(packet):
                    return _forked(forked, packet)
        raise StatusError(
            Code.UNAVAILABLE, "cannot start a session process: the fork server ended twice; see the server's log"
        )

    async def stop(self) -> None:
        """Ends the fork server and its process group for good."""
        self._stopped = True
        if self._watch is not None:
            self._watch.cancel()
        process, self._process = self._process, None
        if process is not None:
            await process.stop()

    async def _ready(self) -> _Process:
        """Returns the running fork server, which is started if necessary. The caller holds _lock."""
        if self._process is not None and not self._process.ended.is_set():
            return self._process
        if self._stopped:
            raise StatusError(Code.UNAVAILABLE, "the device server is shutting down; start it again (hpu serve)")
        try:
            process = _Process(self._command, self._options, self._environment)
        except OSError as error:
            raise StatusError(
                Code.UNAVAILABLE,
                f"the fork server cannot be started: {error}; run `hpu doctor` to check the setup",
            ) from error
        try:
            forked, packet = await process.answer(_READY_SECONDS)
        except _EndedError:
            raise StatusError(
                Code.UNAVAILABLE,
                f"the fork server ended ({process.how_it_ended()}) before it was ready: see its messages on stderr, "
                "and run `hpu doctor` to check the setup",
            ) from None
        except asyncio.CancelledError:
            process.kill()
            raise
        packet.close()
        if forked.error:
            await process.stop()
            raise StatusError(Code.FAILED_PRECONDITION, forked.error)
        self._process = process
        self._watch = asyncio.get_running_loop().create_task(self._replace(process))
        return process

    async def _replace(self, process: _Process) -> None:
        """Waits for the end of `process`, then starts a new fork server."""
        await process.ended.wait()
        if self._process is not process:
            return
        _logger.warning(
            "the fork server (process %d) ended (%s); starting a new one. Running sessions continue",
            process.pid,
            process.how_it_ended(),
        )
        # Another task may have started a fork server meanwhile. _ready() then returns that server, which already has a
        # watching task.
        async with self._lock:
            try:
                await self._ready()
            except StatusError as error:
                _logger.error("%s; the next connection will retry", error.message)


def _forked(forked: pb.Forked, packet: packets.Packet) -> Forked:
    if forked.error:
        raise StatusError(Code.UNAVAILABLE, f"cannot start a session process: {forked.error}")
    if len(packet.files) != 1:
        raise StatusError(
            Code.INTERNAL,
            f"cannot start a session process: the fork server sent {len(packet.files)} files, expected one pidfd; "
            f"{REPORT_BUG}",
        )
    return Forked(forked.pid, packet.files[0].detach())
