"""`spawn.py N program …`: starts a program in N children of multiprocessing, which find each other by TF_CONFIG.

When one fails, the others have GRACE seconds to end by themselves. Prints their exit codes.
"""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.connection
import os
import runpy
import sys
import time

from habana_frameworks.tensorflow import ports

GRACE = 30.0


def child(rank: int, workers: list[str], arguments: list[str]) -> None:
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})
    sys.argv = arguments
    runpy.run_path(arguments[0], run_name="__main__")


def main() -> int:
    count = int(sys.argv[1])
    context = multiprocessing.get_context("spawn")
    with ports.reserved(count) as numbers:
        workers = [f"127.0.0.1:{number}" for number in numbers]
        children = [context.Process(target=child, args=(rank, workers, sys.argv[2:])) for rank in range(count)]
        for process in children:
            process.start()
        while any(process.is_alive() for process in children) and not any(process.exitcode for process in children):
            multiprocessing.connection.wait([process.sentinel for process in children if process.is_alive()])
        deadline = time.monotonic() + GRACE
        for process in children:
            process.join(max(deadline - time.monotonic(), 0))
    codes = [process.exitcode for process in children]
    sys.stdout.write(f"exit codes {codes}\n")
    for process in children:
        process.kill()
    return 0 if codes == [0] * count else 1


if __name__ == "__main__":
    sys.exit(main())
