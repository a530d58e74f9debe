"""The front process's handle of a session process: control socket and lifetime."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import os
import signal
import socket
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from google.protobuf.message import DecodeError

from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.messages import device_pb2
from habana_frameworks.tensorflow._internal.serve import packets
from habana_frameworks.tensorflow._internal.serve.fork_server import Forked
from habana_frameworks.tensorflow._internal.serve.modules import Holder
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from habana_frameworks.tensorflow._internal.version import REPORT_BUG

_logger = logging.getLogger(__name__)
# gRPC clients accept 8 KiB of headers, which contain the error message.
_MAX_MESSAGE_BYTES = 2000
_MAX_PENDING = 256
_AUTHORIZE_SECONDS = 30
_END_SECONDS = 5


class RuleError(Exception):
    """A session process violated the protocol."""


@dataclasses.dataclass
class Claim:
    """A session and its module."""

    module_id: int
    number: int
    """Session number, from 1."""
    session: bytes
    """Random name of the session."""
    holder: Holder
    report: device_pb2.Module
    """Last known memory and counters."""
    memory: packets.File | None = None
    """Memory shared with the client."""


class Service(Protocol):
    """Answers the messages of session processes."""

    def handle(self, process: SessionProcess, message: pb.ToFront, file: packets.File | None) -> None:
        """Handles a message. Raises RuleError if it violates the protocol. The caller closes `file` unless detached."""

    def ended(self, process: SessionProcess) -> None:
        """Called once, as the last call, when the process has ended."""


class SessionProcess:
    """The untrusted process of one connection. The first message that violates the protocol ends the process."""

    def __init__(self, forked: Forked, control: socket.socket, peer: str, service: Service) -> None:
        """Takes ownership of the files of `forked` and of `control`, which is non-blocking."""
        self.pid = forked.pid
        self.peer = peer
        self.authorized = False
        self.claim: Claim | None = None
        """The session; None before a successful Claim and after the session's release."""
        self.has_claimed = False
        self._pidfd = forked.pidfd
        self._control = control
        self._service = service
        self._loop = asyncio.get_running_loop()
        self._begin = self._loop.time()
        self._tasks: set[asyncio.Task[None]] = set()
        self._killed = False
        self._timer = self._loop.call_later(_AUTHORIZE_SECONDS, self._end_unauthorized)
        self.ended = asyncio.Event()
        self._loop.add_reader(self._pidfd, self._on_end)
        self._loop.add_reader(self._control, self._on_packet)

    @property
    def alive(self) -> bool:
        """Whether the process can still receive messages."""
        return not (self._killed or self.ended.is_set())

    @property
    def idle_seconds(self) -> float:
        """Age of the process if it has never held a module and waits for no answer; else 0."""
        idle = self.alive and not self.has_claimed and not self._tasks
        return self._loop.time() - self._begin if idle else 0.0

    def authorize(self) -> None:
        if not self.authorized:
            self.authorized = True
            self._timer.cancel()

    def end_soon(self) -> None:
        """Kills the process unless it ends within _END_SECONDS. Called when its session is released."""
        self._timer.cancel()
        self._timer = self._loop.call_later(_END_SECONDS, self.kill, "")

    def reply(self, number: int, message: pb.ToSession, files: Sequence[int] = ()) -> None:
        """Answers the message with this number. 0 means that no answer is expected."""
        if number:
            message.number = number
            self.send(message, files)

    def refuse(self, number: int, error: StatusError) -> None:
        """Answers with an error."""
        # Truncates the text at a character boundary.
        text = error.message.encode(errors="replace")[:_MAX_MESSAGE_BYTES].decode(errors="ignore")
        self.reply(number, pb.ToSession(status=pb.Status(code=error.code, message=text.encode())))

    def reply_later(self, number: int, answer: Coroutine[Any, Any, pb.ToSession]) -> None:
        """Answers with the coroutine's result or StatusError. The end of the process cancels the coroutine."""
        if len(self._tasks) >= _MAX_PENDING:
            answer.close()
            raise RuleError(f"more than {_MAX_PENDING} messages are unanswered")
        task = self._loop.create_task(self._reply_with(number, answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: answer.close())  # the task may be cancelled before its start

    def send(self, message: pb.ToSession, files: Sequence[int] = ()) -> None:
        """Sends a message. Kills the process if the message cannot be sent. Does nothing if the process has ended."""
        if not self.alive:
            return
        try:
            packets.send(self._control, message.SerializeToString(), files)
        except BlockingIOError:
            self.kill("the process does not read its messages")
        except ConnectionError:
            pass  # the process has ended; _on_packet() handles this
        except OSError as error:
            self.kill(f"sending a message failed: {error.strerror}")

    def kill(self, reason: str) -> None:
        """Sends SIGKILL. reason: for the log; empty for a process that is expected to end, which is not logged."""
        if not self.alive:
            return
        self._killed = True
        self._loop.remove_reader(self._control)
        if reason:
            _logger.warning("killing session process %d of client %s: %s", self.pid, self.peer, reason)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _end_unauthorized(self) -> None:
        _logger.info("%s sent no credentials within %d s", self.peer, _AUTHORIZE_SECONDS)
        self.kill("")

    async def _reply_with(self, number: int, answer: Coroutine[Any, Any, pb.ToSession]) -> None:
        try:
            self.reply(number, await answer)
        except StatusError as error:
            self.refuse(number, error)
        except asyncio.CancelledError:
            raise
        except Exception:
            _logger.exception("handling a message from %s failed; %s, with this traceback", self.peer, REPORT_BUG)
            self.refuse(number, StatusError(Code.INTERNAL, "internal error in the device server; see its log"))

    def _on_packet(self) -> None:
        try:
            packet = packets.receive(self._control, 1)
        except EOFError:
            self.kill("")
            return
        except (packets.PacketError, OSError) as error:
            self.kill(str(error))
            return
        if packet is None:
            return
        with contextlib.closing(packet):
            try:
                self._service.handle(self, pb.ToFront.FromString(packet.data), _file_of(packet))
            except DecodeError:
                self.kill("a message cannot be parsed")
            except RuleError as error:
                self.kill(str(error))
            except Exception:
                _logger.exception("handling a message from %s failed; %s, with this traceback", self.peer, REPORT_BUG)
                self.kill("handling a message failed; the log above has the traceback")

    def _on_end(self) -> None:
        self._loop.remove_reader(self._pidfd)
        self._loop.remove_reader(self._control)
        self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        self._control.close()
        os.close(self._pidfd)
        self.ended.set()
        self._service.ended(self)


def _file_of(packet: packets.Packet) -> packets.File | None:
    if not packet.files:
        return None
    if not packet.files[0].is_memory:
        raise RuleError("a file arrived that is not in memory (memfd)")
    return packet.files[0]
