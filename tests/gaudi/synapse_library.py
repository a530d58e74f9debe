"""Calls of the Synapse double (plugin/testing/synapse_double/) through ctypes, with the backend's declarations."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import os
import pathlib
import re
import resource
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support import build_folders

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASES = ("1.5", "1.18")
SWITCH_PREFIX = "SYNAPSE_DOUBLE_"

# synStatus
SUCCESS = 0
INVALID_ARGUMENT = 1
OUT_OF_DEVICE_MEMORY = 4
NOT_INITIALIZED_OBJECT = 6
NO_DEVICE_FOUND = 8
DEVICE_RESET = 17
UNSUPPORTED = 18
DEVICE_ALREADY_ACQUIRED = 20
BUSY = 22
ALL_RESOURCES_TAKEN = 23
FAIL = 26
UNINITIALIZED = 28
ALREADY_INITIALIZED = 29
SYNAPSE_TERMINATED = 31
MAPPING_NOT_FOUND = 34
FAILED_TO_COLLECT_TIME = 41
# synDmaDir
HOST_TO_DEVICE = 0
DEVICE_TO_HOST = 1
DEVICE_TO_DEVICE = 2
# synEventCreate
EVENT_COLLECT_TIME = 1

# Same as in runtime/guard.h.
_GUARD_BYTE = 0xD9
_GUARD_BYTES = 16

_LISTS = {
    "REQUIRED": RELEASES,
    "OPTIONAL": RELEASES,
    "PROFILE_REQUIRED": RELEASES,
    "PROFILE_OPTIONAL": RELEASES,
    "1_18_REQUIRED": ("1.18",),
    "1_18_OPTIONAL": ("1.18",),
    "1_5_REQUIRED": ("1.5",),
}
_TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int": ctypes.c_int,
    "int8_t": ctypes.c_int8,
    "unsigned": ctypes.c_uint32,
    "unsigned char": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "synDeviceId": ctypes.c_uint32,
    "synModuleId": ctypes.c_uint32,
    "synSectionId": ctypes.c_uint32,
    "synNodeId": ctypes.c_uint64,
}
_HANDLES = {"synTensor", "synGraphHandle", "synRecipeHandle", "synStreamHandle", "synEventHandle", "synSectionHandle"}


def _argument_type(parameter: str) -> Any:
    if "*" in parameter or "[" in parameter:
        return ctypes.c_void_p
    name = parameter.replace("const ", "").strip().rsplit(" ", 1)[0]
    return ctypes.c_void_p if name in _HANDLES else _TYPES.get(name, ctypes.c_uint32)  # other types are enums


@functools.cache
def declarations(release: str) -> dict[str, list[Any]]:
    """Returns the functions that the backend binds in a release (functions.h), with the types of their parameters."""
    text = (ROOT / "plugin/backends/gaudi/synapse/functions.h").read_text().replace("\\\n", "\n")
    found = {}
    for name, body in re.findall(r"#define HPU_SYNAPSE_(\w+)\(FUNCTION\)\s(.*?)\n\n", text, re.DOTALL):
        if release not in _LISTS[name]:
            continue
        for function, parameters in re.findall(r"FUNCTION\((\w+), \((.*?)\)\)\s*$", body, re.DOTALL | re.MULTILINE):
            parts = [" ".join(part.split()) for part in parameters.split(",") if part.strip()]
            found[function] = [_argument_type(part) for part in parts]
    return found


def folder() -> pathlib.Path | None:
    """Returns HPU_SYNAPSE_DOUBLE, or the newest double of a build folder in the tree."""
    if chosen := os.environ.get("HPU_SYNAPSE_DOUBLE"):
        return pathlib.Path(chosen)
    newest = build_folders.newest("synapse_double/*/libSynapse.so")
    return newest.parents[1] if newest else None


def path(release: str) -> pathlib.Path:
    found = folder()
    if found is None:
        pytest.skip("no libSynapse.so of the double: run `make build-tests`")
    return found / release / "libSynapse.so"


@functools.cache
def load(release: str, file: str | None = None) -> ctypes.CDLL:
    """Loads a library of a release; by default its double."""
    library = ctypes.CDLL(file or str(path(release)))
    for name, types in declarations(release).items():
        if hasattr(library, name):
            getattr(library, name).argtypes = types
    return library


class Double:
    """A double of one release, and its log."""

    def __init__(self, release: str, log: Callable[[], str], file: str | None = None) -> None:
        """`file`: another library of the release."""
        self.release = release
        self.library = load(release, file)
        self.take_log = log
        self._device: int | None = None

    @property
    def is_1_5(self) -> bool:
        return self.release == "1.5"

    def call(self, name: str, *arguments: Any) -> int:
        """Returns the status of a C function."""
        return int(getattr(self.library, name)(*arguments))

    def ok(self, name: str, *arguments: Any) -> None:
        """Calls a function, which must succeed."""
        status = self.call(name, *arguments)
        assert status == SUCCESS, f"{name} returned {status}: {self.take_log()}"

    def returns(self, status: int, name: str, *arguments: Any) -> None:
        """Calls a function, which must return `status` and break no rule."""
        self.take_log()
        assert self.call(name, *arguments) == status
        assert self.take_log() == ""

    def refuses(self, status: int, rule: int | None, name: str, *arguments: Any) -> str:
        """Calls a function, which must break a rule (None: one without a number). Returns the log."""
        self.take_log()
        returned = self.call(name, *arguments)
        log = self.take_log()
        number = "-" if rule is None else rule
        assert f"synapse_double: rule {number}: {name}: " in log, (
            log or f"{name} returned {returned} without a log line"
        )
        assert returned == status, log
        return log

    def new(self, name: str, *arguments: Any, type: Any = ctypes.c_void_p) -> Any:  # noqa: A002
        """Calls a function whose first parameter points at its result. Returns the result."""
        result = type()
        self.ok(name, ctypes.byref(result), *arguments)
        return result.value

    def new_from_device(self, name: str, device: int) -> int:
        """Calls a function with a device and a pointer to its 64-bit result. Returns the result."""
        result = ctypes.c_uint64()
        self.ok(name, device, ctypes.byref(result))
        return result.value

    def close(self) -> None:
        """Ends the library after all queued work."""
        if self._device is not None:
            self.call("synDeviceSynchronize", self._device)
        self.call("synDestroy")

    # Calls that must succeed, with arguments that most tests need.

    def acquire(self) -> int:
        self._device = int(self.new("synDeviceAcquire", None, type=ctypes.c_uint32))
        return self._device

    def create_stream(self, device: int, engine: int = HOST_TO_DEVICE) -> Any:
        """Creates a stream; in 1.5 for copies in one direction (synDmaDir) or launches (3)."""
        if not self.is_1_5:
            return self.new("synStreamCreateGeneric", device, 0)
        stream_type = {HOST_TO_DEVICE: 1, DEVICE_TO_HOST: 0}.get(engine, engine)
        return self.new("synStreamCreate", device, stream_type, 0)

    def create_event(self, device: int, flags: int = 0) -> Any:
        return self.new("synEventCreate", device, flags)

    def allocate(self, device: int, size: int) -> int:
        address = ctypes.c_uint64()
        self.ok("synDeviceMalloc", device, size, 0, 0, ctypes.byref(address))
        return address.value

    def allocate_host(self, device: int, size: int) -> int:
        buffer = ctypes.c_void_p()
        self.ok("synHostMalloc", device, size, 0, ctypes.byref(buffer))
        assert buffer.value is not None
        return buffer.value


def in_child(function: Callable[[], None]) -> tuple[int, str]:
    """Runs a function in a forked child. Returns its exit code, or minus its signal, and its standard error."""
    with tempfile.TemporaryFile() as log:
        process = os.fork()
        if process == 0:
            code = 1
            try:
                faulthandler.disable()  # expected faults need no traceback
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                os.dup2(log.fileno(), 2)
                function()
                code = 0
            except BaseException:
                os.write(2, traceback.format_exc().encode())
            os._exit(code)
        _, status = os.waitpid(process, 0)
        log.seek(0)
        return os.waitstatus_to_exitcode(status), log.read().decode(errors="replace")


@contextlib.contextmanager
def background(function: Callable[[], None]) -> Iterator[int]:
    """Runs a function in a forked child, which then lives until the block ends. Yields its process id."""
    ready, ready_in_child = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            function()
            os.write(ready_in_child, b"+")
            signal.pause()
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        os._exit(1)
    os.close(ready_in_child)
    try:
        assert os.read(ready, 1) == b"+", "the child failed"
        yield process
    finally:
        os.close(ready)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


class Guarded:
    """Structs followed by the guard bytes that a double with SYNAPSE_DOUBLE_GUARD_BYTES=1 looks for."""

    def __init__(self, struct: type[Any], count: int = 1) -> None:
        size = count * ctypes.sizeof(struct)
        # Extra bytes, because the double reads beyond structs that it believes to be larger.
        self._bytes = (ctypes.c_uint8 * (3 * size + 64))()
        ctypes.memset(ctypes.addressof(self._bytes) + size, _GUARD_BYTE, _GUARD_BYTES)
        self._size = size
        self.array = (struct * count).from_buffer(self._bytes)

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self._bytes)

    def check(self) -> None:
        """Asserts that no call wrote beyond the structs."""
        guard = bytes(self._bytes)[self._size : self._size + _GUARD_BYTES]
        assert guard == bytes([_GUARD_BYTE] * _GUARD_BYTES)
