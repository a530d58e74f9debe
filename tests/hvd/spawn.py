"""`spawn.py [--slurm] N program …`: starts a program in N processes with multiprocessing.

The processes find each other through TF_CONFIG, or with --slurm through Slurm's variables. After a failure, the other
processes have GRACE seconds to end. Prints all exit codes.
"""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.connection
import os
import runpy
import sys
import time
from collections.abc import Mapping

from habana_frameworks.tensorflow._internal.launch import ports

GRACE = 30.0


def _by_tf_config(rank: int, workers: list[str]) -> Mapping[str, str]:
    return {"TF_CONFIG": json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})}


def _by_slurm(rank: int, workers: list[str]) -> Mapping[str, str]:
    job = {"SLURM_JOB_ID": f"test-{os.getpid()}", "SLURM_STEP_ID": "0", "HOROVOD_CONTROLLER": "gloo"}
    counts = {"SLURM_STEP_NUM_TASKS": len(workers), "SLURM_STEP_TASKS_PER_NODE": len(workers)}
    ranks = {"SLURM_PROCID": rank, "SLURM_LOCALID": rank, "SLURM_NODEID": 0}
    return {**job, **{name: str(number) for name, number in {**counts, **ranks}.items()}}


def child(environment: Mapping[str, str], arguments: list[str]) -> None:
    os.environ.update(environment)
    sys.argv = arguments
    runpy.run_path(arguments[0], run_name="__main__")


def main() -> int:
    slurm = sys.argv[1] == "--slurm"
    count, program = int(sys.argv[1 + slurm]), sys.argv[2 + slurm :]
    context = multiprocessing.get_context("spawn")
    with ports.reserved(count) as numbers:
        workers = [f"127.0.0.1:{number}" for number in numbers]
        told = _by_slurm if slurm else _by_tf_config
        children = [context.Process(target=child, args=(told(rank, workers), program)) for rank in range(count)]
        for process in children:
            process.start()
        while not any(process.exitcode for process in children):
            alive = [process.sentinel for process in children if process.is_alive()]
            if not alive:
                break
            multiprocessing.connection.wait(alive)
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
