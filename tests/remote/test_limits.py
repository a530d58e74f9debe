"""Limits of a client's resources on a server."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.servers import Server
from tests.remote.test_protocol import Client, Session

MIB = 1 << 20
# xla.HloModuleProto without Python messages: no parameters, and an empty tuple as result.
PROGRAM = b"\x22\x04\x12\x02\x10\x0d"
LIMITS = ["--max-memory-mb", "4", "--max-recipes", "2", "--max-recipe-mb", "1", "--max-in-flight-mb", "2"]


@pytest.fixture
def client(tmp_path: pathlib.Path) -> Iterator[Client]:
    with Server(tmp_path, "--backend", "null", "--modules", "1", *LIMITS) as server:
        made = Client(server.backend)
        yield made
        made.channel.close()


def make_recipe(session: Session, handle: int, source: Any, size: int, *chunks: bytes) -> Any:
    """Runs MakeRecipe. Returns the call's code and error; the code is None on success."""
    header = pb.MakeRecipeHeader(session=session.acquired.session, recipe=handle, source=source, bytes=size)
    call = session.client.recipe()
    call.write(pb.MakeRecipeRequest(header=header))
    for chunk in chunks:
        call.write(pb.MakeRecipeRequest(chunk=chunk))
    try:
        while True:
            call.read()
    except StopIteration:
        return None, ""
    except grpc.RpcError as error:
        return error.code(), error.details()


def test_oversized_messages_are_refused_before_they_arrive(client: Client) -> None:
    session = Session(client, memory_bytes=MIB << 20)
    assert session.acquired.memory_bytes == 4 * MIB
    program, recipe = pb.MakeRecipeHeader.SOURCE_PROGRAM, pb.MakeRecipeHeader.SOURCE_RECIPE
    for source, size, option in ((program, 3 * MIB, "--max-in-flight-mb"), (recipe, 3 * MIB // 2, "--max-recipe-mb")):
        code, error = make_recipe(session, 1, source, size)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert option in error
    for handle in (1, 2):
        assert make_recipe(session, handle, program, len(PROGRAM), PROGRAM) == (None, "")
    code, error = make_recipe(session, 3, program, len(PROGRAM), PROGRAM)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "2 recipe handles" in error
    # Forgetting a recipe frees its share of the limit.
    session.hold.ask(pb.HoldRequest(forget_recipes=[pb.Forget(handle=1)]))
    assert make_recipe(session, 3, program, len(PROGRAM), PROGRAM) == (None, "")
    session.end()


def test_copies_go_on_with_the_least_of_host_memory(client: Client) -> None:
    session = Session(client, memory_bytes=2 * MIB)
    base, data = session.acquired.base_address, bytes(MIB)
    streams = [session.run, *(session.client.run() for _ in range(3))]
    for stream in streams[1:]:
        open_stream = pb.OpenStream(session=session.acquired.session, kind=pb.STREAM_KIND_HOST_TO_DEVICE)
        stream.write(pb.RunRequest(open=open_stream))
    for _ in range(3):
        for stream in streams:
            copy = pb.Command(copy_to_device=pb.CopyToDevice(destination=base, data=data))
            progress = stream.ask(pb.RunRequest(commands=[copy, pb.Command(report=pb.Report())])).progress
            assert progress.status.code == 0
    for stream in streams[1:]:
        stream.end()
    session.end()
