"""Hosts the fork server of a device server (plugin/server) in a bare interpreter.

`host.py LIBRARY...` loads the libraries in order and calls hpu_serve_fork_server() of the last one, the plugin. The
front process is at the other end of standard input. Imports neither TensorFlow nor this package: that takes ten times
as long, and its threads would not survive fork().
"""

import contextlib
import ctypes
import os
import pathlib
import sys


def main(*libraries: str) -> int:
    """Returns the fork server's exit code once the front process has gone."""
    # A file of the front process must not live on here. SC_OPEN_MAX may be a thousand million, so no counting.
    for entry in list(pathlib.Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError):  # the descriptor of the listing
            if int(entry.name) > 2:
                os.close(int(entry.name))
    loaded = [ctypes.CDLL(library) for library in libraries]
    fork_server = loaded[-1].hpu_serve_fork_server
    fork_server.restype = ctypes.c_int32
    return int(fork_server(0))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
