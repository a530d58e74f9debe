"""Interpreter that has imported TensorFlow, and forks itself for each requested program.

tests/support/processes.py starts it with the path of a socket. A connection stands for one program. The client sends a
request with the program's description and files, then signals. The interpreter answers whether the program runs, and
later its exit code. Closing the connection kills the program's process group. The interpreter does not load the plugin,
and ends with its standard input.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import gc
import json
import multiprocessing
import os
import pathlib
import runpy
import selectors
import signal
import site
import socket
import sys
import types
from collections.abc import Mapping
from typing import Any

import tensorflow  # noqa: F401  (imported before the fork, so that programs need not wait)

LARGEST_REQUEST = 128 << 10
MOST_FILES = 64
# Variables that TensorFlow and Python read only at import.
READ_AT_IMPORT = ("LD_", "OMP_", "PYTHON", "TF_CPP_", "TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS")
# Exceptions, which are applied after the fork.
APPLIED = ("PYTHONPATH", "PYTHONUNBUFFERED")


def can_run(request: Mapping[str, Any]) -> bool:
    """Whether a new interpreter would have the same imports, and the request has no interpreter options."""
    arguments, theirs = request["arguments"], request["environment"]
    names = {name for name in (*theirs, *os.environ) if name.startswith(READ_AT_IMPORT) and name not in APPLIED}
    same = all(theirs.get(name) == os.environ.get(name) for name in names)
    return same and bool(arguments) and (arguments[0] in ("-c", "-m") or not arguments[0].startswith("-"))


class Programs:
    """The running programs, each the leader of a session."""

    def __init__(self, path: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(path)
        self._listener.listen(64)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(0, selectors.EVENT_READ)
        # Process and connection of each program, by the connection's descriptor.
        self._running: dict[int, tuple[int, socket.socket]] = {}

    def serve(self) -> Any:
        """Forks for each request. In the child, returns the request."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    request = self._start()
                    if request is not None:
                        return request
                elif key.fileobj == 0:
                    for process, _ in self._running.values():
                        _kill(process)
                    os._exit(0)
                elif isinstance(key.fileobj, socket.socket):
                    self._pass_on(key.fileobj)
                elif key.data in self._running:
                    self._end(key.fd, key.data)

    def _start(self) -> Any:
        connection, _ = self._listener.accept()
        message, ancillary, _, _ = connection.recvmsg(LARGEST_REQUEST, socket.CMSG_SPACE(4 * MOST_FILES))
        files = array.array("i")
        for _, _, data in ancillary:
            files.frombytes(data)
        request = json.loads(message) if message else None
        if request is not None and request["arguments"][0] == "-B" and sys.dont_write_bytecode:
            del request["arguments"][0]  # an argument of multiprocessing
        process = None
        if request is not None and can_run(request):
            process = os.fork()
            if process == 0:
                connection.close()
                self._leave()
                _place(files, request["descriptors"])
                return request
            descriptor = os.pidfd_open(process)
            self._running[connection.fileno()] = process, connection
            self._selector.register(connection, selectors.EVENT_READ)
            self._selector.register(descriptor, selectors.EVENT_READ, connection.fileno())
        for file in files:
            os.close(file)
        with contextlib.suppress(OSError):
            connection.send(str(process or "no").encode())
        if process is None:
            connection.close()
        return None

    def _leave(self) -> None:
        """Closes the server's descriptors in the child."""
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
            elif key.fd != 0:
                os.close(key.fd)
        self._selector.close()

    def _pass_on(self, connection: socket.socket) -> None:
        if connection.fileno() not in self._running:
            return  # the process has ended, and its end is already handled
        process, _ = self._running[connection.fileno()]
        message = b""
        with contextlib.suppress(ConnectionResetError):  # the client closed the connection without reading
            message = connection.recv(64)
        if message:
            os.kill(process, int(message))
            return
        self._selector.unregister(connection)
        _kill(process)

    def _end(self, descriptor: int, number: int) -> None:
        process, connection = self._running.pop(number)
        self._selector.unregister(descriptor)
        os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with contextlib.suppress(KeyError):
            self._selector.unregister(connection)
        with contextlib.suppress(OSError):  # the client has closed the connection
            connection.send(str(code).encode())
        connection.close()


def _kill(process: int) -> None:
    """Kills the process with its group, or alone if it does not lead a group yet."""
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(process, signal.SIGKILL)


def _place(files: array.array[int], descriptors: list[int]) -> None:
    """Duplicates received files to their numbers in the sending process."""
    first = max(descriptors) + 1
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD, first) for file in files]
    for file in files:
        os.close(file)
    for file, descriptor in zip(moved, descriptors):
        os.dup2(file, descriptor)
        os.close(file)


def become(request: Any) -> None:
    """Prepares this process like a new interpreter with the request's arguments, before it runs the program."""
    os.setsid()
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.executable = request["executable"]
    multiprocessing.set_executable(sys.executable)
    if os.environ.get("PYTHONUNBUFFERED"):
        # Flushes each line. With write_through alone, the binary layer below would keep the text, which a kill loses.
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    path = os.environ.get("PYTHONPATH", "")
    first = [os.path.abspath(entry) for entry in path.split(os.pathsep)] if path else []  # noqa: PTH100
    sys.path[1:] = dict.fromkeys([*first, *sys.path[1:]])  # like site, which does not add entries of .pth files twice
    if any(pathlib.Path(directory, "sitecustomize.py").exists() for directory in first):
        sys.modules.pop("sitecustomize", None)
        site.execsitecustomize()


def program_of(arguments: list[str]) -> types.CodeType:
    """Returns the code to execute in __main__, and creates the module __main__."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    if arguments[0] == "-m":
        # Same as in Python itself.
        sys.argv[:] = ["-m", *arguments[2:]]
        sys.path[0] = os.getcwd()  # noqa: PTH109
        vars(main).update(_run=runpy._run_module_as_main)  # type: ignore[attr-defined]
        return compile(f"_run({arguments[1]!r})", "<string>", "exec")
    if arguments[0] == "-c":
        sys.argv[:] = ["-c", *arguments[2:]]
        sys.path[0] = ""
        return compile(arguments[1], "<string>", "exec")
    sys.argv[:] = arguments
    sys.path[0] = os.path.dirname(os.path.realpath(arguments[0]))  # noqa: PTH120 (as Python does)
    vars(main).update(__file__=os.path.abspath(arguments[0]))  # noqa: PTH100
    with open(arguments[0], "rb") as file:  # noqa: PTH123
        return compile(file.read(), arguments[0], "exec")


if __name__ == "__main__":
    gc.freeze()  # prevents copies of imported objects in the programs
    # At module level, so that the interpreter ends like after its own program.
    _request = Programs(sys.argv[1]).serve()
    become(_request)
    _program = program_of(_request["arguments"])
    exec(_program, vars(sys.modules["__main__"]))
