"""Rank without TensorFlow: writes its environment, then ends as its arguments request."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--fail", action="append", default=[], metavar="ATTEMPT:RANK", help="ranks that fail; * means all"
    )
    parser.add_argument("--after", type=pathlib.Path, metavar="FILE", help="delay failures until FILE exists")
    parser.add_argument("--exit-code", type=int, default=7)
    parser.add_argument("--signal", type=int, help="end with this signal instead of an exit code")
    parser.add_argument("--hang", action="store_true", help="ranks without a failure keep running")
    parser.add_argument("--children", action="store_true", help="leave a child process in the session")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    attempt = int(os.environ["HPU_RESTART_COUNT"])
    config = json.loads(os.environ["TF_CONFIG"])
    rank = config["task"]["index"]
    children = []
    if arguments.children:
        children = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])]
    record = {
        "workers": config["cluster"]["worker"],
        "modules": os.environ.get("HABANA_VISIBLE_MODULES"),
        "pids": [os.getpid(), *(child.pid for child in children)],
    }
    path = arguments.out / f"start_{attempt}_{rank}.json"
    path.with_suffix(".new").write_text(json.dumps(record))
    path.with_suffix(".new").rename(path)
    # Waits for the start of all ranks, because the failure of a rank stops the job.
    while len(list(arguments.out.glob(f"start_{attempt}_*.json"))) < len(config["cluster"]["worker"]):
        time.sleep(0.02)
    if {f"{attempt}:{rank}", f"*:{rank}"} & set(arguments.fail):
        while arguments.after is not None and not arguments.after.exists():
            time.sleep(0.02)
        sys.stderr.write(f"rank {rank} fails\n")
        if arguments.signal is not None:
            os.kill(os.getpid(), arguments.signal)
        return int(arguments.exit_code)
    if arguments.hang:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        time.sleep(600)
    return 0


if __name__ == "__main__":
    sys.exit(main())
