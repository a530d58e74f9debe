"""Process of an attacking client: programs, messages, connections and collectives that no honest client sends."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import mmap
import multiprocessing
import os
import pathlib
import random
import socket
import time
from collections.abc import Callable
from typing import Any

import grpc

from habana_frameworks.tensorflow import device_channel
from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.device_client import MIB, Call, Recipe, Session, aligned, connect
from tests.soak.attacks import targeted
from tests.soak.attacks.canaries import Canaries
from tests.soak.attacks.counters import Counters
from tests.soak.attacks.hlo_mutations import Mutator
from tests.soak.attacks.protobuf_mutations import flip_bytes, mutate, number, random_message

MEMORY_BYTES = 16 * MIB
_CANARY_AT = 12 * MIB
_CANARY_BYTES = 1 * MIB
_MAX_RESULT_BYTES = 1 * MIB
_CALL_SECONDS = 60.0
_READ_SECONDS = 2.0
_RETRY_SECONDS = 0.2
_PAIR_BYTES = 2 * MIB
_ELEMENT_BYTES = (0, 4, 2, 4, 1, 1, 2, 8, 2, 8, 1, 2, 4, 8, 8, 16)
"""Element size in bytes, by device.v1's number of the dtype."""
_METHODS = {
    "Describe": (pb.DescribeRequest, pb.DescribeResponse),
    "Hold": (pb.HoldRequest, pb.HoldResponse),
    "Run": (pb.RunRequest, pb.RunResponse),
    "MakeRecipe": (pb.MakeRecipeRequest, pb.MakeRecipeResponse),
    "MakeCommunicator": (pb.MakeCommunicatorRequest, pb.MakeCommunicatorResponse),
}
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")


@dataclasses.dataclass(frozen=True)
class Target:
    """Arguments of an attacker."""

    backend: str
    programs: tuple[bytes, ...]
    canaries: Canaries
    kept: str = ""
    """Directory for programs that ended their session; empty: programs are not stored."""


def context() -> Any:
    """Returns the multiprocessing context. Attackers are forks of a process that has imported TensorFlow's messages."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.soak.attacks.attacker"])
    return made


def attack(target: Target, owner: int, seed: int, values: Any, evidence: str) -> None:
    """Runs an attacker until it is killed. evidence: path of a file for its findings."""
    Attacker(target, owner, random.Random(seed), Counters(values), evidence).run()


class Attacker:
    def __init__(self, target: Target, owner: int, chance: random.Random, counters: Counters, evidence: str) -> None:
        self._target = target
        self._owner = owner
        self._chance = chance
        self._counters = counters
        self._evidence = evidence
        self._mutator = Mutator(target.programs)
        self._program = b""
        self._canary = target.canaries.canary(owner) * (_CANARY_BYTES // len(target.canaries.canary(owner)))

    def run(self) -> None:
        actions: list[tuple[float, Callable[[Session], None]]] = [
            (10.0, self._send_mutated),
            (8.0, self._send_targeted),
            (1.0, self._forge_recipe),
            (2.0, self._send_messages),
            (2.0, self._send_commands),
            (0.5, self._leave_unread),
            (0.5, self._connect_silently),
            (0.5, self._read_shared_memory),
            (0.5, self._lose_a_rank),
        ]
        weights, choices = [weight for weight, _ in actions], [action for _, action in actions]
        while True:
            session = self._open()
            if session is None:
                continue
            for _ in range(self._chance.randint(5, 80)):
                self._counters.add("actions")
                (action,) = self._chance.choices(choices, weights)
                try:
                    action(session)
                except (grpc.RpcError, StopIteration) as error:
                    self._scan(repr(error).encode())
                if not session.is_open():
                    self._counters.add("sessions_ended")
                    self._note_end(session, action.__name__)
                    break
            else:
                self._check(session)
            session.close()

    def _open(self, **fields: Any) -> Session | None:
        try:
            session = Session(self._target.backend, **{"memory_bytes": MEMORY_BYTES, **fields})
        except (grpc.RpcError, grpc.FutureTimeoutError) as error:
            self._scan(repr(error).encode())
            self._counters.add("sessions_refused")
            time.sleep(_RETRY_SECONDS)
            return None
        self._counters.add("sessions")
        with contextlib.suppress(grpc.RpcError, StopIteration):
            if session.stream.read_memory(session.base, MIB).strip(b"\0"):
                self._counters.add("wrong_results")
                self._report("new device memory is not zero", b"")
            session.stream.write_memory(session.base, self._chance.randbytes(MIB))
            session.stream.write_memory(session.base + _CANARY_AT, self._canary)
        return session

    def _note_end(self, session: Session, action: str) -> None:
        """Counts a crash of the session's process, and stores the latest program."""
        code, _ = session.wait_for_end()
        if code is not grpc.StatusCode.UNAVAILABLE:
            return
        self._counters.add("sessions_crashed")
        if self._target.kept:
            name = f"{action.strip('_')}-{hashlib.sha256(self._program).hexdigest()[:16]}.hlo"
            pathlib.Path(self._target.kept, name).write_bytes(self._program)

    def _check(self, session: Session) -> None:
        """Scans all memory of a session for canaries."""
        with contextlib.suppress(grpc.RpcError, StopIteration):
            session.stream.clear()
            self._scan(session.stream.read_memory(session.base, MEMORY_BYTES))

    def _scan(self, data: bytes) -> None:
        """Reports canaries of other clients in received data."""
        self._counters.add("bytes_scanned", len(data))
        found = self._target.canaries.leak(data, self._owner)
        if found is not None:
            self._counters.add("leaks")
            self._report(f"client {self._owner} read the canary of client {found}", data)

    def _report(self, what: str, data: bytes) -> None:
        with pathlib.Path(self._evidence).open("ab") as file:
            file.write(f"{time.time()} {what}: {data[:4096].hex()}\n".encode())

    # --- Programs

    def _send_mutated(self, session: Session) -> None:
        self._counters.add("programs_mutated")
        self._send(session, self._mutator.draw(self._chance))

    def _send_targeted(self, session: Session) -> None:
        self._send(session, targeted.draw(self._chance))

    def _send(self, session: Session, program: bytes) -> None:
        """Compiles and runs a program, and scans its results."""
        self._counters.add("programs_sent")
        self._program = program
        try:
            recipe = session.compile(program, self._chance.choice((b"attack", b"\xff\0\n%s", b"x" * 4096)))
        except grpc.RpcError as error:
            self._counters.add("programs_refused")
            text = str(error.details())
            self._counters.add("worker_crashes", "the compiler crashed" in text)
            self._counters.add("compile_timeouts", "--compile-timeout" in text)
            self._scan(text.encode())
            return
        self._counters.add("programs_compiled")
        self._scan(recipe.data)
        self._launch(session, recipe)
        forget = pb.HoldRequest(forget_recipes=[pb.Forget(handle=recipe.handle, uses=1)])
        session.hold.write(forget)

    def _launch(self, session: Session, recipe: Recipe) -> None:
        arguments, at = self._places(session, recipe.table.arguments, session.base)
        results, end = self._places(session, recipe.table.results, at)
        workspace = aligned(end)
        if self._chance.random() < 0.1:
            arguments = [session.base + number(self._chance) % (1 << 62) for _ in arguments]
        if self._chance.random() < 0.1:
            workspace = number(self._chance) % (1 << 62)
        status = session.launch(recipe, arguments, results, workspace)
        self._scan(status.message)
        if status.code == 0:
            self._counters.add("programs_run")
        else:
            session.stream.clear()
        size = min(_MAX_RESULT_BYTES, max(0, _CANARY_AT - (at - session.base)))
        if self._chance.random() < 0.3 and size:
            self._scan(session.stream.read_memory(at, size))

    def _places(self, session: Session, tensors: Any, at: int) -> tuple[list[int], int]:
        """Returns addresses of the tensors, consecutive while these fit, and the end of the last one."""
        places = []
        for tensor in tensors:
            size = _ELEMENT_BYTES[tensor.dtype] if tensor.dtype < len(_ELEMENT_BYTES) else 16
            for dim in tensor.dims:
                size *= max(0, dim)
            if tensor.aliased_argument >= 0 and self._chance.random() < 0.9:
                places.append(session.base)
                continue
            if at + size > session.base + _CANARY_AT:
                at = session.base
            places.append(at)
            at = aligned(at + min(size, _CANARY_AT))
        return places, at

    def _forge_recipe(self, session: Session) -> None:
        """Loads a modified recipe, or random bytes in place of a recipe."""
        self._counters.add("recipes_forged")
        recipe = session.compile(self._target.programs[self._chance.randrange(len(self._target.programs))])
        forged = flip_bytes(recipe.data, self._chance)
        if self._chance.random() < 0.2:
            forged = self._chance.randbytes(self._chance.randrange(1, 4096))
        try:
            session.make_recipe(forged, pb.MakeRecipeHeader.SOURCE_RECIPE)
        except grpc.RpcError:
            return
        if forged != recipe.data:
            self._counters.add("wrong_results")
            self._report("a forged recipe was loaded", forged)

    # --- Messages

    def _send_messages(self, session: Session) -> None:
        """Sends random messages to a call."""
        method, (request, response) = self._chance.choice(list(_METHODS.items()))
        call = Call(session.channel, method, response, seconds=_READ_SECONDS)
        for _ in range(self._chance.randint(1, 5)):
            self._counters.add("messages_sent")
            call.write(self._message(session, request))
        if self._chance.random() < 0.3:
            call.cancel()
        else:
            call.finish_writing()
            with contextlib.suppress(grpc.RpcError, StopIteration):
                while True:
                    self._scan(call.read().SerializeToString())

    def _message(self, session: Session, kind: Any) -> Any:
        drawn = self._chance.random()
        if drawn < 0.2:
            return self._chance.randbytes(self._chance.randrange(200))
        message = random_message(kind, self._chance)
        if kind is pb.RunRequest and drawn < 0.7:
            message = pb.RunRequest(open=pb.OpenStream(session=session.name, kind=self._chance.randint(0, 4)))
        elif kind is pb.MakeRecipeRequest and drawn < 0.7:
            size = number(self._chance) % (1 << 62)
            header = {"session": session.name, "recipe": size, "source": self._chance.randint(0, 3), "bytes": size}
            message = pb.MakeRecipeRequest(header=pb.MakeRecipeHeader(**header))
        elif kind is pb.MakeCommunicatorRequest and drawn < 0.7:
            rank, size = self._chance.choice((-1, 0, 1, 5, 1 << 30)), self._chance.choice((-1, 0, 1, 2, 1024, 1 << 30))
            identity = self._chance.randbytes(self._chance.choice((0, 8, 256, 257)))
            header = {"session": session.name, "communicator": 1, "id": identity, "rank": rank, "size": size}
            message = pb.MakeCommunicatorRequest(header=pb.CommunicatorHeader(**header))
        if self._chance.random() < 0.3:
            mutate(message, self._chance)
        return message

    def _send_commands(self, session: Session) -> None:
        """Sends random commands to a stream of the session, which may end."""
        stream = session.open_stream(self._chance.randint(1, 3), _READ_SECONDS)
        limit = 2 * MEMORY_BYTES
        for _ in range(self._chance.randint(1, 20)):
            command = random_message(pb.Command, self._chance)
            if self._chance.random() < 0.7:
                places = [session.base + self._chance.randrange(limit) for _ in range(2)]
                copy = {"source": places[0], "destination": places[1], "bytes": self._chance.randrange(limit)}
                command = pb.Command(copy_on_device=pb.CopyOnDevice(**copy))
            self._counters.add("messages_sent")
            stream.send(command)
        stream.finish_writing()
        with contextlib.suppress(grpc.RpcError, StopIteration):
            while True:
                self._scan(stream.read().SerializeToString())

    def _leave_unread(self, session: Session) -> None:
        """Requests large answers, reads few of them, and disconnects."""
        self._counters.add("answers_unread")
        stream = session.open_stream(seconds=_CALL_SECONDS)
        copies = [pb.Command(copy_to_host=pb.CopyToHost(source=session.base, bytes=MIB))] * 200
        reports = [pb.Command(report=pb.Report())] * 20_000
        stream.send(*(copies if self._chance.random() < 0.5 else reports))
        for _ in range(self._chance.randint(0, 3)):
            self._scan(stream.read().SerializeToString())
        time.sleep(self._chance.random() * 0.5)
        stream.cancel()

    # --- Connections

    def _connect_silently(self, session: Session) -> None:
        """Opens connections that stay silent or send invalid HTTP/2, then calls without messages, for a moment."""
        path = device_channel.target(self._target.backend).removeprefix("unix:")
        with contextlib.ExitStack() as stack:
            for _ in range(self._chance.randint(1, 8)):
                self._counters.add("connections_silent")
                connection = stack.enter_context(socket.socket(socket.AF_UNIX))
                connection.connect(path)
                sent = (b"", b"P", _PREFACE, _PREFACE + self._chance.randbytes(200), self._chance.randbytes(50))
                with contextlib.suppress(OSError):
                    connection.sendall(self._chance.choice(sent))
            time.sleep(self._chance.random() * 0.3)
        channel = connect(self._target.backend)
        for _ in range(self._chance.randint(1, 30)):
            Call(channel, self._chance.choice(list(_METHODS)), pb.HoldResponse, seconds=_CALL_SECONDS)
        time.sleep(self._chance.random() * 0.3)
        channel.close()

    def _read_shared_memory(self, session: Session) -> None:
        """Reads shared memory of its own session, or requests it for an invalid session."""
        path = device_channel.target(self._target.backend).removeprefix("unix:") + ".memory"
        name = session.name if self._chance.random() < 0.5 else self._chance.randbytes(self._chance.choice((0, 15, 16)))
        with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(OSError):
            connection.settimeout(_READ_SECONDS)
            connection.connect(path)
            connection.sendall(name)
            if name != session.name:
                connection.shutdown(socket.SHUT_WR)
            _, descriptors, _, _ = socket.recv_fds(connection, 1, 4)
            for descriptor in descriptors:
                self._scan_file(descriptor, is_own=name == session.name)

    def _scan_file(self, descriptor: int, is_own: bool) -> None:
        with contextlib.closing(mmap.mmap(descriptor, 0)) as memory:
            self._scan(memory[:])
            for _ in range(16):  # the server copies from and to the memory
                memory[self._chance.randrange(len(memory))] = 0xFF
        os.close(descriptor)
        if not is_own:
            self._counters.add("leaks")
            self._report("memory of a session that was not named", b"")

    # --- Collectives

    def _lose_a_rank(self, session: Session) -> None:
        """Runs a collective operation of two sessions, one of which ends during it."""
        other = self._open()
        if other is None:
            return
        ranks = [session, other]
        identity = self._chance.randbytes(8)
        size = self._chance.choice((2, 2, 2, 3))
        joined = [ranks[rank].join(identity, rank, size) for rank in range(2)]
        try:
            if size == 2:
                for _, call in joined:
                    call.read()
                self._counters.add("collectives")
                count = _PAIR_BYTES // 4 - self._chance.choice((0, 0, 0, 1))
                for rank, member in enumerate(ranks):
                    kind = self._chance.choice((1, 1, 1, 2, 3, 4)) if self._chance.random() < 0.1 else 1
                    collective = pb.Collective(
                        communicator=joined[rank][0],
                        kind=kind,
                        source=member.base,
                        destination=member.base + _PAIR_BYTES,
                        count=count,
                        dtype=self._chance.choice((1, 1, 1, 3, 99)),
                        op=self._chance.choice((0, 0, 3, 9)),
                    )
                    member.stream.send(*([pb.Command(collective=collective)] * self._chance.randint(1, 6)))
            time.sleep(self._chance.random() * 0.05)
        finally:
            other.close()
        if size == 2:
            status = session.stream.status()
            self._scan(status.message)
            self._counters.add("collectives_lost", status.code != 0)
            session.stream.clear()
            self._scan(session.stream.read_memory(session.base + _PAIR_BYTES, MIB))
        joined[0][1].cancel()
