"""Stand-in for the worker of `hpu synapse-check`: graph 1 crashes, graph 3 hangs, and the others are ok."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

GRAPHS = 5
CRASHING, HANGING = 1, 3
_LIBRARY = {**dict.fromkeys(("path", "version", "profile", "generation", "target"), ""), "missing_functions": []}
_GRAPH = dict.fromkeys(("stem", "type", "name", "plan", "reason"), "")


def main(arguments: list[str]) -> None:
    """Writes steps to a file descriptor, as worker.py does."""
    steps = os.fdopen(int(arguments[0]), "w", buffering=1)

    def write(**step: Any) -> None:
        print(json.dumps({**step, "log_bytes": os.fstat(2).st_size}), file=steps)

    write(library={**_LIBRARY, "graphs": GRAPHS})
    for index in range(int(arguments[4]), GRAPHS):
        write(graph={**_GRAPH, "index": index, "outcome": "RUNNING"})
        write(graph={**_GRAPH, "index": index, "plan": f"plan {index}", "outcome": "RUNNING"})
        os.write(2, f"compiling {index}\n".encode())
        if index == CRASHING:
            os.abort()
        if index == HANGING:
            time.sleep(1000)
        write(graph={**_GRAPH, "index": index, "plan": f"plan {index}", "outcome": "OK"})


if __name__ == "__main__":
    main(sys.argv[1:])
