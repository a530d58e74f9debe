"""An interpreter that has imported TensorFlow, and forks itself for each program that it is sent.

Started by tests/support/processes.py with the number of a socket, on which come requests: the program, its environment
and its directory, with the files that are to be its standard output and error. The answers are the process's id and,
when it has ended, its exit code. Nothing of the plugin is loaded here.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import types
from typing import Any

import tensorflow  # noqa: F401  (what programs need not wait for)

LARGEST_REQUEST = 128 << 10


def serve(channel: socket.socket) -> Any:
    """Forks for each request; returns, in the child, what it is to run. Ends this process when the other side does."""
    while True:
        message, files, _, _ = socket.recv_fds(channel, LARGEST_REQUEST, 2)
        if not message:
            os._exit(0)
        child = os.fork()
        if child == 0:
            channel.close()
            for number, file in enumerate(files, start=1):
                os.dup2(file, number)
                os.close(file)
            return json.loads(message)
        for file in files:
            os.close(file)
        channel.send(str(child).encode())
        channel.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def as_main(request: Any) -> types.CodeType:
    """Makes this process what `python -c program` would be; returns the program."""
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = ["-c"]
    sys.path[0] = ""
    sys.modules["__main__"] = types.ModuleType("__main__")
    return compile(request["program"], "<string>", "exec")


if __name__ == "__main__":
    gc.freeze()  # so that programs do not write to all that was imported
    # Here and in no function, so that the interpreter ends as it would after a program of its own.
    _program = as_main(serve(socket.socket(fileno=int(sys.argv[1]))))
    exec(_program, vars(sys.modules["__main__"]))
