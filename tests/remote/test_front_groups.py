"""Communicators among the sessions of a server: rendezvous of ranks, and errors after the loss of a rank."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.serve import groups
from habana_frameworks.tensorflow._internal.serve.status import Code
from tests.remote.fronts import Client, front, session

IDENTITY = b"network:1"


@pytest.fixture
def spec(tmp_path: pathlib.Path) -> Iterator[str]:
    with front(tmp_path, modules=3) as running:
        yield running.spec


def join(client: Client, rank: int, size: int, identity: bytes = IDENTITY) -> int:
    """Joins a communicator with the rank's segment."""
    return client.send_file(64, b"segment of %d" % rank, join_group=pb.JoinGroup(id=identity, rank=rank, size=size))


def refusal(client: Client) -> tuple[Code, str]:
    status = client.read()[0].status
    return Code(status.code), status.message.decode()


def leave(client: Client, rank: int, reason: bytes = b"") -> None:
    assert client.ask(leave_group=pb.LeaveGroup(id=IDENTITY, rank=rank, reason=reason)).status.code == Code.OK


def ended(client: Client) -> str:
    message, _ = client.read()
    assert message.group_ended.id == IDENTITY, message
    return str(message.group_ended.reason.decode())


def form(*clients: Client) -> None:
    for rank, client in reversed(list(enumerate(clients))):
        join(client, rank, len(clients))
    for client in clients:
        message, content = client.read()
        assert (message.status.code, content) == (Code.OK, b"segment of 0")


def test_all_ranks_get_the_segment_of_the_first(spec: str) -> None:
    with session(spec) as one, session(spec) as two, session(spec) as three:
        form(one, two, three)
        leave(one, 1)  # the session does not have this rank
        leave(two, 1, b"rank 1 of 3 has aborted")
        assert ended(one) == ended(three) == "rank 1 of 3 has aborted"
        leave(one, 0)  # has already ended
        form(three, one)
        leave(three, 0)
        assert ended(one) == "rank 0 of 2 left the communicator"


def test_the_end_of_a_session_ends_its_groups(spec: str) -> None:
    with session(spec) as one, session(spec) as two, session(spec) as three:
        form(one, two, three)
        two.close()
        assert ended(one) == ended(three) == "rank 1 of 3: its session ended"
        form(one, three)
        three.send(release=pb.Release())
        assert ended(one) == "rank 1 of 2: its session ended"


def test_waiting_ranks_learn_the_lost_rank(spec: str) -> None:
    gone = (Code.CANCELLED, "rank 0 of 3 disconnected while waiting for rank 2; see the messages of rank 0")
    with session(spec) as one, session(spec) as two:
        for _ in range(2):
            wait_for_another(one, 0)
            wait_for_another(two, 1)
            one.send(leave_group=pb.LeaveGroup(id=IDENTITY, rank=0, reason=b"rank 0 has gone"))
            assert refusal(one) == gone
            assert refusal(two) == gone
            assert one.read()[0].status.code == Code.OK
        wait_for_another(one, 0)
        wait_for_another(two, 1)
        one.close()
        assert refusal(two) == gone


def wait_for_another(client: Client, rank: int, size: int = 3) -> None:
    """Joins, and returns when the front process has registered the rank."""
    join(client, rank, size)
    assert client.authorize() is Code.OK


def test_ranks_that_do_not_fit_are_refused(spec: str) -> None:
    with session(spec) as one, session(spec) as two:
        wait_for_another(one, 0, 2)
        join(two, 0, 2)
        assert refusal(two) == (
            Code.INVALID_ARGUMENT,
            "another session already joined the communicator as rank 0; pass a different rank in each process",
        )
        join(two, 1, 3)
        assert refusal(two) == (
            Code.INVALID_ARGUMENT,
            "rank 1 joins a communicator of 3 ranks, but the other ranks joined with a size of 2; pass the same size "
            "on all ranks",
        )
        for rank, size, identity in ((-1, 2, b"x"), (2, 2, b"x"), (0, 0, b"x"), (0, 1025, b"x"), (0, 1, bytes(257))):
            join(two, rank, size, identity)
            assert refusal(two)[0] is Code.INVALID_ARGUMENT
        join(two, 1, 2)
        assert two.read()[1] == one.read()[1] == b"segment of 0"


def test_a_session_has_a_number_of_groups(spec: str) -> None:
    with session(spec) as client:
        for number in range(64):
            join(client, 0, 1, b"%d" % number)
            assert client.read()[0].status.code == Code.OK
        join(client, 0, 1, b"more")
        assert refusal(client)[0] is Code.RESOURCE_EXHAUSTED


def test_a_connection_without_a_module_cannot_join_groups(spec: str) -> None:
    with Client(spec) as client:
        client.authorize()
        join(client, 0, 1)
        assert refusal(client)[0] is Code.FAILED_PRECONDITION


def test_waiting_ends_with_the_names_of_those_that_are_missing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_WAIT_SECONDS", 0.3)
    with front(tmp_path) as running, session(running.spec) as one, session(running.spec) as two:
        wait_for_another(one, 2, 4)
        wait_for_another(two, 0, 4)
        text = (
            "rank 2 of 4 waited 0.3 s for ranks 1, 3 to join the communicator; check that these processes are running"
        )
        assert refusal(one) == (Code.DEADLINE_EXCEEDED, text)
        assert refusal(two) == (Code.CANCELLED, text)
