"""Starts a device server, which serves modules to other processes (`hpu serve`, docs/user/remote.md)."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from habana_frameworks.tensorflow import errors, flags, lib_utils
from habana_frameworks.tensorflow._internal import cards
from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow._internal.serve import host
from habana_frameworks.tensorflow._internal.serve.settings import MAX_MODULES, Compilation, Limits, ServerSettings, Tls
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError

if TYPE_CHECKING:
    from habana_frameworks.tensorflow._internal.serve.thread import FrontThread

__all__ = ["Compilation", "Limits", "Tls", "reachable", "start", "stop"]

_TCP_LAUNCH_TIMEOUT_SECONDS = 3600
_MAX_MEMORY_MB = 1 << 25
_lock = threading.Lock()
_server: FrontThread | None = None


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
    launch_timeout_seconds: int | None = None,
) -> str:
    """Serves the modules of `backend` at `address` and returns the value of HPU_BACKEND that reaches them.

    address: "unix:/path" (only this user may connect) or "host:port"; port 0 picks a free port. A port needs a token
    or client certificates, and TLS beyond the loopback interface.
    allow_faults: clients may inject errors with HPU_FAULTS.
    faults: errors injected into every session, as returned by fault_schedule.read().
    recipe_key: at least 32 secret bytes. The server accepts recipes from its clients only if a server with this key
    signed them. Without a key, the server uses a random key, so later servers refuse the recipes that clients stored.
    token: secret that clients must send (HPU_SERVER_TOKEN); printable ASCII. Empty: no token needed.
    launch_timeout_seconds: a launch that runs longer ends its session; 0: no limit. None: 0 at a Unix socket, 3600 at
    a port.

    Raises errors.DeviceError if the server cannot start, errors.HabanaModuleError if the plugin or
    TensorFlow is missing. A process runs at most one server.
    """
    global _server
    if launch_timeout_seconds is None:
        launch_timeout_seconds = 0 if address.startswith("unix:") else _TCP_LAUNCH_TIMEOUT_SECONDS
    with _lock:
        try:
            if _server is not None:
                raise StatusError(
                    Code.FAILED_PRECONDITION, "this process already runs a device server: call stop() first"
                )
            settings = ServerSettings(
                address,
                _module_count(),
                backend,
                flags.device_type(),
                _default_memory_bytes(),
                allow_faults,
                faults,
                recipe_key,
                token,
                tls or Tls(b"", b""),
                limits or Limits(),
                compilation or Compilation(),
                launch_timeout_seconds,
                flags.remote_shared_memory(),
            )
            command = _fork_server_command()
            # A local import, because the module imports the protobuf messages, which exist only after a build.
            from habana_frameworks.tensorflow._internal.serve.thread import FrontThread

            _server = FrontThread(settings, command, _environment())
        except StatusError as error:
            raise errors.DeviceError(error.code, error.message) from None
        atexit.register(stop)
        return reachable(_server.spec)


def reachable(spec: str) -> str:
    """Returns `spec` with this machine's host name in place of a wildcard address (0.0.0.0, [::])."""
    scheme, _, address = spec.partition("://")
    host_name, _, port = address.rpartition(":")
    return f"{scheme}://{socket.gethostname()}:{port}" if host_name in ("0.0.0.0", "[::]") else spec


def stop() -> None:
    """Stops the server and all sessions, and waits until their modules are free. Does nothing without a server."""
    global _server
    with _lock:
        server, _server = _server, None
        if server is not None:
            server.stop()
            atexit.unregister(stop)


def _module_count() -> int:
    count = cards.modules()
    if not 1 <= count <= MAX_MODULES:
        raise StatusError(Code.INVALID_ARGUMENT, f"HPU_MODULES={count} is not between 1 and {MAX_MODULES}")
    return count


def _default_memory_bytes() -> int:
    megabytes = cards.memory_mb()
    if not 1 <= megabytes <= _MAX_MEMORY_MB:
        raise StatusError(Code.INVALID_ARGUMENT, f"HPU_MEMORY_MB={megabytes} is not between 1 and {_MAX_MEMORY_MB}")
    return megabytes << 20


def _fork_server_command() -> list[str]:
    """Returns the command line of host.py. With -I, working directory and PYTHON… variables do not affect sessions."""
    # Reads TensorFlow's version from package metadata if possible, because the import of TensorFlow takes seconds.
    version = next(iter(lib_utils.installed_tensorflow().values()), None)
    (plugin,) = lib_utils.mandatory_libraries(version or plugin_library.import_tensorflow().__version__)
    libraries = map(str, (*plugin_library.tensorflow_libraries(), plugin))
    return [sys.executable, "-I", host.__file__, *libraries]


def _environment() -> dict[str, str]:
    """Environment of the fork server, with quiet C++ logs.

    XLA logs a stack trace for each program that it refuses, so clients could fill the log.
    """
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
