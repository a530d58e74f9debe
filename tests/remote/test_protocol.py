"""The service's protocol, used by a client that may violate its rules."""

from __future__ import annotations

import pathlib
import queue
import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from habana_frameworks.tensorflow import device_channel
from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.servers import Server, wait_until

MEMORY = 1 << 20
CHUNK = 1 << 20
_SIGN_OF_LIFE_SECONDS = 1
_MOST_SECONDS = 120


class Stream:
    """One call of the service, with single messages."""

    def __init__(self, channel: grpc.Channel, method: str, response: Any) -> None:
        call = channel.stream_stream(
            f"/hpu.device.v1.DeviceService/{method}",
            request_serializer=lambda message: message if isinstance(message, bytes) else message.SerializeToString(),
            response_deserializer=response.FromString,
        )
        self._requests: queue.Queue[Any] = queue.Queue()
        self._call = call(iter(self._requests.get, None), timeout=_MOST_SECONDS)

    def ask(self, message: Any) -> Any:
        self._requests.put(message)
        return next(self._call)

    def write(self, message: Any) -> None:
        self._requests.put(message)

    def read(self) -> Any:
        return next(self._call)

    def refusal(self, *messages: Any) -> tuple[grpc.StatusCode, str]:
        """Sends the messages, and returns the error with which the server ends the call."""
        for message in messages:
            self._requests.put(message)
        with pytest.raises(grpc.RpcError):
            while True:
                next(self._call)
        return self._call.code(), self._call.details()

    def end(self) -> None:
        self._requests.put(None)
        assert list(self._call) == []

    def cancel(self) -> None:
        """Cancels the call, like a client's death."""
        self._call.cancel()
        self._requests.put(None)


class Hold(Stream):
    """A session's call, which sends heartbeats like the library, because a test may take longer than the lease."""

    def __init__(self, channel: grpc.Channel) -> None:
        super().__init__(channel, "Hold", pb.HoldResponse)
        self._lock = threading.Lock()
        self._written = self._read = 0
        self._ended = threading.Event()

    def write(self, message: Any) -> None:
        self._send(message)

    def _send(self, message: Any) -> int:
        """Sends a message and returns its number. The server answers messages in order."""
        with self._lock:
            self._requests.put(message)
            self._written += 1
            return self._written

    def ask(self, message: Any) -> Any:
        number = self._send(message)
        if number == 1:
            threading.Thread(target=self._keep_alive, daemon=True).start()
        while True:
            answer = self.read()
            self._read += 1
            if self._read == number:
                return answer

    def _keep_alive(self) -> None:
        while not self._ended.wait(_SIGN_OF_LIFE_SECONDS):
            self.write(pb.HoldRequest())

    def end(self) -> None:
        self._ended.set()
        self._requests.put(None)
        assert not any(answer.HasField("acquired") for answer in self._call)

    def cancel(self) -> None:
        self._ended.set()
        super().cancel()


class Client:
    """A connection, for at most one session."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.channel = device_channel.open_channel(backend)

    def describe(self) -> Any:
        call = Stream(self.channel, "Describe", pb.DescribeResponse)
        answer = call.ask(pb.DescribeRequest())
        call.end()
        return answer

    def hold(self) -> Hold:
        return Hold(self.channel)

    def run(self) -> Stream:
        return Stream(self.channel, "Run", pb.RunResponse)

    def recipe(self) -> Stream:
        return Stream(self.channel, "MakeRecipe", pb.MakeRecipeResponse)


class Session:
    """An acquired module with a compute stream, on its own connection to the server of `client`."""

    def __init__(self, client: Client, memory_bytes: int = MEMORY, **fields: Any) -> None:
        self.client = Client(client.backend)
        self.hold = self.client.hold()
        self.acquired = self.hold.ask(pb.HoldRequest(acquire=acquire(memory_bytes=memory_bytes, **fields))).acquired
        self.run = self.client.run()
        open_stream = pb.OpenStream(session=self.acquired.session, kind=pb.STREAM_KIND_COMPUTE)
        self.run.write(pb.RunRequest(open=open_stream))

    def status(self, **command: Any) -> Any:
        """Returns the stream's status after one command."""
        request = pb.RunRequest(commands=[pb.Command(**command), pb.Command(report=pb.Report())])
        return self.run.ask(request).progress.status

    def end(self) -> None:
        self.run.end()
        self.hold.end()
        self.client.channel.close()


def acquire(first: int = 1, last: int = 1, **fields: Any) -> Any:
    holder = pb.Holder(pid=1, command=b"test")
    fields = {"memory_bytes": MEMORY, **fields}
    return pb.Acquire(versions=pb.VersionRange(first=first, last=last), holder=holder, **fields)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    directory: pathlib.Path = tmp_path_factory.mktemp("server")
    with Server(directory, "--modules", "2") as server:
        made = Client(server.backend)
        yield made
        made.channel.close()


@pytest.fixture
def session(client: Client) -> Iterator[Session]:
    made = Session(client)
    yield made
    made.end()
    assert not any(module.held for module in client.describe().modules)


def test_describe_lists_modules_and_sessions(client: Client) -> None:
    before = client.describe()
    assert [module.id for module in before.modules] == [0, 1]
    session = Session(client)
    during = client.describe()
    assert during.modules[0].held
    assert during.modules[0].holder.command == b"test"
    assert during.modules[0].memory_bytes == MEMORY
    session.end()
    after = client.describe()
    assert after.sessions_closed == after.sessions_opened == before.sessions_opened + 1


def test_data_round_trip(session: Session) -> None:
    base = session.acquired.base_address
    data = bytes(range(256)) * 16
    commands = [
        pb.Command(copy_to_device=pb.CopyToDevice(destination=base + 1, data=data)),
        pb.Command(fill=pb.Fill(destination=base + 3, value=7, bytes=2)),
        pb.Command(copy_on_device=pb.CopyOnDevice(source=base + 1, destination=base + 8192, bytes=len(data))),
        pb.Command(copy_to_host=pb.CopyToHost(source=base + 8192, bytes=len(data))),
    ]
    session.run.write(pb.RunRequest(commands=commands))
    assert session.run.read().data == data[:2] + b"\7\7" + data[4:]


def test_versions_are_negotiated(client: Client) -> None:
    hold = Client(client.backend).hold()
    assert hold.ask(pb.HoldRequest(acquire=acquire(1, 9))).acquired.version == 1
    hold.end()
    code, details = client.hold().refusal(pb.HoldRequest(acquire=acquire(2, 9)))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "versions 2 to 9" in details


@pytest.mark.parametrize(
    "command",
    [
        {"fill": pb.Fill(destination=1, bytes=1)},
        {"fill": pb.Fill(destination=(1 << 20) + MEMORY - 1, bytes=2)},
        {"fill": pb.Fill(destination=(1 << 64) - 1, bytes=(1 << 64) - 1)},
        {"fill": pb.Fill(destination=1 << 20, bytes=(1 << 64) - 1)},
        {"copy_to_device": pb.CopyToDevice(destination=0, data=b"x")},
        {"copy_on_device": pb.CopyOnDevice(source=1 << 20, destination=(1 << 20) + 1, bytes=MEMORY)},
    ],
)
def test_addresses_outside_of_the_sessions_memory_are_errors_of_the_stream(session: Session, command: Any) -> None:
    status = session.status(**command)
    assert status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0], status
    cleared = session.run.ask(pb.RunRequest(commands=[pb.Command(clear=pb.Clear())])).progress
    assert cleared.cleared
    assert session.status(fill=pb.Fill()).code == 0


@pytest.mark.parametrize(
    "message",
    [
        b"\xff\xff\xff",
        pb.RunRequest(commands=[pb.Command()]),
        pb.RunRequest(open=pb.OpenStream()),
        pb.RunRequest(commands=[pb.Command(copy_to_device=pb.CopyToDevice(data=bytes(CHUNK + 1)))]),
        pb.RunRequest(commands=[pb.Command(copy_to_host=pb.CopyToHost(source=1 << 20, bytes=CHUNK + 1))]),
        pb.RunRequest(commands=[pb.Command(launch=pb.Launch(recipe=77))]),
    ],
)
def test_protocol_errors_end_the_call(client: Client, message: Any) -> None:
    session = Session(client)
    code, _ = session.run.refusal(message)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    session.hold.end()


def test_messages_beyond_the_limit_are_not_taken(client: Client) -> None:
    session = Session(client)
    code, _ = session.run.refusal(bytes((4 << 20) + 1))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    session.hold.end()


def test_handles_are_used_once(client: Client) -> None:
    session = Session(client)
    record = pb.Command(record=pb.Record(mark=5))
    code, details = session.run.refusal(pb.RunRequest(commands=[record, record]))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "handle 5 is in use" in details
    session.hold.end()


def test_calls_need_a_session(client: Client) -> None:
    session = Session(client)
    token = session.acquired.session
    session.end()
    for stale in (b"", b"x" * 16, token):
        open_stream = pb.OpenStream(session=stale, kind=pb.STREAM_KIND_COMPUTE)
        assert client.run().refusal(pb.RunRequest(open=open_stream))[0] is grpc.StatusCode.NOT_FOUND
        header = pb.MakeRecipeHeader(session=stale, recipe=1, source=pb.MakeRecipeHeader.SOURCE_PROGRAM, bytes=1)
        assert client.recipe().refusal(pb.MakeRecipeRequest(header=header))[0] is grpc.StatusCode.NOT_FOUND


def test_the_end_of_a_session_ends_its_calls(client: Client) -> None:
    session = Session(client)
    # Waits for a mark that is never recorded.
    session.run.write(pb.RunRequest(commands=[pb.Command(wait=pb.Wait(mark=99))]))
    session.hold.end()
    # NOT_FOUND if the session had ended before the call's message arrived.
    assert session.run.refusal()[0] in (grpc.StatusCode.CANCELLED, grpc.StatusCode.NOT_FOUND)
    # The module is free once the session's memory is released, shortly after its calls have ended.
    wait_until(lambda: not any(module.held for module in client.describe().modules), "the module is still held")


@pytest.mark.parametrize(
    ("size", "chunks"), [(1 << 40, []), (2, [b"abc"]), (3, [b""]), (3, [b"garb", b"age"]), (7, [b"garbage"])]
)
def test_invalid_recipes_are_refused(session: Session, size: int, chunks: list[bytes]) -> None:
    for source in (pb.MakeRecipeHeader.SOURCE_PROGRAM, pb.MakeRecipeHeader.SOURCE_RECIPE):
        token = session.acquired.session
        header = pb.MakeRecipeHeader(session=token, recipe=1, name=b"test", source=source, bytes=size)
        messages = [pb.MakeRecipeRequest(header=header), *(pb.MakeRecipeRequest(chunk=chunk) for chunk in chunks)]
        assert session.client.recipe().refusal(*messages)[0] is grpc.StatusCode.INVALID_ARGUMENT


def test_programs_run_no_functions_of_the_server(session: Session) -> None:
    def field(tag: bytes, data: bytes) -> bytes:
        return tag + bytes([len(data)]) + data

    # Serialised xla.HloModuleProto, for which Python has no messages.
    opcode, target = field(b"\x12", b"custom-call"), field(b"\xe2\x01", b"system")
    instruction = field(b"\x12", opcode + target)
    program = field(b"\x1a", instruction)  # a computation
    token = session.acquired.session
    source = pb.MakeRecipeHeader.SOURCE_PROGRAM
    header = pb.MakeRecipeHeader(session=token, recipe=1, name=b"test", source=source, bytes=len(program))
    messages = [pb.MakeRecipeRequest(header=header), pb.MakeRecipeRequest(chunk=program)]
    code, details = session.client.recipe().refusal(*messages)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "calls the function 'system'" in details


def test_acquisitions_are_bounded(client: Client) -> None:
    for fields in ({"visible": range(65)}, {"has_module_id": True, "module_id": 2}, {"visible": [-1]}):
        code, _ = client.hold().refusal(pb.HoldRequest(acquire=acquire(**fields)))
        assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert client.hold().refusal(pb.HoldRequest())[0] is grpc.StatusCode.INVALID_ARGUMENT


def test_unknown_methods_are_refused(client: Client) -> None:
    code, _ = Stream(client.channel, "Nothing", pb.HoldResponse).refusal(b"")
    assert code is grpc.StatusCode.UNIMPLEMENTED
