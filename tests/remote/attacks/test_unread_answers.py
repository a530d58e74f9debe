"""Clients that send requests but never read: their answers use a bounded amount of server memory."""

from __future__ import annotations

import contextlib
import pathlib
import time
from collections.abc import Callable

from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.attacks.footprint import private_bytes
from tests.remote.attacks.programs import train_step
from tests.remote.attacks.scene import Scene
from tests.remote.device_client import MIB, Call, Session

# Per call 8 MiB of received and 8 MiB of unsent data, in messages of many small parts.
MAX_GROWTH = 256 * MIB
SECONDS = 9.0


def request_reports(session: Session) -> None:
    session.stream.send(pb.Command(fill=pb.Fill(destination=1, value=1, bytes=9)))  # causes an error with a message
    reports = pb.RunRequest(commands=[pb.Command(report=pb.Report())] * 200_000).SerializeToString()
    for _ in range(12):
        session.stream.write(reports)


def request_copies(session: Session) -> None:
    copies = [pb.Command(copy_to_host=pb.CopyToHost(source=session.base, bytes=MIB))] * 2000
    streams = [session.open_stream() for _ in range(4)]
    for stream in streams:
        stream.send(*copies)


def make_recipe(session: Session, name: bytes, announced_bytes: int, chunk: bytes) -> None:
    call = Call(session.channel, "MakeRecipe", pb.MakeRecipeResponse)
    header = pb.MakeRecipeHeader(
        session=session.name,
        recipe=session.new_handle(),
        name=name,
        source=pb.MakeRecipeHeader.SOURCE_PROGRAM,
        bytes=announced_bytes,
    )
    call.write(pb.MakeRecipeRequest(header=header))
    call.write(pb.MakeRecipeRequest(chunk=chunk))


def request_recipes(session: Session) -> None:
    program = train_step(8)
    for _ in range(40):
        make_recipe(session, b"unread", len(program), program)


def announce_programs_that_never_arrive(session: Session) -> None:
    for _ in range(60):
        make_recipe(session, b"announced", 1 << 30, b"\0" * MIB)


def give_signs_of_life(session: Session) -> None:
    for _ in range(100_000):
        session.hold.write(pb.HoldRequest())


def request_descriptions(session: Session) -> None:
    calls = [Call(session.channel, "Describe", pb.DescribeResponse) for _ in range(300)]
    for call in calls:
        call.write(pb.DescribeRequest())


# Attacks with the memory of their sessions in MiB.
ATTACKS: dict[Callable[[Session], None], int] = {
    request_reports: 1,
    request_copies: 8,
    request_recipes: 1,
    announce_programs_that_never_arrive: 1,
    give_signs_of_life: 1,
    request_descriptions: 1,
}


def test_memory_is_bounded(tmp_path: pathlib.Path) -> None:
    """All attackers at once: the front process and an attacker's session grow by less than MAX_GROWTH together."""
    with Scene(tmp_path, "--modules", str(1 + len(ATTACKS))) as scene:
        sessions: dict[str, Session] = {}
        pids: dict[str, int] = {}
        for attack, mebibytes in ATTACKS.items():
            sessions[attack.__name__] = scene.attacker(memory_bytes=mebibytes * MIB)
            (pids[attack.__name__],) = set(scene.new_sessions()) - set(pids.values())
        pids["front"] = scene.front
        before = {name: private_bytes(pid) for name, pid in pids.items()}
        most = dict.fromkeys(pids, 0)
        for attack in ATTACKS:
            attack(sessions[attack.__name__])
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            for name, pid in pids.items():
                with contextlib.suppress(FileNotFoundError):  # on a busy machine the server may cut a session off
                    most[name] = max(most[name], private_bytes(pid) - before[name])
            time.sleep(0.1)
        scene.victim.assert_unharmed()
        for session in sessions.values():
            session.close()
        for attack in ATTACKS:
            assert most["front"] + most[attack.__name__] < MAX_GROWTH, (attack.__name__, most)
        scene.assert_unharmed()
