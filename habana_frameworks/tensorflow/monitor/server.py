"""State of a device server's modules, read through its Describe call (proto/hpu/device/v1/device.proto)."""

from __future__ import annotations

from typing import Any

from habana_frameworks.tensorflow import device_channel
from habana_frameworks.tensorflow.monitor.state import (
    Module,
    Process,
    ServerState,
    State,
    UnauthenticatedError,
    UnavailableError,
)

_METHOD = "/hpu.device.v1.DeviceService/Describe"
_TIMEOUT_SECONDS = 10


def read(backend: str) -> State:
    """Reads the state of the server at `backend`, an address in the form of HPU_BACKEND. Raises UnavailableError."""
    answer = describe(backend)
    modules = tuple(_module(module, answer.type) for module in answer.modules)
    server = ServerState(
        answer.pid, answer.backend, answer.sessions_opened, answer.sessions_closed, answer.resident_bytes
    )
    return State(backend, answer.clock_ns / 1e9, modules, server)


def describe(backend: str) -> Any:
    """Returns the server's DescribeResponse (device.proto documents its fields). Raises UnavailableError."""
    try:
        import grpc

        from habana_frameworks.tensorflow._internal.messages import device_pb2
    except ImportError as error:
        raise UnavailableError(
            f"{error}; reading a device server requires grpcio, protobuf and a build with gRPC (docs/user/remote.md)"
        ) from None
    try:
        with device_channel.open_channel(backend) as channel:
            call = channel.stream_stream(
                _METHOD,
                request_serializer=device_pb2.DescribeRequest.SerializeToString,
                response_deserializer=device_pb2.DescribeResponse.FromString,
            )
            answers = list(call(iter([device_pb2.DescribeRequest()]), timeout=_TIMEOUT_SECONDS))
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.UNAUTHENTICATED:
            raise UnauthenticatedError(f"device server at {backend}: {error.details()}") from None
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise UnavailableError(f"device server at {backend}: {error.details()}") from None
        raise UnavailableError(_why_unavailable(backend, error.details())) from None
    except ValueError as error:
        raise UnavailableError(str(error)) from None
    if len(answers) != 1:
        raise UnavailableError(
            f"{backend} is not a device server: expected 1 answer to Describe, received {len(answers)}; correct "
            "HPU_BACKEND"
        )
    return answers[0]


def _why_unavailable(backend: str, details: str) -> str:
    """Returns the error text for an unreachable server: the same text as in connection.cc."""
    if backend.startswith("grpcs:"):
        return (
            f"cannot connect to the device server at {backend} ({details}); check that it runs, that HPU_SERVER_CA "
            "verifies its certificate and its address, and that HPU_SERVER_CERT and HPU_SERVER_KEY satisfy its "
            "--tls-client-ca"
        )
    address = device_channel.target(backend)
    # A TLS server closes an unencrypted connection; without a server, the connection is refused.
    if backend.startswith("grpc:") and device_channel.speaks_tls(address):
        return f"the device server at {backend} uses TLS ({details}); set HPU_BACKEND=grpcs://{address}"
    return f"no device server answers at {backend} ({details}); start one: hpu serve --listen {address}"


def _module(module: Any, model: str) -> Module:
    if not module.held:
        return Module(module.id, model, memory_total=module.memory_bytes, memory_used=0)
    counters = module.counters
    return Module(
        module.id,
        model,
        holder=Process(module.holder.pid, module.holder.command.decode(errors="replace")),
        memory_total=module.memory_bytes,
        memory_used=module.memory_used_bytes,
        session=module.session_number,
        busy_seconds=counters.busy_ns / 1e9,
        launches=counters.launches,
        bytes_to_device=counters.bytes_to_device,
        bytes_to_host=counters.bytes_to_host,
        streams=counters.calls,
        recipes=counters.recipes,
    )
