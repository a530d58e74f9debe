"""Compile workers: separate processes whose crashes affect neither server nor clients."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.servers import Server, descendants, wait_until
from tests.remote.test_limits import PROGRAM, make_recipe
from tests.remote.test_protocol import Client, Session, Stream

SOURCE = pb.MakeRecipeHeader.SOURCE_PROGRAM
ARGUMENTS = ("--backend", "null", "--modules", "2", "--allow-faults", "--compile-workers", "2")


def state_and_parent(pid: int) -> tuple[str, int]:
    """Returns state and parent of a process from /proc; "X" and 0 if it does not exist."""
    try:
        state, parent = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return "X", 0
    return state, int(parent)


def children(parents: set[int]) -> set[int]:
    pids = [int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")]
    return {pid for pid in pids if state_and_parent(pid)[1] in parents and is_running(pid)}


def workers(server: Server) -> set[int]:
    """Returns the compile workers: children of a session's fork server, which is a child of the session process."""
    sessions = children(children({server.process.pid}))
    return children(children(sessions))


def is_running(pid: int) -> bool:
    # Orphaned zombies remain if no process reaps them.
    return state_and_parent(pid)[0] not in "ZX"


def compile_program(session: Session, handle: int) -> Any:
    """Compiles a program, and returns code and error like make_recipe()."""
    return make_recipe(session, handle, SOURCE, len(PROGRAM), PROGRAM)


@contextlib.contextmanager
def session_with(client: Client, *faults: str) -> Iterator[Session]:
    session = Session(client, faults=list(faults))
    try:
        yield session
    finally:
        session.end()


def start_hanging(server: Server, session: Session) -> Stream:
    """Starts a call on which a worker hangs."""
    hanging = "injected fault: compiler_hang"
    before = server.log().count(hanging)
    call = session.client.recipe()
    header = pb.MakeRecipeHeader(session=session.acquired.session, recipe=1, source=SOURCE, bytes=len(PROGRAM))
    call.write(pb.MakeRecipeRequest(header=header))
    call.write(pb.MakeRecipeRequest(chunk=PROGRAM))
    wait_until(lambda: server.log().count(hanging) > before)
    return call


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory: pathlib.Path = tmp_path_factory.mktemp("server")
    # At this level, the log records how calls end.
    with Server(directory, *ARGUMENTS, environment={"LOG_LEVEL_BACKEND": "2"}) as made:
        yield made


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    made = Client(server.backend)
    yield made
    made.channel.close()


def test_a_program_that_crashes_the_compiler_fails_alone(server: Server, client: Client) -> None:
    with session_with(client, "compiler_crash@2") as session, session_with(client) as other:
        assert compile_program(session, 1) == (None, "")
        before = workers(server)
        code, error = compile_program(session, 2)
        assert code is grpc.StatusCode.INTERNAL
        assert "the compiler crashed on program '' (process " in error
        assert "signal 6 (Aborted)" in error
        wait_until(lambda: "injected fault: compiler_crash" in server.log())
        assert compile_program(session, 3) == (None, "")
        assert not workers(server) & before
        assert compile_program(other, 1) == (None, "")
        assert session.status(fill=pb.Fill(destination=session.acquired.base_address, value=7, bytes=2)).code == 0


def test_workers_may_be_killed(server: Server, client: Client) -> None:
    with session_with(client, "compiler_hang@3") as session:
        assert compile_program(session, 1) == (None, "")
        # The server replaces a killed idle worker without an effect on the client.
        before = workers(server)
        assert len(before) == 1
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        assert compile_program(session, 2) == (None, "")
        assert not workers(server) & before
        call = start_hanging(server, session)
        for pid in workers(server):
            os.kill(pid, signal.SIGKILL)
        code, error = call.refusal()
        assert code is grpc.StatusCode.INTERNAL
        assert "signal 9 (Killed)" in error
        assert compile_program(session, 3) == (None, "")


def test_each_session_has_separate_workers(server: Server, client: Client) -> None:
    with session_with(client) as session:
        assert compile_program(session, 1) == (None, "")
        first = workers(server)
        with session_with(client) as other:
            assert compile_program(other, 1) == (None, "")
            assert len(workers(server) - first) == 1
            assert first < workers(server)
        wait_until(lambda: workers(server) == first)
    wait_until(lambda: not workers(server))


def test_a_compilation_that_does_not_end_is_ended(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path, *ARGUMENTS, "--compile-timeout", "3") as server:
        client = Client(server.backend)
        with session_with(client, "compiler_hang@1") as session:
            code, error = compile_program(session, 1)
            assert code is grpc.StatusCode.INTERNAL
            assert "within 3 s and was stopped; raise the limit with hpu serve --compile-timeout" in error
            assert compile_program(session, 2) == (None, "")
        client.channel.close()


def test_compilation_ends_when_the_client_disconnects(server: Server, client: Client) -> None:
    session = Session(client, faults=["compiler_hang@1"])
    call = start_hanging(server, session)
    busy = workers(server)
    call.cancel()
    # The cause must be the disconnection, not the time limit.
    wait_until(lambda: "MakeRecipe ended: CANCELLED: the client disconnected" in server.log())
    wait_until(lambda: not busy & workers(server))
    session.end()


def test_all_processes_end_with_the_server(tmp_path: pathlib.Path) -> None:
    for end in (Server.kill, Server.__exit__):
        directory = tmp_path / end.__name__
        directory.mkdir()
        server = Server(directory, *ARGUMENTS)
        client = Client(server.backend)
        hanging = Session(client, faults=["compiler_hang@1"])
        call = start_hanging(server, hanging)
        idle = Session(client)
        assert compile_program(idle, 1) == (None, "")
        assert len(workers(server)) == 2
        found = descendants(server.process.pid)
        if end is Server.kill:
            server.kill()
        else:
            server.__exit__(None, None, None)
        wait_until(lambda found=found: not any(map(is_running, found)))  # type: ignore[misc]
        call.cancel()
        for session in (hanging, idle):
            session.hold.cancel()
            session.client.channel.close()
        client.channel.close()


def test_workers_inherit_nothing_from_the_server(server: Server, client: Client) -> None:
    with session_with(client) as session:
        assert compile_program(session, 1) == (None, "")
        found = workers(server)
        assert len(found) == 1
        (pid,) = found
        targets = {path.name: str(path.readlink()) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()}
        sockets = [name for name, target in targets.items() if target.startswith("socket:")]
        assert len(sockets) == 1, targets
        assert not any("/memfd:" in target for target in targets.values()), targets
        assert targets["1"] == targets["2"]
