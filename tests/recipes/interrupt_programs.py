"""Program for test_interrupts.py, which is interrupted while it compiles."""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from tests.recipes.progress_programs import slow


def say(**values: Any) -> None:
    sys.stdout.write(json.dumps({**values, "compiled": statistics.recipes().compiled}) + "\n")
    sys.stdout.flush()


def step(size: int) -> float:
    with tf.device("/device:HPU:0"):
        return float(tf.reduce_sum(slow(tf.ones([size, size]))))


def compile_and_be_interrupted() -> None:
    load_habana_module()
    # IPython's prompt makes the same calls after each line. They replace a handler or wake-up descriptor that was set
    # at load.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        step(8)
    except KeyboardInterrupt:
        say(interrupted=True)
    say(result=step(8))

    calls = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    result = step(9)
    say(result=result, calls=len(calls))

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        step(10)
    except KeyboardInterrupt:
        say(interrupted=True)
        sys.exit(5)
