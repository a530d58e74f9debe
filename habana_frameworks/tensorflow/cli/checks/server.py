"""Check of the device server in HPU_BACKEND."""

from __future__ import annotations

from collections.abc import Iterator

from habana_frameworks.tensorflow import flags, monitor
from habana_frameworks.tensorflow.cli.checks import grpc_libraries
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level


def check() -> Iterator[Finding]:
    """Checks the server and its modules. Yields nothing if HPU_BACKEND names no server, or if grpcio is missing."""
    backend = flags.backend()
    if not monitor.is_server(backend) or not grpc_libraries.is_installed():
        return
    try:
        state = monitor.read(backend)
    except monitor.UnavailableError as error:
        yield Finding("device server", Level.ERROR, str(error), "start the server, or correct HPU_BACKEND")
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
