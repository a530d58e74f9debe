"""Device server client for tests, in Python only: one connection and session, without protocol checks."""

from __future__ import annotations

import dataclasses
import queue
import threading
from typing import Any

import grpc

from habana_frameworks.tensorflow import device_channel
from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb

MIB = 1 << 20
ALIGNMENT = 128
"""Alignment of device memory in bytes."""
_SERVICE = "/hpu.device.v1.DeviceService"
_SIGN_OF_LIFE_SECONDS = 1.0
_CALL_SECONDS = 600.0
_CONNECT_SECONDS = 60.0
_COPIES_AT_ONCE = 4


def connect(backend: str) -> Any:
    """Returns a grpc.Channel with its own connection, because a server accepts one session per connection."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1)]
    return grpc.insecure_channel(device_channel.target(backend), options=options)


class Call:
    """A call of the service, with single messages. Sends bytes unchanged."""

    def __init__(
        self, channel: Any, method: str, response: Any, seconds: float = _CALL_SECONDS, token: str = ""
    ) -> None:
        call = channel.stream_stream(
            f"{_SERVICE}/{method}",
            request_serializer=lambda message: message if isinstance(message, bytes) else message.SerializeToString(),
            response_deserializer=response.FromString,
        )
        metadata = [("authorization", f"Bearer {token}")] if token else []
        self._requests: queue.Queue[Any] = queue.Queue()
        self._call = call(iter(self._requests.get, None), timeout=seconds, metadata=metadata)

    def write(self, message: Any) -> None:
        self._requests.put(message)

    def read(self) -> Any:
        """Returns the next answer. Raises grpc.RpcError, or StopIteration at the end."""
        return next(self._call)

    def ask(self, message: Any) -> Any:
        self.write(message)
        return self.read()

    def finish_writing(self) -> None:
        self._requests.put(None)

    def outcome(self) -> tuple[Any, str]:
        """Reads to the end of the call, and returns its code and error."""
        try:
            for _ in self._call:
                pass
        except grpc.RpcError:
            pass
        return self._call.code(), self._call.details() or ""

    def is_active(self) -> bool:
        """Whether the call has not ended yet. Read all answers first."""
        return bool(self._call.is_active())

    def cancel(self) -> None:
        self._call.cancel()
        self._requests.put(None)


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A compiled program of a session."""

    handle: int
    table: Any
    data: bytes


class DeviceStream(Call):
    """A Run call: sends commands to the device, and reads their results and the status."""

    def __init__(self, session: Session, kind: Any, seconds: float) -> None:
        super().__init__(session.channel, "Run", pb.RunResponse, seconds, session.token)
        self.write(pb.RunRequest(open=pb.OpenStream(session=session.name, kind=kind)))
        self._sequence = 0

    def send(self, *commands: Any) -> None:
        self._sequence += len(commands)
        self.write(pb.RunRequest(commands=commands))

    def status(self, *commands: Any) -> Any:
        """Returns the stream's device.v1.Status after these commands."""
        self.send(*commands, pb.Command(report=pb.Report()))
        return self.wait()

    def wait(self) -> Any:
        """Returns the status after all commands so far. The last command must be a report."""
        while True:
            answer = self.read()
            if answer.HasField("progress") and answer.progress.sequence >= self._sequence:
                return answer.progress.status

    def clear(self) -> Any:
        self.send(pb.Command(clear=pb.Clear()))
        return self.wait()

    def write_memory(self, address: int, data: bytes) -> Any:
        """Copies to the device, and returns the stream's status."""
        for at in range(0, len(data), MIB):
            copy = pb.CopyToDevice(destination=address + at, data=data[at : at + MIB])
            self.send(pb.Command(copy_to_device=copy))
        return self.status()

    def read_memory(self, address: int, size: int) -> bytes:
        """Copies to the host. The result is shorter if the stream has an error."""
        pieces = [(address + at, min(MIB, size - at)) for at in range(0, size, MIB)]
        data = bytearray()
        for first in range(0, len(pieces), _COPIES_AT_ONCE):
            group = pieces[first : first + _COPIES_AT_ONCE]
            self.send(*(pb.Command(copy_to_host=pb.CopyToHost(source=at, bytes=count)) for at, count in group))
            for _ in group:
                data += self._read_data()
        return bytes(data)

    def _read_data(self) -> bytes:
        while True:
            answer = self.read()
            if not answer.HasField("progress"):
                return bytes(answer.data)


class Session:
    """A session with a compute stream. Raises grpc.RpcError if the server rejects it."""

    def __init__(
        self, backend: str, memory_bytes: int = 64 * MIB, token: str = "", seconds: float = _CALL_SECONDS, **fields: Any
    ) -> None:
        """seconds: maximum life of the session; fields: further fields of Acquire."""
        self.token = token
        self._seconds = seconds
        self.channel = connect(backend)
        self._ended = threading.Event()
        self._handles = 0
        try:
            grpc.channel_ready_future(self.channel).result(_CONNECT_SECONDS)
            self.hold = Call(self.channel, "Hold", pb.HoldResponse, seconds, token)
            versions, holder = pb.VersionRange(first=1, last=1), pb.Holder(pid=1, command=b"test")
            request = pb.Acquire(**{"versions": versions, "holder": holder, "memory_bytes": memory_bytes, **fields})
            self.acquired = self.hold.ask(pb.HoldRequest(acquire=request)).acquired
        except BaseException:
            self.channel.close()
            raise
        self.name = bytes(self.acquired.session)
        self.base = int(self.acquired.base_address)
        threading.Thread(target=self._keep_alive, daemon=True).start()
        # The end of the call arrives after the answers.
        self._reader = threading.Thread(target=self.hold.outcome, daemon=True)
        self._reader.start()
        self.stream = self.open_stream()

    def open_stream(self, kind: Any = pb.STREAM_KIND_COMPUTE, seconds: float | None = None) -> DeviceStream:
        return DeviceStream(self, kind, self._seconds if seconds is None else seconds)

    def new_handle(self) -> int:
        self._handles += 1
        return self._handles

    def compile(self, program: bytes, name: bytes = b"test") -> Recipe:
        """Compiles a serialised xla.HloModuleProto. Raises grpc.RpcError."""
        return self.make_recipe(program, pb.MakeRecipeHeader.SOURCE_PROGRAM, name)

    def make_recipe(self, content: bytes, source: Any, name: bytes = b"test") -> Recipe:
        """Compiles or loads a recipe. Raises grpc.RpcError."""
        handle = self.new_handle()
        call = Call(self.channel, "MakeRecipe", pb.MakeRecipeResponse, token=self.token)
        header = pb.MakeRecipeHeader(session=self.name, recipe=handle, name=name, source=source, bytes=len(content))
        call.write(pb.MakeRecipeRequest(header=header))
        for at in range(0, len(content), MIB):
            call.write(pb.MakeRecipeRequest(chunk=content[at : at + MIB]))
        call.finish_writing()
        table = call.read().table
        data = bytearray()
        try:
            while True:
                data += call.read().chunk
        except StopIteration:
            return Recipe(handle, table, bytes(data))

    def launch(self, recipe: Recipe, arguments: list[int], results: list[int], workspace: int) -> Any:
        """Launches a recipe, and returns the stream's status."""
        launch = pb.Launch(recipe=recipe.handle, arguments=arguments, results=results, workspace=workspace)
        return self.stream.status(pb.Command(launch=launch))

    def join(self, identity: bytes, rank: int, size: int) -> tuple[int, Call]:
        """Requests a rank of a communicator.

        Returns its handle, and the call, whose first answer means that all ranks have joined.
        """
        handle = self.new_handle()
        call = Call(self.channel, "MakeCommunicator", pb.MakeCommunicatorResponse, self._seconds, self.token)
        header = pb.CommunicatorHeader(
            session=self.name, communicator=handle, id=bytes(self.acquired.network) + identity, rank=rank, size=size
        )
        call.write(pb.MakeCommunicatorRequest(header=header))
        return handle, call

    def is_open(self) -> bool:
        return self._reader.is_alive()

    def wait_for_end(self) -> tuple[Any, str]:
        """Waits until the server ends the session, and returns code and error."""
        self._reader.join()
        return self.hold.outcome()

    def close(self) -> None:
        """Ends the session like the end of its process."""
        self._ended.set()
        self.hold.cancel()
        self.channel.close()

    def _keep_alive(self) -> None:
        while not self._ended.wait(_SIGN_OF_LIFE_SECONDS):
            self.hold.write(pb.HoldRequest())

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Monitor:
    """Client that queries a server's modules, on a permanent connection."""

    def __init__(self, backend: str, token: str = "") -> None:
        self._channel = connect(backend)
        self._token = token

    def describe(self) -> Any:
        """Returns a device.v1.DescribeResponse."""
        call = Call(self._channel, "Describe", pb.DescribeResponse, seconds=_CONNECT_SECONDS, token=self._token)
        answer = call.ask(pb.DescribeRequest())
        call.finish_writing()
        return answer

    def held(self) -> set[int]:
        """Returns the ids of the held modules."""
        return {module.id for module in self.describe().modules if module.held}

    def close(self) -> None:
        self._channel.close()


def aligned(address: int) -> int:
    """Rounds an address up to the alignment of device memory."""
    return -(-address // ALIGNMENT) * ALIGNMENT
