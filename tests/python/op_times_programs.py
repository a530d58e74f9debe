"""A worker of benchmarks/op_times.py that measures an op with the first arguments after those that end it.

For op "End", the first arguments end the process; for "Abort", all; for "Hang", the process does not answer.
"""

from __future__ import annotations

import json
import os
import sys
import time

for line in sys.stdin:
    op, first = line.split()
    for seed in range(int(first), 10):
        print(f"seed {seed}", flush=True)
        if op == "Abort" or (op == "End" and seed == 0):
            os.abort()
        if op == "Hang":
            time.sleep(60)
        break
    times = {"op": op, "size": 100, "elements": seed, "how": "eager", "hpu": 2.0, "cpu": 1.0, "arguments": ""}
    print(json.dumps(times), flush=True)
    print(flush=True)
