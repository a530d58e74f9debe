"""Check of the device server in HPU_BACKEND."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags, monitor
from habana_frameworks.tensorflow._internal import secret_files
from habana_frameworks.tensorflow.cli.checks import grpc_libraries
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level


def check() -> Iterator[Finding]:
    """Checks the server and its modules. Yields nothing if HPU_BACKEND is not a server, or if grpcio is missing."""
    backend = flags.backend()
    state = _read(backend)
    if isinstance(state, monitor.UnavailableError):
        yield Finding("device server", Level.ERROR, str(state), _remedy(state))
        return
    if state is None:
        return
    assert state.server
    text = f"process {state.server.pid} at {backend} serves {state.server.backend} modules"
    yield Finding("device server", Level.OK, text, data={"pid": state.server.pid, "backend": state.server.backend})
    held = [(module.id, module.holder) for module in state.modules if module.holder]
    listed = "; ".join(f"module {number}: process {holder.pid} ({holder.command})" for number, holder in held)
    free = f"{len(state.modules) - len(held)} of {len(state.modules)} are free"
    data = {"modules": len(state.modules), "held": [{"module": number, "pid": holder.pid} for number, holder in held]}
    if len(held) == len(state.modules):
        remedy = "end one of these processes, or start the server with more modules (hpu serve --modules)"
        yield Finding("modules", Level.ERROR, f"all are held: {listed}", remedy, data)
    else:
        yield Finding("modules", Level.OK, f"{free}; {listed}" if listed else free, data=data)


def is_unavailable() -> bool:
    """Whether check() reports that the server of HPU_BACKEND cannot be read."""
    return isinstance(_read(flags.backend()), monitor.UnavailableError)


@functools.cache
def _read(backend: str) -> monitor.State | monitor.UnavailableError | None:
    """Returns the server's state, or the error; None if `backend` is not a server, or if grpcio is missing."""
    if not monitor.is_server(backend) or not grpc_libraries.is_installed():
        return None
    try:
        return monitor.read(backend)
    except monitor.UnavailableError as error:
        return error


def _remedy(error: monitor.UnavailableError) -> str:
    if isinstance(error, monitor.UnauthenticatedError):
        file = secret_files.path_of_user("serve.token")
        return f"set HPU_SERVER_TOKEN_FILE={file}, or to the file of `hpu serve --token-file`"
    return "start the server, or correct HPU_BACKEND"
