"""Hosts the fork server of a device server (plugin/server) in a bare interpreter.

`host.py LIBRARY...` loads the libraries in order and calls hpu_serve_fork_server() of the last one, the plugin.
Standard input is the connection to the front process. Imports neither TensorFlow nor this package: importing them
takes ten times as long, and their threads would not survive fork().
"""

import contextlib
import ctypes
import os
import pathlib
import sys


def main(*libraries: str) -> int:
    """Runs the fork server until the front process has ended. Returns the fork server's exit code."""
    # Closes inherited files except 0 to 2. Iterating up to SC_OPEN_MAX could take a billion steps.
    for entry in list(pathlib.Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError):  # the listing's own descriptor is already closed
            if int(entry.name) > 2:
                os.close(int(entry.name))
    loaded = [ctypes.CDLL(library) for library in libraries]
    fork_server = loaded[-1].hpu_serve_fork_server
    fork_server.restype = ctypes.c_int32
    return int(fork_server(0))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
