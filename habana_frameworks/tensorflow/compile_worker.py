"""The compile worker of a device server, which starts it: plugin/serve/compile_worker.h.

compile_worker.py BACKEND LIBRARY... compiles for modules of BACKEND, for the server at the other end of its standard
input, with the last library, the plugin, after loading the others, TensorFlow's. It imports neither TensorFlow nor
this package, which would take ten times as long.
"""

import contextlib
import ctypes
import os
import pathlib
import sys


def main(backend: str, *libraries: str) -> int:
    """Does not return as long as the server is there, and ends the process after it."""
    # Whatever else was open in the server: a pipe or a connection of its must end with it.
    # Not all numbers up to SC_OPEN_MAX, which may be a thousand million.
    for entry in list(pathlib.Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError):  # that of the listing
            if int(entry.name) > 2:
                os.close(int(entry.name))
    loaded = [ctypes.CDLL(library) for library in libraries]
    return int(loaded[-1].hpu_serve_compile(0, backend.encode()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
