"""The plugin's transfer process. plugin/recipes/transfer_process.h starts it and documents the protocol."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import pathlib
import select
import socket
import sys
from typing import BinaryIO

if __name__ == "__main__":
    # `python -I transfer_process.py` does not put the package's directory on sys.path.
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4]))

from habana_frameworks.tensorflow.recipe_store.remote.cache import RemoteCache
from habana_frameworks.tensorflow.recipe_store.remote.errors import RemoteError
from habana_frameworks.tensorflow.recipe_store.remote.settings import RemoteSettings
from habana_frameworks.tensorflow.recipe_store.remote.time_limit import time_limit

# Below 1, so that the plugin receives the reason before its own time limit.
_SHARE_OF_TIMEOUT = 0.9
_PARENT_CHECK_SECONDS = 5.0
_MAX_REQUEST_LINE = 256
_MAX_TEXT = 1000


class TransferProcess:
    """Answers requests until the plugin closes the socket or the plugin's process ends."""

    def __init__(self, connection: socket.socket, settings: RemoteSettings, parent: int) -> None:
        self._connection = connection
        self._requests = connection.makefile("rb")
        self._settings = settings
        self._parent = parent
        self._cache: RemoteCache | None = None

    def run(self) -> None:
        while self._wait():
            line = self._requests.readline(_MAX_REQUEST_LINE)
            if not line:
                return
            verb, key, size = line.decode().split()
            operand = self._requests.read(int(size))
            outcome, body = self._answer(verb, key, os.fsdecode(operand))
            with body:
                self._reply(outcome, body)

    def _wait(self) -> bool:
        """Waits for the next request. Returns False if the plugin's process has ended.

        Also checks the parent process, because a forked child of the program may keep the socket open.
        """
        while not select.select([self._connection], [], [], _PARENT_CHECK_SECONDS)[0]:
            if os.getppid() != self._parent:
                return False
        return True

    def _answer(self, verb: str, key: str, operand: str) -> tuple[str, BinaryIO]:
        try:
            with time_limit(self._settings.timeout * _SHARE_OF_TIMEOUT):
                if self._cache is None:
                    self._cache = RemoteCache(self._settings)
                if verb == "put":
                    self._cache.upload(key, operand)
                    return "stored", io.BytesIO()
                entry = self._cache.fetch(key)
                return ("missing", io.BytesIO()) if entry is None else ("found", entry)
        except RemoteError as error:
            outcome, text = error.outcome, str(error)
        except Exception as error:  # the plugin reports the error and compiles the recipe
            outcome, text = "failed", f"{type(error).__name__}: {error}"
        return outcome, io.BytesIO(text[:_MAX_TEXT].encode(errors="replace"))

    def _reply(self, outcome: str, body: BinaryIO) -> None:
        start = body.tell()
        body.seek(0, os.SEEK_END)
        size = body.tell() - start
        body.seek(start)
        self._connection.sendall(f"{outcome} {size}\n".encode())
        while chunk := body.read(1 << 20):
            self._connection.sendall(chunk)


def main() -> None:
    """Serves requests on the socket that is standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--key-file", required=True)
    parser.add_argument("--token-file", required=True)
    parser.add_argument("--timeout", type=float, required=True)
    arguments = parser.parse_args()
    _close_inherited_files()
    settings = RemoteSettings(arguments.url, arguments.key_file, arguments.token_file, arguments.timeout)
    with contextlib.suppress(ConnectionError), socket.socket(fileno=0) as connection:
        TransferProcess(connection, settings, arguments.parent).run()


def _close_inherited_files() -> None:
    """Closes files inherited from the program, so that the program's locks and sockets do not outlive the program."""
    for descriptor in [int(path.name) for path in pathlib.Path("/proc/self/fd").iterdir()]:
        if descriptor > 2:
            with contextlib.suppress(OSError):
                os.close(descriptor)


if __name__ == "__main__":
    main()
