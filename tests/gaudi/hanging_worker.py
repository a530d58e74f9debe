"""Stands for the worker of `hpu synapse-check`: the first graph is ok, and the second one hangs."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

_LIBRARY = {**dict.fromkeys(("path", "version", "profile", "generation", "target"), ""), "missing_functions": []}
_GRAPH = dict.fromkeys(("stem", "type", "name", "plan", "reason"), "")


def main(arguments: list[str]) -> None:
    """Writes steps to a file descriptor, as worker.py does."""
    steps = os.fdopen(int(arguments[0]), "w", buffering=1)

    def write(**step: Any) -> None:
        print(json.dumps({**step, "log_bytes": os.fstat(2).st_size}), file=steps)

    write(library={**_LIBRARY, "graphs": 2})
    write(graph={**_GRAPH, "index": 0, "outcome": "RUNNING"})
    write(graph={**_GRAPH, "index": 0, "outcome": "OK"})
    write(graph={**_GRAPH, "index": 1, "outcome": "RUNNING"})
    os.write(2, b"compiling\n")
    time.sleep(1000)


if __name__ == "__main__":
    main(sys.argv[1:])
