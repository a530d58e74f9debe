"""A device server in this process: its modules are for other processes (`hpu serve`, docs/remote.md)."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import socket
import sys
from collections.abc import Sequence

from habana_frameworks.tensorflow import _c_api, compile_worker, errors, library_loader


class _Options(ctypes.Structure):
    """hpu_serve_options."""

    _fields_ = [
        ("address", ctypes.c_char_p),
        ("backend", ctypes.c_char_p),
        ("allow_faults", ctypes.c_int32),
        ("faults", ctypes.c_char_p),
        ("recipe_key", ctypes.c_char_p),
        ("recipe_key_size", ctypes.c_size_t),
        ("token", ctypes.c_char_p),
        ("tls_certificate", ctypes.c_char_p),
        ("tls_private_key", ctypes.c_char_p),
        ("tls_client_ca", ctypes.c_char_p),
        ("most_memory_bytes", ctypes.c_uint64),
        ("most_recipes", ctypes.c_uint64),
        ("most_recipe_bytes", ctypes.c_uint64),
        ("most_in_flight_bytes", ctypes.c_uint64),
        ("compile_command", ctypes.POINTER(ctypes.c_char_p)),
        ("most_compile_workers", ctypes.c_uint32),
        ("compile_timeout_seconds", ctypes.c_uint32),
    ]


@dataclasses.dataclass(frozen=True)
class Tls:
    """How a server shows who it is; PEM texts."""

    certificate: bytes
    """Followed by those between it and its root."""
    private_key: bytes
    client_ca: bytes = b""
    """Vouches for the certificates that clients must have; empty: they need none."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one client may have at a time; 0: the default."""

    memory_bytes: int = 0
    """Of device memory. A client that asks for more gets so much; by default each gets what it asks for."""
    recipes: int = 0
    recipe_bytes: int = 0
    in_flight_bytes: int = 0
    """Of programs and recipes on their way, and of data that are copied through host memory."""


@dataclasses.dataclass(frozen=True)
class Compilation:
    """How programs of clients are compiled: in worker processes, which one that makes the compiler crash ends."""

    workers: int = 0
    """At most at a time; 0: as many as CPUs, from 2 to 8."""
    timeout_seconds: int = 0
    """After which a worker is ended; 0: 1800."""


def start(
    address: str,
    backend: str = "emulator",
    allow_faults: bool = False,
    *,
    faults: Sequence[str] = (),
    recipe_key: bytes = b"",
    token: str = "",
    tls: Tls | None = None,
    limits: Limits | None = None,
    compilation: Compilation | None = None,
) -> str:
    """Serves the modules of `backend` at `address` and returns the value of HPU_BACKEND that reaches them.

    address: "unix:/path" (only this user may connect), or "host:port"; port 0: a free one. Beyond the loopback
    interface there must be TLS, and a token or certificates of clients.
    allow_faults: clients may ask for errors with HPU_EMULATOR_FAULTS.
    faults: that every session meets, as fault_schedule.read() gives them.
    recipe_key: at least 32 secret bytes. The server loads from its clients only recipes that a server with this key
    made. Without a key it takes a random one, and no later server accepts what clients have kept.
    token: what clients must show (HPU_SERVER_TOKEN), in printable characters of ASCII; empty: nothing.

    Raises errors.DeviceError if the server cannot start. A process has one server at most.
    """
    message = _c_api.Buffer()
    plugin = library_loader.plugin()
    call = _c_api.function(plugin, "hpu_serve_start")
    call.restype = ctypes.c_int32
    tls = tls or Tls(b"", b"")
    limits = limits or Limits()
    compilation = compilation or Compilation()
    command = _compile_command(backend, plugin._name)
    options = _Options(
        address.encode(),
        backend.encode(),
        allow_faults,
        ",".join(faults).encode(),
        recipe_key,
        len(recipe_key),
        token.encode(),
        tls.certificate,
        tls.private_key,
        tls.client_ca,
        limits.memory_bytes,
        limits.recipes,
        limits.recipe_bytes,
        limits.in_flight_bytes,
        (ctypes.c_char_p * (len(command) + 1))(*map(os.fsencode, command), None),
        compilation.workers,
        compilation.timeout_seconds,
    )
    code = call(ctypes.byref(options), ctypes.byref(message))
    text = _c_api.take(plugin, message).decode(errors="replace")
    if code != 0:
        raise errors.DeviceError(code, text)
    return reachable(text)


def _compile_command(backend: str, plugin: str) -> list[str]:
    """Isolated: what the server's environment and directory have for Python is of no use to the worker."""
    libraries = map(str, library_loader.tensorflow_libraries())
    return [sys.executable, "-I", compile_worker.__file__, backend, *libraries, plugin]


def reachable(spec: str) -> str:
    """The same with this machine's name in place of an address that stands for all of its own."""
    scheme, _, address = spec.partition("://")
    host, _, port = address.rpartition(":")
    return f"{scheme}://{socket.gethostname()}:{port}" if host in ("0.0.0.0", "[::]") else spec


def stop() -> None:
    """Ends all sessions and the server; waits until their modules are free. Does nothing if there is no server."""
    call = _c_api.function(library_loader.plugin(), "hpu_serve_stop")
    call.restype = None
    call()
