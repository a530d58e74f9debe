"""Programs that test_run.py starts with `hpu run`."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from habana_frameworks.tensorflow import multinode_helpers as helpers


def describe_rank() -> None:
    helpers._setup_env_for_multinode()
    print(
        json.dumps(
            {
                "ranks": [
                    helpers.comm_rank(),
                    helpers.comm_size(),
                    helpers.comm_local_rank(),
                    helpers.comm_local_size(),
                ],
                "config": json.loads(os.environ["TF_CONFIG"]),
                "module": os.environ.get("HLS_MODULE_ID"),
                "prefix": os.environ["HBN_TF_GRAPH_PREFIX"],
                "arguments": sys.argv[1:],
                "stdin": sys.stdin.read(),
            }
        )
    )


def fail_in_rank_1() -> None:
    if helpers.comm_rank() == 1:
        print("about to fail", file=sys.stderr)
        sys.exit(7)
    time.sleep(600)


def fail_after_the_others(directory: str) -> None:
    """Rank 0 fails when the other ranks have ended; the launcher has not reaped them."""
    if helpers.comm_rank() > 0:
        pathlib.Path(directory, str(os.getpid())).touch()
        return
    others: list[str] = []
    while len(others) < helpers.comm_size() - 1:
        time.sleep(0.05)
        others = [file.name for file in pathlib.Path(directory).iterdir()]
    while not all(") Z" in pathlib.Path("/proc", pid, "stat").read_text() for pid in others):
        time.sleep(0.05)
    sys.exit(3)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def heed_no_signal(ready: str) -> None:
    """Rank 0 ignores SIGTERM. Rank 1 fails once rank 0 ignores the signal."""
    if os.environ["RANK"] == "0":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pathlib.Path(ready).touch()
        time.sleep(600)
    while not pathlib.Path(ready).exists():
        time.sleep(0.05)
    sys.exit(3)


def start_another(directory: str) -> None:
    """Starts a child process, and writes both process ids to a file in the directory."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    path = pathlib.Path(directory, f"pids_{os.getpid()}")
    path.with_suffix(".new").write_text(f"{os.getpid()} {child.pid}")
    path.with_suffix(".new").rename(path)
    time.sleep(600)
