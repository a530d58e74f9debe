"""Rendezvous of a job's processes before TensorFlow connects them; TensorFlow waits an hour for a missing process.

Rank 0 listens at the address of TF_CONFIG's first task. TensorFlow's own server listens there only afterwards.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time

from habana_frameworks.tensorflow._internal.launch import launchers
from habana_frameworks.tensorflow._internal.text import named_ranks
from habana_frameworks.tensorflow.hccl.errors import HcclError

_POLL_SECONDS = 0.05
_HELLO = struct.Struct("!8sH")
_NAME = b"hpu-hccl"
_GO = b"go"
# First bytes from a gRPC client, which means that the client's rank has already created a strategy.
_GRPC = b"PRI * HT"


def join(timeout: float) -> None:
    """Blocks until all processes named in TF_CONFIG have joined. Raises HcclError after `timeout` seconds.

    Does nothing if TF_CONFIG names no other processes. Rank 0 does not wait if it cannot listen at its address.
    """
    ranks = launchers.by_tf_config()
    if ranks is None or ranks.size == 1:
        return
    host, _, port = launchers.first_task().rpartition(":")
    host = host.strip("[]")  # brackets of an IPv6 address
    if not port.isdecimal():  # TensorFlow reports the error
        return
    deadline = time.monotonic() + timeout
    if ranks.rank > 0:
        if not _join_rank_0(host, int(port), ranks.rank, deadline):
            raise HcclError(
                f"hccl.init() timed out after {timeout:g} s on rank {ranks.rank}: waited at {host}:{port}, the first "
                "address in TF_CONFIG, for rank 0 to report that all ranks have joined. Check that every rank is "
                "running, or pass a larger timeout."
            )
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, int(port)), family=family, backlog=ranks.size)
    except OSError:  # the other ranks may reach this machine at an address that it cannot bind
        return
    with listener:
        missing = _receive(listener, range(1, ranks.size), deadline)
    if missing:
        raise HcclError(
            f"rank 0 of the job waited {timeout:g} s for {named_ranks(missing)} to join at {host}:{port}, the first "
            "address in TF_CONFIG: check that every rank is running, or pass a larger timeout to hccl.init()"
        )


def _receive(listener: socket.socket, ranks: range, deadline: float) -> list[int]:
    """Waits for all ranks and then releases them. Returns the ranks still missing at the deadline.

    A gRPC connection also ends the wait, because the rank that opened it has already created a strategy.
    """
    came: dict[int, socket.socket] = {}
    ahead = False
    with contextlib.ExitStack() as connections:
        while len(came) < len(ranks) and not ahead and (left := deadline - time.monotonic()) > 0:
            listener.settimeout(left)
            with contextlib.suppress(OSError, struct.error):
                connection = connections.enter_context(listener.accept()[0])
                connection.settimeout(1.0)
                name, rank = _HELLO.unpack(connection.recv(_HELLO.size, socket.MSG_WAITALL))
                if name == _NAME and rank in ranks:
                    came[rank] = connection
                ahead = name == _GRPC
        missing = [rank for rank in ranks if rank not in came and not ahead]
        for connection in came.values() if not missing else ():
            with contextlib.suppress(OSError):  # the process has ended; TensorFlow will report it
                connection.sendall(_GO)
    return missing


def _join_rank_0(host: str, port: int, rank: int, deadline: float) -> bool:
    """Connects to rank 0, with retries, until rank 0 answers. Returns False after the deadline."""
    while (left := deadline - time.monotonic()) > 0:
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=left) as connection:
            connection.sendall(_HELLO.pack(_NAME, rank))
            connection.settimeout(max(deadline - time.monotonic(), _POLL_SECONDS))
            # Accepts any answer: TensorFlow's server answers if rank 0 has already created a strategy.
            if connection.recv(len(_GO)):
                return True
        time.sleep(_POLL_SECONDS)
    return False
