"""Gloo rendezvous for Horovod, for launchers that do not set Horovod's variables.

Rank 0 runs Horovod's own rendezvous server. All ranks register there and wait for each other. Then each rank sets
the variables that horovodrun would have set.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import ipaddress
import json
import os
import socket
import threading
import time

from habana_frameworks.tensorflow import errors, flags
from habana_frameworks.tensorflow._internal.launch import launchers
from habana_frameworks.tensorflow._internal.rendezvous import loopback
from habana_frameworks.tensorflow._internal.text import named_ranks

# Longest wait for the other processes to call hvd.init().
_PATIENCE_SECONDS = 300.0
_POLL_SECONDS = 0.05
_SCOPE = "hpu"


@dataclasses.dataclass(frozen=True)
class Member:
    """Entry of a rank: the local address from which the rank reaches rank 0, and its local rank."""

    host: str
    local_rank: int


def is_needed(ranks: launchers.Ranks, mpi_built: bool) -> bool:
    """Whether Horovod needs this rendezvous to find the other processes."""
    if ranks.size == 1 or os.environ.get("HOROVOD_GLOO_RENDEZVOUS_ADDR"):
        return False
    controller = os.environ.get("HOROVOD_CONTROLLER", "").lower()
    if controller:
        return controller == "gloo"
    return not mpi_built or ranks.launcher not in (launchers.Launcher.OPEN_MPI, launchers.Launcher.SLURM)


def join(ranks: launchers.Ranks) -> None:
    """Blocks until all processes of the job have joined, then sets Horovod's variables. Raises errors.JobError."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    host, port = _address(ranks, deadline)
    own_host = _own_address(host, port)
    _check_own_name(own_host)
    members = _enter(host, port, ranks, Member(own_host, ranks.local_rank), deadline)
    os.environ.update(_variables(ranks, members, host, port))
    os.environ.setdefault("HOROVOD_CPU_OPERATIONS", "gloo")
    interface = _interface_of(own_host)
    if interface:
        os.environ.setdefault("HOROVOD_GLOO_IFACE", interface)


def _address(ranks: launchers.Ranks, deadline: float) -> tuple[str, int]:
    """Returns the address of the rendezvous server. Rank 0 starts the server."""
    given = flags.horovod_rendezvous()
    if not given and ranks.launcher is launchers.Launcher.TF_CONFIG:
        given = launchers.first_task()  # the port is free, because no TensorFlow server is started
    if not given:
        if ranks.size != ranks.local_size:
            raise errors.JobError(
                f"{ranks.launcher.value} started {ranks.size} processes on several machines but sets no address for "
                "Horovod's rendezvous: set HPU_HOROVOD_RENDEZVOUS=host:port for all processes, to an address of rank "
                "0's machine and a free port there"
            )
        return loopback.agree(ranks, lambda: _serve("127.0.0.1", 0), deadline)
    host, _, port = given.rpartition(":")
    if not host or not port.isdigit():
        if flags.horovod_rendezvous():
            raise errors.JobError(
                f"HPU_HOROVOD_RENDEZVOUS={given} is not host:port: set it to rank 0's host and a free port there"
            )
        raise errors.JobError(
            f"the first task in TF_CONFIG is {given}, not host:port: correct it, or set HPU_HOROVOD_RENDEZVOUS"
        )
    return (host, _serve(host, int(port))) if ranks.rank == 0 else (host, int(port))


def _serve(host: str, port: int) -> int:
    """Runs Horovod's server in a daemon thread and returns its port."""
    from horovod.runner.http.http_server import RendezvousHandler, RendezvousHTTPServer

    try:
        server = RendezvousHTTPServer((host, port), RendezvousHandler, False)
    except OSError as error:
        raise errors.JobError(
            f"rank 0 cannot serve Horovod's rendezvous at {host}:{port} ({error}): set HPU_HOROVOD_RENDEZVOUS for all "
            "processes to an address of rank 0's machine and a free port"
        ) from error
    threading.Thread(target=server.serve_forever, name="horovod-rendezvous", daemon=True).start()
    return int(server.server_address[1])


def _enter(host: str, port: int, ranks: launchers.Ranks, own: Member, deadline: float) -> list[Member]:
    """Registers this rank and waits for the others. Returns all members in rank order."""
    members: dict[int, Member] = {}
    entered = False
    while len(members) < ranks.size:
        if time.monotonic() > deadline:
            missing = named_ranks([rank for rank in range(ranks.size) if rank not in members])
            raise errors.JobError(
                f"rank {ranks.rank} of {ranks.size} waited {_PATIENCE_SECONDS:.0f} s for {missing} to call hvd.init(); "
                f"check that these processes are running and can reach {host}:{port} (processes started by "
                f"{ranks.launcher.value})"
            )
        with contextlib.suppress(OSError, http.client.HTTPException):  # rank 0 may not be listening yet
            if not entered:
                _request(host, port, "PUT", ranks.rank, json.dumps(dataclasses.asdict(own)))
                entered = True
            for rank in range(ranks.size):
                text = None if rank in members else _request(host, port, "GET", rank)
                if text:
                    members[rank] = Member(**json.loads(text))
        time.sleep(_POLL_SECONDS)
    return [members[rank] for rank in range(ranks.size)]


def _request(host: str, port: int, method: str, rank: int, body: str | None = None) -> bytes | None:
    """Sends a request. Returns the response's body, or None if the status is not 200 (404: no entry yet)."""
    connection = http.client.HTTPConnection(host, port, timeout=10)
    try:
        connection.request(method, f"/{_SCOPE}/{rank}", body)
        response = connection.getresponse()
        data = response.read()
        return data if response.status == http.client.OK else None
    finally:
        connection.close()


def _variables(ranks: launchers.Ranks, members: list[Member], host: str, port: int) -> dict[str, str]:
    """Returns the variables that horovodrun would set for this rank."""
    own = members[ranks.rank]
    across = [rank for rank, member in enumerate(members) if member.local_rank == own.local_rank]
    same = [rank for rank in across if members[rank].host == own.host]
    if len(same) > 1:
        raise errors.JobError(
            f"ranks {', '.join(map(str, same))} all have local rank {own.local_rank} on {own.host}: the launcher's "
            "local rank variables are wrong; start the processes with `hpu run`, mpirun or horovodrun"
        )
    numbers = {
        "RANK": ranks.rank,
        "SIZE": ranks.size,
        "LOCAL_RANK": own.local_rank,
        "LOCAL_SIZE": sum(member.host == own.host for member in members),
        "CROSS_RANK": across.index(ranks.rank),
        "CROSS_SIZE": len(across),
        "GLOO_RENDEZVOUS_PORT": port,
    }
    texts = {"HOSTNAME": own.host, "GLOO_RENDEZVOUS_ADDR": host, "CONTROLLER": "gloo"}
    return {f"HOROVOD_{name}": str(value) for name, value in {**numbers, **texts}.items()}


def _own_address(host: str, port: int) -> str:
    """Returns the local address that this machine uses to reach rank 0. Sends nothing."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(address)
            return str(probe.getsockname()[0])
    except OSError as error:
        raise errors.JobError(
            f"cannot reach rank 0's address {host} from this machine ({error}): set HPU_HOROVOD_RENDEZVOUS=host:port "
            "for all processes, to an address of rank 0's machine that all machines can reach"
        ) from error


def _check_own_name(address: str) -> None:
    """Raises JobError if the host name has no address, or a loopback address although the job spans machines.

    Horovod's process sets connect to the addresses of the host names, and abort on a loopback address.
    """
    name = socket.gethostname()
    try:
        named = ipaddress.ip_address(socket.gethostbyname(name))
    except OSError as error:
        raise errors.JobError(
            f"the host name {name} has no address ({error}), but Horovod needs one: add {name} to /etc/hosts"
        ) from error
    if named.is_loopback and not ipaddress.ip_address(address).is_loopback:
        raise errors.JobError(
            f"the host name {name} resolves to the loopback address {named}, which other machines cannot reach: map "
            f"{name} to {address} in /etc/hosts"
        )


def _interface_of(address: str) -> str | None:
    """Returns the network interface with this address, or None. Gloo's default is the host name's interface."""
    import psutil  # a dependency of Horovod

    for name, addresses in psutil.net_if_addrs().items():
        if any(entry.address == address for entry in addresses):
            return str(name)
    return None
