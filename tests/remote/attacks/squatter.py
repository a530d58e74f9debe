"""Listens at a Unix socket as another user, and forwards data to a server at a local port.

    squatter.py PATH PORT

Prints "ready", and a line for each read of a client's bytes.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import sys
import threading

NOBODY = 65534


def pump(source: socket.socket, target: socket.socket, counts: bool) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            if counts:
                sys.stdout.write(f"{len(data)}\n")
                sys.stdout.flush()
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def main(path: str, port: int) -> None:
    socket.getaddrinfo("127.0.0.1", port)  # loads files that another user may be unable to read
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    pathlib.Path(path).chmod(0o777)
    listening.listen(16)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        client, _ = listening.accept()
        server = socket.create_connection(("127.0.0.1", port))
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=pump, args=(source, target, source is client), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
