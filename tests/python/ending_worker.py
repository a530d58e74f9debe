"""A worker of benchmarks/op_times.py that ends for the op "End", does not answer for "Hang", and measures other ops."""

from __future__ import annotations

import json
import os
import sys
import time

for line in sys.stdin:
    op = line.strip()
    times = {"op": op, "size": 100, "elements": 100, "how": "eager", "hpu": 2.0, "cpu": 1.0, "arguments": ""}
    print(json.dumps(times), flush=True)
    if op == "End":
        os.abort()
    if op == "Hang":
        time.sleep(60)
    print(flush=True)
