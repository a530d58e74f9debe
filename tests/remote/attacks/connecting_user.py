"""Connects to a Unix socket as another user, and prints the outcome.

connecting_user.py PATH
"""

from __future__ import annotations

import os
import socket
import sys

NOBODY = 65534


def main(path: str) -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(30)
    try:
        connection.connect(path)
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000"))
        sys.stdout.write(f"{len(connection.recv(4096))} bytes\n")
    except OSError as error:
        sys.stdout.write(f"{type(error).__name__}\n")


if __name__ == "__main__":
    main(sys.argv[1])
