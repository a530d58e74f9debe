"""Agreement on a port among a job's processes on one machine, which share only the job's name.

Rank 0 listens on a Unix socket in Linux's abstract namespace, which needs no cleanup.
"""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.launch import launchers

HOST = "127.0.0.1"
_POLL_SECONDS = 0.05
_PORT = struct.Struct("!H")
# struct ucred: process, user, group.
_CREDENTIALS = struct.Struct("3i")


def agree(ranks: launchers.Ranks, serve: Callable[[], int], deadline: float) -> tuple[str, int]:
    """Returns host and port of the server that rank 0 starts with `serve`. Raises errors.JobError."""
    name = _name(ranks)
    if ranks.rank > 0:
        return HOST, _ask(name, ranks, deadline)
    port = serve()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(name)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise errors.JobError(
                f"another process of this {ranks.launcher.value} job already joined as rank 0; give each process its "
                "own rank"
            ) from error
        raise errors.JobError(
            f"rank 0 cannot listen for the other ranks ({error}): set HPU_HOROVOD_RENDEZVOUS=127.0.0.1:port for all "
            "processes, with a free port"
        ) from error
    listener.listen(ranks.size)
    threading.Thread(target=_send_port, args=(listener, port, ranks.size - 1), daemon=True).start()
    return HOST, port


def _name(ranks: launchers.Ranks) -> bytes:
    job = _job()
    if not job:
        raise errors.JobError(
            f"{ranks.launcher.value} started {ranks.size} processes but sets no job id for their rendezvous: set "
            "HPU_HOROVOD_RENDEZVOUS=127.0.0.1:port for all processes, with a free port"
        )
    digest = hashlib.sha256(job.encode()).hexdigest()[:32]
    return f"\0hpu-tensorflow-horovod-{os.geteuid()}-{digest}".encode()


def _job() -> str:
    """Returns a name that identifies the running job to all its processes; empty if the launcher provides none."""
    for names in (("PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri"), ("SLURM_JOB_ID", "SLURM_STEP_ID")):
        values = [os.environ.get(name, "") for name in names]
        if values[0]:
            return "/".join(values)
    return ""


def _send_port(listener: socket.socket, port: int, times: int) -> None:
    with listener:
        while times > 0:
            connection, _ = listener.accept()
            with connection:
                if _is_own_user(connection):
                    connection.sendall(_PORT.pack(port))
                    times -= 1


def _ask(name: bytes, ranks: launchers.Ranks, deadline: float) -> int:
    begin = time.monotonic()
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(max(deadline - time.monotonic(), _POLL_SECONDS))
            try:
                connection.connect(name)
                data = connection.recv(_PORT.size) if _is_own_user(connection) else b""
            except OSError:  # rank 0 is not listening yet
                data = b""
        if len(data) == _PORT.size:
            return int(_PORT.unpack(data)[0])
        time.sleep(_POLL_SECONDS)
    raise errors.JobError(
        f"rank {ranks.rank} of {ranks.size} waited {time.monotonic() - begin:.0f} s for rank 0 to call hvd.init(); "
        f"check that rank 0 is running and calls hvd.init() (processes started by {ranks.launcher.value})"
    )


def _is_own_user(connection: socket.socket) -> bool:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(credentials)[1] == os.geteuid())
