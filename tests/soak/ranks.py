"""Ranks of a communicator as processes with a cheap start: forks of a process that has imported gRPC.

A rank reports over a pipe to the process that started it: "joined", then its end. Between the two reports, it runs
collective operations and checks their results.
"""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from typing import Any

import grpc

from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.device_client import MIB, Session

OPERATIONS = ("all_reduce", "all_gather", "broadcast", "send")
_FLOAT32, _BYTES_EACH = 1, 4
_OK = 0
_CHECKED_BYTES = 4096
_ROOT = 0
_LIFETIME_SECONDS = 24 * 3600.0
# Little-endian 1.0f. Sums of small integers are exact.
_ONE = b"\x00\x00\x80\x3f"
_VALUES = (b"\x00\x00\x00\x00", _ONE, b"\x00\x00\x00\x40", b"\x00\x00\x40\x40", b"\x00\x00\x80\x40")
"""Encodings of 0.0f to 4.0f."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A communicator whose ranks repeat one operation."""

    backend: str
    identity: bytes
    operation: str
    size: int
    """Size of the larger operand in bytes."""
    ranks: int


@dataclasses.dataclass(frozen=True)
class End:
    """How a rank's operations ended."""

    rank: int
    code: int
    message: str
    seconds: float
    """Time of the end, from time.monotonic(), which all processes share."""
    operations: int
    problem: str
    """Action that failed in the session afterwards; empty if none did."""


class Rank:
    """Client of a process that is a rank."""

    def __init__(self, job: Job, rank: int, progress: Any) -> None:
        """progress: counts operations; a RawValue of context()."""
        self.rank = rank
        self._end, theirs = context().Pipe()
        self.process = context().Process(target=_run, args=(job, rank, theirs, progress), daemon=True)
        self.process.start()
        theirs.close()

    def report(self, seconds: float) -> Any:
        """Returns the next report; None after the time limit or the process's end."""
        try:
            return self._end.recv() if self._end.poll(seconds) else None
        except (EOFError, OSError):
            return None

    def kill(self) -> float:
        """Kills the process like a crash, and returns the time."""
        self.process.kill()
        return time.monotonic()

    def finish(self) -> None:
        """Requests a regular end, and kills the process after a time limit."""
        with contextlib.suppress(OSError):
            self._end.send("leave")
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(10)
        self._end.close()


def context() -> Any:
    """Returns the multiprocessing context. Processes are forks of a process without open channels."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.soak.ranks"])
    return made


def operand_bytes(operation: str, ranks: int, size: int) -> tuple[int, int]:
    """Returns a rank's source and destination sizes in bytes. The larger operand has about `size` bytes."""
    if operation == "all_gather":
        each = max(_BYTES_EACH, size // ranks // _BYTES_EACH * _BYTES_EACH)
        return each, each * ranks
    return size, size


def command(job: Job, rank: int, handle: int, base: int) -> Any:
    source_bytes, _ = operand_bytes(job.operation, job.ranks, job.size)
    count, destination = source_bytes // _BYTES_EACH, base + source_bytes
    if job.operation == "send":
        following, preceding = (rank + 1) % job.ranks, (rank - 1) % job.ranks
        transfers = [
            pb.Transfer(sends=True, peer=following, address=base, count=count, dtype=_FLOAT32),
            pb.Transfer(sends=False, peer=preceding, address=destination, count=count, dtype=_FLOAT32),
        ]
        kind = pb.Collective.KIND_TRANSFERS
        return pb.Command(collective=pb.Collective(communicator=handle, kind=kind, transfers=transfers))
    fields = {"source": base, "destination": destination, "count": count, "dtype": _FLOAT32, "root": _ROOT}
    kind = getattr(pb.Collective, f"KIND_{job.operation.upper()}")
    return pb.Command(collective=pb.Collective(communicator=handle, kind=kind, **fields))


def expected(job: Job, rank: int) -> list[tuple[int, bytes]]:
    """Returns elements of the result with their offsets in the destination. Rank r's operand contains r + 1."""
    source_bytes, destination_bytes = operand_bytes(job.operation, job.ranks, job.size)
    last = destination_bytes - _BYTES_EACH
    if job.operation == "all_gather":
        return [(source_bytes * other, _VALUES[other + 1]) for other in range(job.ranks)]
    if job.operation == "broadcast":
        value = _VALUES[_ROOT + 1]
    elif job.operation == "send":
        value = _VALUES[(rank - 1) % job.ranks + 1]
    else:
        total = sum(range(1, job.ranks + 1))
        value = b"\x00\x00\xc0\x40" if total == 6 else _VALUES[total]
    return [(0, value), (last, value)]


def _run(job: Job, rank: int, pipe: Connection, progress: Any) -> None:
    """Main function of a rank's process."""
    source_bytes, destination_bytes = operand_bytes(job.operation, job.ranks, job.size)
    session = Session(job.backend, source_bytes + destination_bytes + MIB, seconds=_LIFETIME_SECONDS)
    pattern = _VALUES[rank + 1] * (MIB // _BYTES_EACH)
    for at in range(0, source_bytes, MIB):
        session.stream.write_memory(session.base + at, pattern[: source_bytes - at])
    handle, call = session.join(job.identity, rank, job.ranks)
    call.read()
    pipe.send("joined")
    end = _repeat(job, rank, session, handle, pipe, progress)
    if end is not None:
        pipe.send(end)
        pipe.recv()
    session.close()
    os._exit(0)


def _repeat(job: Job, rank: int, session: Session, handle: int, pipe: Connection, progress: Any) -> End | None:
    """Repeats the operation until it fails. Returns None if the pipe requests the end."""
    destination = session.base + operand_bytes(job.operation, job.ranks, job.size)[0]
    places = expected(job, rank)
    operations = 0
    code, message, problem = _OK, "", ""
    while code == _OK and not problem and not pipe.poll(0):
        try:
            status = session.stream.status(command(job, rank, handle, session.base))
            code, message = status.code, status.message.decode(errors="replace")
        except grpc.RpcError as error:
            code, message = error.code().value[0], f"the call ended: {error.details()}"
            break
        if code != _OK:
            break
        operations += 1
        progress.value += 1
        for place, value in places:
            found = session.stream.read_memory(destination + place, _BYTES_EACH)
            if found != value:
                problem = f"{job.operation} of {job.size} bytes: {found.hex()} instead of {value.hex()} at {place}"
                break
    else:
        if code == _OK and not problem:
            return None
    seconds = time.monotonic()
    return End(rank, code, message, seconds, operations, problem or _soundness(session))


def _soundness(session: Session) -> str:
    """Returns the action that fails in a session after a failed operation; empty if the session is usable."""
    data = os.urandom(_CHECKED_BYTES)
    try:
        status = session.stream.clear()
        if status.code == _OK:
            status = session.stream.write_memory(session.base, data)
        if status.code != _OK:
            return f"the stream fails after its error was cleared: {status.message!r}"
        if session.stream.read_memory(session.base, len(data)) != data:
            return "device memory differs from the data written after the error"
    except grpc.RpcError as error:
        return f"the session ended with the operation: {error.code()} {error.details()}"
    return ""
