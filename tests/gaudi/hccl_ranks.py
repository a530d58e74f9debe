"""Ranks of the double's HCCL: processes that call libhcl.so through ctypes."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pathlib
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.gaudi import synapse_library
from tests.gaudi.synapse_library import DEVICE_TO_HOST, HOST_TO_DEVICE, Double

# hcclResult_t
SUCCESS = 0
NO_DEVICE_FOUND = 1
UNSUPPORTED = 2
INVALID_ARGUMENT = 7
INVALID_USAGE = 8
SOCKET_ERROR = 9
UNINITIALIZED = -1
SYNAPSE_TERMINATED = 15
# hcclDataType_t
UINT8, INT32, INT64, FLOAT16, FLOAT32, BFLOAT16 = 1, 2, 4, 6, 7, 9
# hcclRedOp_t
SUM, PROD, MIN, MAX, AVG = range(5)
# synStatus of a failed collective
FAIL_HCCL = 40

BYTES = 1 << 16
_COLLECTIVE_STREAM = 4  # synStreamType of 1.5


class UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_uint8 * 1024), ("length", ctypes.c_size_t))


def load(release: str) -> ctypes.CDLL:
    """Loads libhcl.so beside the release's libSynapse.so."""
    library = ctypes.CDLL(str(synapse_library.path(release).parent / "libhcl.so"))
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.hcclGetVersion.argtypes = (pointer,)
    library.hcclGetUniqueId.argtypes = (pointer,)
    library.hcclCommInitRank.argtypes = (pointer, number, UniqueId, number)
    for name in ("hcclCommDestroy", "hcclCommAbort"):
        getattr(library, name).argtypes = (pointer,)
    library.hcclCommGetAsyncError.argtypes = (pointer, pointer)
    for name in ("hcclAllReduce", "hcclReduceScatter"):
        getattr(library, name).argtypes = (pointer, pointer, size, number, number, pointer, pointer)
    library.hcclBroadcast.argtypes = (pointer, pointer, size, number, number, pointer, pointer)
    library.hcclAllGather.argtypes = (pointer, pointer, size, number, pointer, pointer)
    for name in ("hcclSend", "hcclRecv"):
        getattr(library, name).argtypes = (pointer, size, number, number, pointer, pointer)
    library.hcclGetErrorString.restype = ctypes.c_char_p
    return library


class Rank:
    """One rank: a device with two buffers, a stream, and a communicator. Lives in a process of its own."""

    def __init__(self, release: str, number: int, size: int, folder: pathlib.Path) -> None:
        self.number = number
        self.folder = folder
        self.double = Double(release, lambda: "")
        self.hccl = load(release)
        self.double.ok("synInitialize")
        self.device = self.double.acquire()
        self.send, self.receive = (self.double.allocate(self.device, BYTES) for _ in range(2))
        self.host = self.double.allocate_host(self.device, BYTES)
        self.stream = self.create_stream()
        self.comm = ctypes.c_void_p()
        self.joined = self.join(size)

    def create_stream(self) -> Any:
        if self.double.is_1_5:
            return self.double.new("synStreamCreate", self.device, _COLLECTIVE_STREAM, 0)
        return self.double.create_stream(self.device)

    def join(self, size: int) -> int:
        """Joins with an id of rank 0. Returns the result."""
        unique = UniqueId()
        if self.number == 0:
            assert self.hccl.hcclGetUniqueId(ctypes.byref(unique)) == SUCCESS
            self.publish("id", bytes(unique))
        unique = UniqueId.from_buffer_copy(self.wait_for("id"))
        return int(self.hccl.hcclCommInitRank(ctypes.byref(self.comm), size, unique, self.number))

    def publish(self, name: str, contents: bytes = b"") -> None:
        draft = self.folder / f"{name}.draft"
        draft.write_bytes(contents)
        draft.rename(self.folder / name)

    def wait_for(self, name: str) -> bytes:
        end = time.monotonic() + 60
        while not (self.folder / name).exists():
            assert time.monotonic() < end, f"no rank has published {name}"
            time.sleep(0.001)
        return (self.folder / name).read_bytes()

    def write(self, values: npt.NDArray[Any], address: int | None = None) -> None:
        stream = self.double.create_stream(self.device, HOST_TO_DEVICE)
        ctypes.memmove(self.host, values.tobytes(), values.nbytes)
        self.double.ok("synMemCopyAsync", stream, self.host, values.nbytes, address or self.send, HOST_TO_DEVICE)
        self.double.ok("synStreamSynchronize", stream)

    def read(self, count: int, dtype: Any = np.float32, address: int | None = None) -> npt.NDArray[Any]:
        """Waits for the rank's stream, and reads device memory."""
        self.double.ok("synStreamSynchronize", self.stream)
        stream = self.double.create_stream(self.device, DEVICE_TO_HOST)
        size = count * np.dtype(dtype).itemsize
        self.double.ok("synMemCopyAsync", stream, address or self.receive, size, self.host, DEVICE_TO_HOST)
        self.double.ok("synStreamSynchronize", stream)
        return np.frombuffer(ctypes.string_at(self.host, size), dtype)

    def all_reduce(self, count: int, type_: int = FLOAT32, op: int = SUM, stream: Any = None) -> int:
        arguments = (self.send, self.receive, count, type_, op, self.comm, stream or self.stream)
        return int(self.hccl.hcclAllReduce(*arguments))

    def status(self) -> int:
        """Status of the stream after its work."""
        return self.double.call("synStreamSynchronize", self.stream)

    def error(self) -> int:
        """Result of hcclCommGetAsyncError."""
        error = ctypes.c_int(99)
        assert self.hccl.hcclCommGetAsyncError(self.comm, ctypes.byref(error)) == SUCCESS
        return error.value


def run(release: str, size: int, body: Callable[[Rank], None]) -> list[tuple[int, str]]:
    """Runs the body in a forked child for each rank. Returns their exit codes (minus their signals) and logs."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "modules").mkdir()
        children = [_start(release, number, size, folder, body) for number in range(size)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        return [(code, (folder / f"log-{number}").read_text()) for number, code in enumerate(codes)]


def _start(release: str, number: int, size: int, folder: pathlib.Path, body: Callable[[Rank], None]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        log = os.open(folder / f"log-{number}", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 2)
        faulthandler.disable()  # expected aborts need no traceback
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(100)
        os.environ["SYNAPSE_DOUBLE_LOCKS"] = str(folder / "modules")
        body(Rank(release, number, size, folder))
        code = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    os._exit(code)


def succeed(release: str, size: int, body: Callable[[Rank], None]) -> None:
    """Runs the body on all ranks, which must succeed and break no rule."""
    assert run(release, size, body) == [(0, "")] * size
