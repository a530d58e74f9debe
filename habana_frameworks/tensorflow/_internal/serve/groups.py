"""Rendezvous of a communicator's ranks; each rank is a session of this server."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Protocol

from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.serve import packets
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from habana_frameworks.tensorflow._internal.text import named_ranks

_WAIT_SECONDS = 60
_MAX_ID_BYTES = 256
_MAX_RANKS = 1024
_MAX_GROUPS = 64
_MAX_REASON_BYTES = 1000


class Session(Protocol):
    """A session process that receives replies."""

    def send(self, message: pb.ToSession, files: Sequence[int] = ()) -> None: ...
    def reply(self, number: int, message: pb.ToSession, files: Sequence[int] = ()) -> None: ...
    def refuse(self, number: int, error: StatusError) -> None: ...


@dataclasses.dataclass
class _Member:
    session: Session
    number: int
    """Number of the JoinGroup message, which is answered when all ranks have joined."""
    segment: packets.File
    timer: asyncio.TimerHandle


class _Group:
    """The ranks that have joined the communicator `identity` so far."""

    def __init__(self, identity: bytes, size: int) -> None:
        self.identity = identity
        self.size = size
        self.members: dict[int, _Member] = {}

    @property
    def formed(self) -> bool:
        return len(self.members) == self.size

    def missing(self) -> str:
        return named_ranks([rank for rank in range(self.size) if rank not in self.members])

    def close(self) -> None:
        """Cancels the timers and closes the segments."""
        for member in self.members.values():
            member.timer.cancel()
            member.segment.close()


class GroupTable:
    """The communicators of this server. Belongs to one event loop."""

    def __init__(self) -> None:
        self._groups: dict[bytes, _Group] = {}

    def join(self, session: Session, number: int, request: pb.JoinGroup, segment: packets.File) -> None:
        """Adds a rank. Message `number` of its session is answered when all ranks have joined.

        Takes ownership of `segment`, except on error. Raises StatusError if the request is invalid or contradicts the
        requests of other ranks.
        """
        self._check(session, request)
        group = self._groups.setdefault(request.id, _Group(request.id, request.size))
        if group.size != request.size:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                f"rank {request.rank} joins a communicator of {request.size} ranks, but the other ranks joined with a "
                f"size of {group.size}; pass the same size on all ranks",
            )
        if request.rank in group.members:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                f"another session already joined the communicator as rank {request.rank}; pass a different rank in "
                "each process",
            )
        timer = asyncio.get_running_loop().call_later(_WAIT_SECONDS, self._expire, group, request.rank)
        group.members[request.rank] = _Member(session, number, packets.File(segment.detach()), timer)
        if group.formed:
            self._form(group)

    def leave(self, session: Session, identity: bytes, rank: int, reason: bytes) -> None:
        """Removes a rank, ends its group and notifies the other ranks. Does nothing if `session` is not this rank."""
        group = self._groups.get(identity)
        if group is not None and rank in group.members and group.members[rank].session is session:
            self._end(group, rank, reason[:_MAX_REASON_BYTES] or _label(group, rank) + b" left the communicator")

    def remove(self, session: Session) -> None:
        """Removes a session that has ended from all its groups."""
        for group in list(self._groups.values()):
            for rank, member in group.members.items():
                if member.session is session:
                    self._end(group, rank, _label(group, rank) + b": its session ended")
                    break

    def _check(self, session: Session, request: pb.JoinGroup) -> None:
        if not 0 < len(request.id) <= _MAX_ID_BYTES or request.size > _MAX_RANKS:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                f"a communicator of {request.size} ranks with an id of {len(request.id)} bytes is outside the limits: "
                f"at most {_MAX_RANKS} ranks, an id of 1 to {_MAX_ID_BYTES} bytes",
            )
        if not 0 <= request.rank < request.size:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                f"there is no rank {request.rank} in a communicator of {request.size} ranks; ranks count from 0",
            )
        joined = sum(member.session is session for group in self._groups.values() for member in group.members.values())
        if joined >= _MAX_GROUPS:
            raise StatusError(
                Code.RESOURCE_EXHAUSTED,
                f"the session already has {joined} communicators, the limit: destroy unused communicators",
            )

    def _form(self, group: _Group) -> None:
        descriptor = group.members[0].segment.descriptor()
        for member in group.members.values():
            member.session.reply(member.number, pb.ToSession(status=pb.Status()), [descriptor])
        group.close()

    def _expire(self, group: _Group, rank: int) -> None:
        reason = (
            f"rank {rank} of {group.size} waited {_WAIT_SECONDS:g} s for {group.missing()} to join the communicator; "
            "check that these processes are running"
        )
        self._fail(group, reason, rank, Code.DEADLINE_EXCEEDED)

    def _end(self, group: _Group, rank: int, reason: bytes) -> None:
        """Ends the group because `rank` has left."""
        if not group.formed:
            waited = (
                f"rank {rank} of {group.size} disconnected while waiting for {group.missing()}; "
                f"see the messages of rank {rank}"
            )
            self._fail(group, waited, rank, Code.CANCELLED)
            return
        del self._groups[group.identity]
        ended = pb.ToSession(group_ended=pb.GroupEnded(id=group.identity, reason=reason))
        for other, member in group.members.items():
            if other != rank:
                member.session.send(ended)

    def _fail(self, group: _Group, reason: str, rank: int, code: Code) -> None:
        """Ends all ranks' waits: `rank` fails with `code`, the others with CANCELLED."""
        del self._groups[group.identity]
        for other, member in group.members.items():
            member.session.refuse(member.number, StatusError(code if other == rank else Code.CANCELLED, reason))
        group.close()


def _label(group: _Group, rank: int) -> bytes:
    return f"rank {rank} of {group.size}".encode()
