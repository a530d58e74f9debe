"""Programs are compiled in processes of their own, which may end at any time without harm to server and clients."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from habana_frameworks.tensorflow.lib import device_pb2 as pb
from tests.remote.servers import Server, wait_until
from tests.remote.test_limits import PROGRAM, make_recipe
from tests.remote.test_protocol import Client, Session, Stream

SOURCE = pb.MakeRecipeHeader.SOURCE_PROGRAM
ARGUMENTS = ("--backend", "null", "--modules", "2", "--allow-faults", "--compile-workers", "2")


def state_and_parent(pid: int) -> tuple[str, int]:
    """As the kernel writes them; of a process that is no more, "X" and 0."""
    try:
        state, parent = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return "X", 0
    return state, int(parent)


def workers(server: Server) -> set[int]:
    """The server's children."""
    pids = [int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")]
    return {pid for pid in pids if state_and_parent(pid)[1] == server.process.pid and is_running(pid)}


def is_running(pid: int) -> bool:
    # Zombies without a parent stay where nobody collects them.
    return state_and_parent(pid)[0] not in "ZX"


def compile_program(client: Client, session: Session, handle: int) -> Any:
    """The code and the error, as make_recipe() gives them."""
    return make_recipe(client, session, handle, SOURCE, len(PROGRAM), PROGRAM)


@contextlib.contextmanager
def session_with(client: Client, *faults: str) -> Iterator[Session]:
    session = Session(client, faults=list(faults))
    yield session
    session.end()


def start_hanging(server: Server, client: Client, session: Session) -> Stream:
    """A call that a worker works on without end."""
    hanging = "fault that was asked for: compiler_hang"
    before = server.log().count(hanging)
    call = client.recipe()
    header = pb.MakeRecipeHeader(session=session.acquired.session, recipe=1, source=SOURCE, bytes=len(PROGRAM))
    call.write(pb.MakeRecipeRequest(header=header))
    call.write(pb.MakeRecipeRequest(chunk=PROGRAM))
    wait_until(lambda: server.log().count(hanging) > before)
    return call


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory: pathlib.Path = tmp_path_factory.mktemp("server")
    # The log tells how calls end.
    with Server(directory, *ARGUMENTS, environment={"LOG_LEVEL_BACKEND": "2"}) as made:
        yield made


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    made = Client(server.backend)
    with session_with(made) as session:
        assert compile_program(made, session, 1) == (None, "")  # a worker is ready
    yield made
    made.channel.close()


def test_a_program_that_crashes_the_compiler_fails_alone(server: Server, client: Client) -> None:
    before = workers(server)
    with session_with(client, "compiler_crash@2") as session, session_with(client) as other:
        assert compile_program(client, session, 1) == (None, "")
        code, error = compile_program(client, session, 2)
        assert code is grpc.StatusCode.INTERNAL
        assert "the compiler crashed on program '' (process " in error
        assert "signal 6 (Aborted)" in error
        assert "fault that was asked for: compiler_crash" in server.log()
        assert compile_program(client, session, 3) == (None, "")
        assert compile_program(client, other, 1) == (None, "")
        assert session.status(fill=pb.Fill(destination=session.acquired.base_address, value=7, bytes=2)).code == 0
    assert workers(server) != before


def test_workers_may_be_killed(server: Server, client: Client) -> None:
    with session_with(client, "compiler_hang@2") as session:
        # While they have nothing to do, no program is to blame, and none notices.
        before = workers(server)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        assert compile_program(client, session, 1) == (None, "")
        assert not workers(server) & before
        call = start_hanging(server, client, session)
        for pid in workers(server):
            os.kill(pid, signal.SIGKILL)
        code, error = call.refusal()
        assert code is grpc.StatusCode.INTERNAL
        assert "signal 9 (Killed)" in error
        assert compile_program(client, session, 3) == (None, "")


def test_a_compilation_that_does_not_end_is_ended(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path, *ARGUMENTS, "--compile-timeout", "3") as server:
        client = Client(server.backend)
        with session_with(client, "compiler_hang@1") as session:
            code, error = compile_program(client, session, 1)
            assert code is grpc.StatusCode.INTERNAL
            assert "within 3 s and was ended (hpu serve --compile-timeout)" in error
            assert compile_program(client, session, 2) == (None, "")
        client.channel.close()


def test_nobody_compiles_for_a_client_that_is_gone(server: Server, client: Client) -> None:
    session = Session(client, faults=["compiler_hang@1"])
    before = workers(server)
    call = start_hanging(server, client, session)
    call.cancel()
    # And not for lack of time.
    wait_until(lambda: "MakeRecipe ended: CANCELLED: the client has gone" in server.log())
    wait_until(lambda: before - workers(server) != set())
    session.end()


def test_workers_end_with_the_server(tmp_path: pathlib.Path) -> None:
    for end in (Server.kill, Server.__exit__):
        directory = tmp_path / end.__name__
        directory.mkdir()
        server = Server(directory, *ARGUMENTS)
        client = Client(server.backend)
        hanging = Session(client, faults=["compiler_hang@1"])
        call = start_hanging(server, client, hanging)
        with session_with(client) as session:
            assert compile_program(client, session, 1) == (None, "")
        found = workers(server)
        assert len(found) == 2  # one that hangs and one that is idle
        if end is Server.kill:
            server.kill()
        else:
            server.__exit__(None, None, None)
        wait_until(lambda found=found: not any(map(is_running, found)))  # type: ignore[misc]
        call.cancel()
        client.channel.close()


def test_workers_hold_nothing_of_the_servers(server: Server, client: Client) -> None:
    for pid in workers(server):
        targets = {path.name: str(path.readlink()) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()}
        sockets = [name for name, target in targets.items() if target.startswith("socket:")]
        assert sockets == ["0"], targets
        assert targets["1"] == targets["2"]
