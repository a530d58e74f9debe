"""Fake check for tests of run.py: passes, exceeds a limit, fails, crashes, hangs, or leaves a process behind."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time


def main(kind: str) -> int:
    result = {"status": "passed", "summary": "good", "values": {"number": 1.5}}
    if kind == "over":
        result = {"status": "over the limit", "summary": "1.09 (limit 1.05)", "values": {}}
    if kind == "crash":
        os.abort()
    if kind == "fail":
        print("something is wrong")
        return 7
    if kind in ("hang", "child"):
        # The child keeps the output open, and would survive if only the check was killed.
        child = subprocess.Popen(["sleep", "600"])
        print(f"child {child.pid}", flush=True)
    if kind == "hang":
        time.sleep(600)
    pathlib.Path(os.environ["KIT_RESULT"]).write_text(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
