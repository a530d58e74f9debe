"""Clients that send requests but never read: their answers use a bounded amount of server memory."""

from __future__ import annotations

import time

from habana_frameworks.tensorflow.lib import device_pb2 as pb
from tests.remote.attacks.footprint import private_bytes
from tests.remote.attacks.programs import train_step
from tests.remote.attacks.scene import Scene
from tests.remote.device_client import MIB, Call, Session

# Per call 8 MiB of received and 8 MiB of unsent data, in messages of many small parts.
MAX_GROWTH = 256 * MIB
SECONDS = 6.0


def growth(scene: Scene, session: Session) -> int:
    """Returns the maximum growth of private memory in the front process and the attacker's session, in bytes."""
    pids = (scene.front, *scene.new_sessions())
    before = sum(map(private_bytes, pids))
    most, deadline = 0, time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        most = max(most, sum(map(private_bytes, pids)) - before)
        time.sleep(0.1)
    scene.victim.assert_unharmed()
    session.close()
    return most


def test_reports(scene: Scene) -> None:
    session = scene.attacker(memory_bytes=MIB)
    session.stream.send(pb.Command(fill=pb.Fill(destination=1, value=1, bytes=9)))  # causes an error with a message
    reports = pb.RunRequest(commands=[pb.Command(report=pb.Report())] * 200_000).SerializeToString()
    for _ in range(12):
        session.stream.write(reports)
    assert growth(scene, session) < MAX_GROWTH


def test_copies(scene: Scene) -> None:
    session = scene.attacker(memory_bytes=8 * MIB)
    copies = [pb.Command(copy_to_host=pb.CopyToHost(source=session.base, bytes=MIB))] * 2000
    streams = [session.open_stream() for _ in range(4)]
    for stream in streams:
        stream.send(*copies)
    assert growth(scene, session) < MAX_GROWTH


def test_recipes(scene: Scene) -> None:
    session = scene.attacker(memory_bytes=MIB)
    program = train_step(8)
    for _ in range(40):
        handle = session.new_handle()
        call = Call(session.channel, "MakeRecipe", pb.MakeRecipeResponse)
        source = pb.MakeRecipeHeader.SOURCE_PROGRAM
        header = pb.MakeRecipeHeader(
            session=session.name, recipe=handle, name=b"unread", source=source, bytes=len(program)
        )
        call.write(pb.MakeRecipeRequest(header=header))
        call.write(pb.MakeRecipeRequest(chunk=program))
    assert growth(scene, session) < MAX_GROWTH


def test_announced_programs_that_never_arrive(scene: Scene) -> None:
    session = scene.attacker(memory_bytes=MIB)
    for _ in range(60):
        call = Call(session.channel, "MakeRecipe", pb.MakeRecipeResponse)
        source = pb.MakeRecipeHeader.SOURCE_PROGRAM
        header = pb.MakeRecipeHeader(
            session=session.name, recipe=session.new_handle(), name=b"announced", source=source, bytes=1 << 30
        )
        call.write(pb.MakeRecipeRequest(header=header))
        call.write(pb.MakeRecipeRequest(chunk=b"\0" * MIB))
    assert growth(scene, session) < MAX_GROWTH


def test_signs_of_life(scene: Scene) -> None:
    session = scene.attacker(memory_bytes=MIB)
    for _ in range(100_000):
        session.hold.write(pb.HoldRequest())
    assert growth(scene, session) < MAX_GROWTH


def test_descriptions(scene: Scene) -> None:
    session = scene.attacker(memory_bytes=MIB)
    calls = [Call(session.channel, "Describe", pb.DescribeResponse) for _ in range(300)]
    for call in calls:
        call.write(pb.DescribeRequest())
    assert growth(scene, session) < MAX_GROWTH
