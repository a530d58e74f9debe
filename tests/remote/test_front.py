"""Front process: claims, reports, signatures, shared memory, and hostile session processes."""

from __future__ import annotations

import errno
import gc
import hashlib
import logging
import os
import pathlib
import signal
import socket
import stat
from collections.abc import Iterator

import pytest

from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.messages import device_pb2
from habana_frameworks.tensorflow._internal.serve import front as front_module
from habana_frameworks.tensorflow._internal.serve import session_process
from habana_frameworks.tensorflow._internal.serve.settings import Limits
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from habana_frameworks.tensorflow._internal.serve.thread import FrontThread
from tests.remote import fake_fork_server
from tests.remote.fake_fork_server import Order
from tests.remote.fronts import Client, front, session
from tests.remote.servers import wait_until

MIB = 1 << 20


@pytest.fixture(autouse=True)
def log_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


@pytest.fixture
def spec(tmp_path: pathlib.Path) -> Iterator[str]:
    with front(tmp_path) as running:
        yield running.spec


def open_files() -> int:
    gc.collect()  # frees objects of earlier tests
    return len(list(pathlib.Path("/proc/self/fd").iterdir()))


def children(pid: int) -> list[int]:
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def fork_server() -> int:
    """Returns the process id of this process's fork server."""
    (pid,) = (
        pid
        for task in pathlib.Path("/proc/self/task").iterdir()
        for pid in map(int, (task / "children").read_text().split())
        if b"fake_fork_server" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    return pid


def test_modules_are_claimed_and_freed(spec: str) -> None:
    with session(spec) as first, session(spec, has_module_id=True, module_id=1) as second, Client(spec) as third:
        assert third.authorize() is Code.OK
        refused = third.claim()
        assert refused.status.code == Code.UNAVAILABLE
        held = "module 0: pid 4711 (python train.py); module 1: pid 4711 (python train.py)"
        assert held in refused.status.message.decode()
        second.close()
        claimed = third.claim()  # waits for the second client's end if necessary
        assert (claimed.claimed.module_id, claimed.claimed.session_number) == (1, 3)
        assert len(claimed.claimed.session) == 16
        assert first.ask(release=pb.Release()).status.code == Code.OK
        with session(spec) as fourth:
            assert fourth.describe().modules[0].session_number == 4


@pytest.mark.parametrize(
    ("fields", "code", "text"),
    [
        (
            {"visible": range(65)},
            Code.INVALID_ARGUMENT,
            "has 65 visible modules",
        ),
        ({"visible": [-1]}, Code.INVALID_ARGUMENT, "module -1 does not exist; existing modules: 0 to 1"),
        ({"has_module_id": True, "module_id": 2}, Code.INVALID_ARGUMENT, "module 2 does not exist"),
        ({"has_module_id": True, "module_id": 1, "visible": [0]}, Code.INVALID_ARGUMENT, "HLS_MODULE_ID=1 is not"),
        ({"faults": ["copy@1"]}, Code.FAILED_PRECONDITION, "--allow-faults"),
    ],
)
def test_claims_are_checked(spec: str, fields: dict[str, object], code: Code, text: str) -> None:
    with Client(spec) as client:
        client.authorize()
        answer = client.claim(**fields)
        assert (answer.status.code, text in answer.status.message.decode()) == (code, True), answer
        assert client.claim().claimed.module_id == 0
        again = client.claim()
        assert again.status.code == Code.FAILED_PRECONDITION
        client.ask(release=pb.Release())
        assert client.claim().status.code == Code.FAILED_PRECONDITION


def test_unauthorized_clients_are_refused(tmp_path: pathlib.Path) -> None:
    with front(tmp_path, token="secret") as running, Client(running.spec) as client:
        for authorization in (b"", b"secret", b"Bearer secre", b"Bearer secret0"):
            assert client.authorize(authorization) is Code.UNAUTHENTICATED
        for kind in ({"claim": pb.Claim()}, {"describe": pb.Describe()}):
            assert client.ask(**kind).status.code == Code.UNAUTHENTICATED
        for kind in ({"seal": pb.Seal(digest=bytes(32))},):
            assert client.ask(**kind).status.code == Code.FAILED_PRECONDITION
        assert client.authorize(b"Bearer secret") is Code.OK
        assert client.claim().status.code == Code.OK


def test_a_port_needs_a_token_and_hides_command_lines(tmp_path: pathlib.Path) -> None:
    with pytest.raises(StatusError, match="--token-file or --tls-client-ca"), front(tmp_path, address="127.0.0.1:0"):
        pass
    with pytest.raises(StatusError, match="without TLS"), front(tmp_path, address="0.0.0.0:0", token="secret"):
        pass
    server = front(tmp_path, address="127.0.0.1:0", token="secret", modules=1)
    with server as running, Client(running.spec) as one, Client(running.spec) as two:
        for client in (one, two):
            assert client.authorize(b"Bearer secret") is Code.OK
        assert one.claim().status.code == Code.OK
        (module,) = describe_with(one, two).modules
        assert (module.holder.pid, module.holder.command) == (4711, b"")
        assert b"Held by module 0: pid 4711. End" in two.claim().status.message


def describe_with(
    reporter: Client, asker: Client, report: device_pb2.Module | None = None
) -> device_pb2.DescribeResponse:
    """Returns the asker's DescribeResponse while another client's session answers with `report`."""
    number = asker.send(describe=pb.Describe())
    asked, _ = reporter.read()
    assert asked.HasField("report")
    reported = (report or device_pb2.Module()).SerializeToString()
    reporter.write(Order.PASS_ON, pb.ToFront(report=reported).SerializeToString())
    answer, _ = asker.read()
    assert (answer.number, answer.status.code) == (number, Code.OK)
    return device_pb2.DescribeResponse.FromString(answer.modules)


def test_a_session_reports_its_memory_and_nothing_else(tmp_path: pathlib.Path) -> None:
    limits = Limits(memory_bytes=8 * MIB)
    server = front(tmp_path, limits=limits, default_memory_bytes=8 * MIB)
    with server as running, session(running.spec, memory_bytes=1 << 40) as holder, Client(running.spec) as asker:
        asker.authorize()
        lies = device_pb2.Module(
            id=1,
            held=False,
            holder=device_pb2.Holder(pid=1, command=b"another"),
            session_number=77,
            memory_bytes=5 * MIB,
            memory_used_bytes=3,
            counters=device_pb2.Counters(launches=9),
        )
        answer = describe_with(holder, asker, lies)
        assert answer.pid == os.getpid()
        assert answer.resident_bytes > MIB
        assert (answer.sessions_opened, answer.sessions_closed) == (1, 0)
        assert (answer.versions.first, answer.versions.last) == (1, 1)
        held, free = answer.modules
        assert (held.id, held.held, held.session_number) == (0, True, 1)
        assert (held.holder.pid, held.holder.command) == (4711, b"python train.py")
        assert (held.memory_bytes, held.memory_used_bytes, held.counters.launches) == (5 * MIB, 3, 9)
        assert (free.id, free.held, free.memory_bytes) == (1, False, 8 * MIB)
        # Without an answer, the last report is used.
        for _ in range(3):
            held = asker.describe().modules[0]
            assert (held.memory_used_bytes, held.counters.launches) == (3, 9)


def test_a_session_without_report_has_its_requested_memory(spec: str) -> None:
    with session(spec, memory_bytes=MIB), Client(spec) as asker:
        asker.authorize()
        assert asker.describe().modules[0].memory_bytes == MIB


def test_recipes_are_signed(tmp_path: pathlib.Path) -> None:
    digest, key = hashlib.sha256(b"recipe").digest(), bytes(range(32))
    with front(tmp_path, recipe_key=key) as running, session(running.spec) as client:
        seal = client.ask(seal=pb.Seal(digest=digest)).sealed.seal
        assert len(seal) == 32
        assert client.ask(seal=pb.Seal(digest=digest, seal=seal)).status.code == Code.OK
        for wrong in (seal[:-1], seal[:-1] + bytes([seal[-1] ^ 1]), b"x"):
            refused = client.ask(seal=pb.Seal(digest=digest, seal=wrong)).status
            assert refused.code == Code.PERMISSION_DENIED
            assert b"not signed with this server's key" in refused.message
        other = hashlib.sha256(b"another").digest()
        assert client.ask(seal=pb.Seal(digest=other, seal=seal)).status.code == Code.PERMISSION_DENIED
        assert client.ask(seal=pb.Seal(digest=b"short")).status.code == Code.INVALID_ARGUMENT
    with front(tmp_path, recipe_key=key) as running, session(running.spec) as client:
        assert client.ask(seal=pb.Seal(digest=digest, seal=seal)).status.code == Code.OK
    with pytest.raises(StatusError, match="has 31 bytes"), front(tmp_path, recipe_key=bytes(31)):
        pass


def fetch(directory: pathlib.Path, name: bytes) -> bytes | None:
    """Fetches the content of a session's shared memory; None if the server rejects the request."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(directory / "server.memory"))
        connection.sendall(name)
        try:
            _, files, _, _ = socket.recv_fds(connection, 1, 1)
        except ConnectionResetError:
            return None
    if not files:
        return None
    with os.fdopen(files[0], "rb") as file:
        return file.read(6)


def test_clients_fetch_their_memory(tmp_path: pathlib.Path) -> None:
    with front(tmp_path, share_memory=True) as running:
        assert stat.S_IMODE((tmp_path / "server.memory").stat().st_mode) == 0o600
        client = Client(running.spec)
        client.authorize()
        name = client.claim().claimed.session
        assert fetch(tmp_path, name) is None
        client.send_file(4096, b"shared", share=pb.Share(bytes=4096))
        assert client.read()[0].status.code == Code.OK
        assert fetch(tmp_path, name) == b"shared"
        for wrong in (b"x" * 16, name[:-1] + bytes([name[-1] ^ 1]), name[:8]):
            assert fetch(tmp_path, wrong) is None
        client.ask(release=pb.Release())
        assert fetch(tmp_path, name) is None
        client.close()
    assert not (tmp_path / "server.memory").exists()


@pytest.mark.parametrize(
    ("size", "content", "claimed"),
    [(4096, b"unsealed", 4096), (4096, b"", 8192), (65 * MIB, b"", 65 * MIB), (0, b"", 0)],
)
def test_memory_that_could_harm_is_not_taken(tmp_path: pathlib.Path, size: int, content: bytes, claimed: int) -> None:
    with front(tmp_path, share_memory=True) as running, session(running.spec) as client:
        client.send_file(size, content, share=pb.Share(bytes=claimed))
        assert client.is_ended()


@pytest.mark.parametrize(
    "message",
    [
        b"\xff\xff\xff",
        bytes((1 << 16) + 1),
        pb.ToFront().SerializeToString() + b"\x08\x01",  # unknown kind
        pb.ToFront(report=b"\xff").SerializeToString(),
        pb.ToFront(share=pb.Share(bytes=1)).SerializeToString(),  # without the required file
        pb.ToFront(join_group=pb.JoinGroup(id=b"id", size=1)).SerializeToString(),
    ],
    ids=["garbage", "large", "no kind", "report", "no memory", "no segment"],
)
def test_a_message_that_breaks_the_rules_ends_the_process(
    spec: str, message: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with session(spec) as hostile, session(spec) as other:
        hostile.write(Order.PASS_ON, message)
        assert hostile.is_ended()
        assert "killing session process " in caplog.text
        assert not other.describe().modules[0].held


def test_files_that_do_not_belong_end_the_process(spec: str) -> None:
    for kind in ({"seal": pb.Seal(digest=bytes(32))}, {"authorize": pb.Authorize()}):
        with session(spec) as hostile:
            hostile.send_file(4096, **kind)
            assert hostile.is_ended()


@pytest.mark.parametrize("kind", [{"authorize": pb.Authorize()}, {"describe": pb.Describe()}, {"seal": pb.Seal()}])
def test_a_process_that_only_writes_is_ended(spec: str, kind: dict[str, object]) -> None:
    with session(spec) as hostile, session(spec) as other:
        hostile.write(Order.FLOOD, pb.ToFront(number=1, **kind).SerializeToString())
        assert other.ask(authorize=pb.Authorize()).status.code == Code.OK  # other clients are served in the meantime
        assert hostile.is_ended()
        wait_until(lambda: not other.describe().modules[0].held)


def test_a_process_that_leaves_the_front_is_ended(spec: str) -> None:
    with session(spec) as hostile:
        hostile.write(Order.CLOSE_CONTROL)
        assert hostile.is_ended()


def test_a_process_has_a_grace_period_after_its_session(spec: str) -> None:
    with session(spec) as client:
        client.ask(release=pb.Release())
        client.write(Order.ECHO, b"still here")
        assert fake_fork_server.read_frame(client.socket) == (Order.ECHO, b"still here")
        assert client.is_ended()


def test_busy_faults_are_the_servers(tmp_path: pathlib.Path) -> None:
    with front(tmp_path, faults=["seed=3", "copy@1", "busy@2"]) as running:
        for expected in (Code.OK, Code.UNAVAILABLE, Code.OK):
            with Client(running.spec) as client:
                client.authorize()
                answer = client.claim()
                assert answer.status.code == expected, answer
                if expected is not Code.OK:
                    assert b"no HPU module is free: injected fault: busy@2" in answer.status.message
    with pytest.raises(StatusError, match="nonsense"), front(tmp_path, faults=["nonsense"]):
        pass


def test_a_flood_of_refusals_is_logged_in_part(spec: str, caplog: pytest.LogCaptureFixture) -> None:
    with Client(spec) as client:
        status = pb.Status(code=Code.PERMISSION_DENIED, message=b"a\nb\x1b[31m")
        for _ in range(50):
            refused = pb.Refused(method=b"/hpu.device.v1.DeviceService/Run", status=status)
            client.send(refused=refused)
            client.read()
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("refused ")]
    assert len(lines) == 20
    peer = f"unix:pid {os.getpid()} uid {os.getuid()}"
    assert lines[0] == f"refused /hpu.device.v1.DeviceService/Run of {peer}: PERMISSION_DENIED: a b [31m"


def test_connections_leave_no_descriptors(tmp_path: pathlib.Path) -> None:
    with front(tmp_path, share_memory=True) as running:
        with session(running.spec):
            pass
        watch = Client(running.spec)
        watch.authorize()
        before = open_files()
        for number in range(100):
            with session(running.spec) as client:
                client.send_file(4096, b"shared", share=pb.Share(bytes=4096))
                client.read()
                client.send_file(4096, b"", join_group=pb.JoinGroup(id=b"%d" % number, size=2))
                if number % 3 == 0:
                    client.write(Order.PASS_ON, b"\xff")
                    client.is_ended()
        wait_until(lambda: not any(module.held for module in watch.describe().modules))
        wait_until(lambda: open_files() <= before, "descriptors are left")
        watch.close()


def test_silent_connections_cost_no_process(spec: str) -> None:
    with session(spec) as client:
        before = len(children(fork_server()))
        silent = []
        for _ in range(400):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(spec.partition(":")[2])
            silent.append(connection)
        with session(spec):
            assert len(children(fork_server())) == before + 1
        assert client.authorize() is Code.OK
        for connection in silent:
            connection.close()


def test_silent_clients_are_disconnected(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_module, "_FIRST_BYTE_SECONDS", 0.2)
    monkeypatch.setattr(session_process, "_AUTHORIZE_SECONDS", 0.2)
    with front(tmp_path) as running, Client(running.spec) as silent, Client(running.spec) as unauthorized:
        unauthorized.write(Order.ECHO)
        assert fake_fork_server.read_frame(unauthorized.socket)[0] is Order.ECHO
        assert silent.is_ended()
        assert unauthorized.is_ended()


def test_the_oldest_of_too_many_silent_clients_is_closed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_module, "_MAX_WAITING", 3)
    with front(tmp_path) as running:
        silent = [Client(running.spec) for _ in range(4)]
        assert silent[0].is_ended()
        for client in silent[1:]:
            assert client.authorize() is Code.OK
            client.close()


def test_a_lack_of_descriptors_passes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept, shortages = socket.socket.accept, [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ECONNABORTED]

    def accept_or_fail(listening: socket.socket) -> tuple[socket.socket, object]:
        if shortages:
            raise OSError(shortages.pop(), "of something")
        return accept(listening)

    monkeypatch.setattr(socket.socket, "accept", accept_or_fail)
    with front(tmp_path) as running, session(running.spec):
        assert not shortages


def test_more_clients_than_slots_wait_their_turn(tmp_path: pathlib.Path) -> None:
    with front(tmp_path, modules=1) as running:
        first = [Client(running.spec) for _ in range(33)]
        for client in first:
            assert client.authorize() is Code.OK
        with Client(running.spec) as late:
            number = late.send(authorize=pb.Authorize())
            late.socket.settimeout(0.2)
            with pytest.raises(socket.timeout):
                late.read()
            first.pop().close()
            late.socket.settimeout(30)
            assert late.read()[0].number == number
        # A claim also frees a slot.
        assert first[0].claim().status.code == Code.OK
        for client in first:
            client.close()


def test_a_fork_server_that_ends_is_replaced(spec: str, caplog: pytest.LogCaptureFixture) -> None:
    with session(spec) as client:
        for _ in range(2):
            pid = fork_server()
            os.kill(pid, signal.SIGKILL)
            with Client(spec) as other:
                assert other.authorize() is Code.OK
            assert fork_server() != pid
        assert client.authorize() is Code.OK
    assert "ended (signal 9 (Killed)); starting a new one. Running sessions continue" in caplog.text


def test_a_fork_server_that_ends_after_each_fork_is_replaced(tmp_path: pathlib.Path) -> None:
    with front(tmp_path, failure="deaf") as running:
        for _ in range(4):
            with Client(running.spec) as client:
                assert client.authorize() is Code.OK


@pytest.mark.parametrize(
    ("failure", "text"), [("exit", r"ended \(exit code 3\) before it was ready"), ("error", "no backend")]
)
def test_a_fork_server_that_cannot_start_is_an_error(tmp_path: pathlib.Path, failure: str, text: str) -> None:
    before = open_files()
    with pytest.raises(StatusError, match=text), front(tmp_path, failure=failure):
        pass
    assert not (tmp_path / "server").exists()
    assert open_files() <= before


def test_a_server_stops_whatever_its_sessions_do(tmp_path: pathlib.Path) -> None:
    before = open_files()
    with front(tmp_path) as running:
        polite, stubborn = session(running.spec), session(running.spec)
        stubborn.write(Order.IGNORE_STOP)
        stubborn.write(Order.ECHO)
        assert fake_fork_server.read_frame(stubborn.socket)[0] is Order.ECHO
        pids = [fork_server(), *children(fork_server())]
        silent = socket.socket(socket.AF_UNIX)
        silent.connect(running.spec.partition(":")[2])
        running.stop()
    assert polite.read()[0].HasField("stop")
    assert stubborn.is_ended()
    for end in (polite, stubborn, silent):
        end.close()
    wait_until(lambda: not any(is_running(pid) for pid in pids))
    assert {path.name for path in tmp_path.iterdir()} == {"server.lock"}
    assert open_files() <= before


def is_running(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_one_server_has_the_path(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "server"
    with front(tmp_path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(StatusError, match=f"process {os.getpid()} already serves at {path}"), front(tmp_path):
            pass
        assert path.exists()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with front(tmp_path) as running, session(running.spec):
        pass
    path.write_text("of the user's")
    with pytest.raises(StatusError, match="Address already in use"), front(tmp_path):
        pass
    assert path.read_text() == "of the user's"


def test_a_front_that_stopped_can_be_started_again(tmp_path: pathlib.Path) -> None:
    for _ in range(2):
        with front(tmp_path) as running:
            assert isinstance(running, FrontThread)
            with session(running.spec):
                pass
