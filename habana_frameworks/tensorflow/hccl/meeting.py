"""How the processes of a job wait for each other before TensorFlow makes a cluster of them, for which it waits an hour.

They come to the address of the first task of TF_CONFIG, where TensorFlow's own server begins only afterwards.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time

from habana_frameworks.tensorflow._internal.launch import launchers
from habana_frameworks.tensorflow.hccl.errors import HcclError

_POLL_SECONDS = 0.05
_HELLO = struct.Struct("!8sH")
_NAME = b"hpu-hccl"
_GO = b"go"
# How TensorFlow's clients begin: that rank has made a strategy by itself.
_GRPC = b"PRI * HT"


def meet(timeout: float) -> None:
    """Returns when all processes that TF_CONFIG names are there. Raises HcclError after `timeout` seconds.

    Does nothing where TF_CONFIG names no others, or this process cannot listen at the address that it has there.
    """
    ranks = launchers.by_tf_config()
    if ranks is None or ranks.size == 1:
        return
    host, _, port = launchers.first_task().rpartition(":")
    host = host.strip("[]")  # of an IPv6 address
    if not port.isdecimal():  # TensorFlow says what is wrong with it
        return
    deadline = time.monotonic() + timeout
    if ranks.rank > 0:
        if not _come(host, int(port), ranks.rank, deadline):
            raise HcclError(
                f"rank {ranks.rank} of the job has waited {timeout:g} s at {host}:{port}, the first address of "
                "TF_CONFIG, for rank 0 to come and say that all others have"
            )
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, int(port)), family=family, backlog=ranks.size)
    except OSError:  # the others' way to it may be another one
        return
    with listener:
        missing = _receive(listener, range(1, ranks.size), deadline)
    if missing:
        raise HcclError(
            f"rank 0 of the job has waited {timeout:g} s for the ranks {', '.join(map(str, missing))} to come to "
            f"{host}:{port}, the first address of TF_CONFIG"
        )


def _receive(listener: socket.socket, ranks: range, deadline: float) -> list[int]:
    """Tells all to go on when all are there, or one has gone on by itself; else, after the deadline, which are not."""
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
            with contextlib.suppress(OSError):  # it ended meanwhile, as TensorFlow will find out
                connection.sendall(_GO)
    return missing


def _come(host: str, port: int, rank: int, deadline: float) -> bool:
    """Whether rank 0 says so before the deadline."""
    while (left := deadline - time.monotonic()) > 0:
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=left) as connection:
            connection.sendall(_HELLO.pack(_NAME, rank))
            connection.settimeout(max(deadline - time.monotonic(), _POLL_SECONDS))
            # Another answer is that of TensorFlow's server: rank 0 has made a strategy by itself.
            if connection.recv(len(_GO)):
                return True
        time.sleep(_POLL_SECONDS)
    return False
