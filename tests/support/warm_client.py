"""Client that runs a program in a warm interpreter, and waits for its end. tests/support/python starts it.

Without a suitable warm interpreter, becomes a new interpreter.
"""

from __future__ import annotations

import array
import json
import os
import pathlib
import resource
import signal
import socket
import sys
from typing import Any, NoReturn

FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


def descriptors() -> list[int]:
    """Returns the inherited descriptors of this process."""
    found = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 (without pathlib's cost, and closed at once)
        try:
            os.fstat(int(name))
        except OSError:
            continue
        found.append(int(name))
    return sorted(found)


def ask(path: str) -> socket.socket | None:
    """Returns a connection to the interpreter that runs this process's program; None if no interpreter accepts it."""
    files = descriptors()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request: dict[str, Any] = {
        "arguments": sys.argv[2:],
        "directory": os.getcwd(),  # noqa: PTH109
        "environment": dict(os.environ),
        "executable": sys.argv[1],
        "descriptors": files,
    }
    try:
        connection.connect(path)
        connection.sendmsg(
            [json.dumps(request).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
        )
        if connection.recv(64) == b"no":
            return None
    except OSError:  # no interpreter for this log level, or the request is too large
        return None
    for file in files:
        os.close(file)
    return connection


def end_as(code: int) -> NoReturn:
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def main() -> None:
    python, directory = os.environ["WARM_NEW"], os.environ["WARM_DIRECTORY"]
    connection = None
    # Blocks signals until they can be forwarded to the program.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    if len(sys.argv) > 2:
        connection = ask(str(pathlib.Path(directory, os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0"))))
    if connection is None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        os.execv(python, [python, *sys.argv[2:]])
    for number in FORWARDED:
        signal.signal(number, lambda number, _: connection.send(str(number).encode()))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    message = connection.recv(64)
    end_as(int(message or -signal.SIGKILL))


if __name__ == "__main__":
    main()
