"""Stand-in for Slurm's srun: starts the tasks of a step on this machine, with the variables that srun sets.

Reads SLURM_NTASKS, which sbatch sets. Ignores options, all of which precede the program. If a task fails, kills all
tasks (--kill-on-bad-exit=1). Exit code: the first nonzero exit code.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence


@contextlib.contextmanager
def reserved_range(count: int) -> Iterator[int]:
    """Yields the first of `count` consecutive free ports, which are bound until the end of the context."""
    while True:
        with contextlib.ExitStack() as stack:
            first = 0
            try:
                for offset in range(count):
                    holder = stack.enter_context(socket.socket())
                    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # lets the program listen
                    holder.bind(("127.0.0.1", first + offset if offset else 0))
                    first = first or holder.getsockname()[1]
            except (OSError, OverflowError):  # another process has one of the ports, or there is no such port
                continue
            yield first
            return


def variables(rank: int, count: int, first_port: int) -> dict[str, str]:
    return {
        "SLURM_STEP_ID": "0",
        "SLURM_STEP_NUM_TASKS": str(count),
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_STEP_TASKS_PER_NODE": str(count),
        "SLURM_STEP_RESV_PORTS": f"{first_port}-{first_port + count - 1}",
        "SLURM_NODEID": "0",
        "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(rank),
    }


def run(command: Sequence[str], count: int) -> int:
    """Runs the tasks and returns the exit code of the step."""
    with reserved_range(count) as first_port:
        tasks = [
            subprocess.Popen(command, env={**os.environ, **variables(rank, count, first_port)}) for rank in range(count)
        ]
        try:
            while any(task.poll() is None for task in tasks):
                if any(task.returncode for task in tasks):
                    break
                time.sleep(0.1)
        finally:
            for task in tasks:
                task.kill()
        return next((code for task in tasks if (code := task.wait())), 0)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    while arguments[0].startswith("-"):
        arguments.pop(0)
    sys.exit(run(arguments, int(os.environ["SLURM_NTASKS"])))
